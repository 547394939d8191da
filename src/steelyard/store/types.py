"""Column types that mean the same in SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, String, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

from .errors import StoreError
from .values import EPOCH, MICROSECOND, storable

_MYSQL = ("mysql", "mariadb")

#: primary keys: SQLite numbers rows itself only when the type is INTEGER
Id = BigInteger().with_variant(Integer(), "sqlite")


class Name(TypeDecorator[str]):
    """A short text, compared byte by byte. SQLite ignores lengths, so they are checked here."""

    impl = String
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """MariaDB compares without case unless told otherwise."""
        collation = "utf8mb4_bin" if dialect.name in _MYSQL else None
        return dialect.type_descriptor(String(self.length, collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Refuses what does not fit instead of cutting it."""
        if value is None:
            return None
        value = storable(value)
        if len(value) > self.length:
            raise StoreError(f"{value[:40]!r}... has {len(value)} characters; at most {self.length} fit")
        return value


class LongText(TypeDecorator[str]):
    """A text of any length. MariaDB's TEXT ends at 64 kB; this becomes MEDIUMTEXT there."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """The type of this database."""
        if dialect.name in _MYSQL:
            return dialect.type_descriptor(Text(2**24 - 1, collation="utf8mb4_bin"))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escapes what some database refuses."""
        return None if value is None else storable(value)


class UtcTime(TypeDecorator[datetime]):
    """A moment, stored as microseconds since 1970 because databases disagree on time zones and fractions."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Refuses a time without zone: it could mean anything."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise StoreError(f"the time {value} has no zone; use datetime.now(UTC)")
        return (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Always in UTC."""
        return None if value is None else EPOCH + value * MICROSECOND
