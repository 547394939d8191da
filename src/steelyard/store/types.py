"""Column types with the same meaning in SQLite, PostgreSQL and MariaDB. ``writing.py`` makes values for them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, Integer, LargeBinary, String, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

#: compares byte by byte, including trailing spaces
_COLLATION = "utf8mb4_nopad_bin"
_MARIADB = ("mysql", "mariadb")

#: primary keys: SQLite numbers rows itself only when the type is INTEGER
Id = BigInteger().with_variant(Integer(), "sqlite")


class _Read(TypeDecorator[str]):
    """A text, also where SQLite was given bytes, which it keeps: a damaged row is shown, and takes down no other."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = Text

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text that is stored."""
        return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


class Name(_Read):
    """A short text, compared byte by byte."""

    impl = String
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """The type in this database. MariaDB ignores case unless told otherwise."""
        collation = _COLLATION if dialect.name in _MARIADB else None
        return dialect.type_descriptor(String(self.length, collation=collation))


class LongText(_Read):
    """A text of any length. MariaDB's TEXT ends at 64 kB; this becomes MEDIUMTEXT there."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """The type in this database."""
        if dialect.name in _MARIADB:
            return dialect.type_descriptor(Text(2**24 - 1, collation=_COLLATION))
        return dialect.type_descriptor(Text())


class Number(TypeDecorator[int]):
    """A whole number; 0 where SQLite was given another thing."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """The number that is stored."""
        return 0 if isinstance(value, (str, bytes)) else value


class UtcTime(Number):
    """A point in time: microseconds since 1970, because databases disagree on time zones and fractions."""

    impl = BigInteger
    cache_ok = True


#: bytes of a file, up to 16 MiB
Content = LargeBinary(2**24 - 1)


def stored(column: Column[Any]) -> frozenset[type]:
    """The types of values that a column may have."""
    kind = column.type
    kind = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    return frozenset({kind.python_type, *((type(None),) if column.nullable else ())})
