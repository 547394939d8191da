"""Column types with the same meaning in SQLite, PostgreSQL and MariaDB. ``writing.py`` makes values for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, String, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

#: compares byte by byte, including trailing spaces
_COLLATION = "utf8mb4_nopad_bin"
_MARIADB = ("mysql", "mariadb")

#: primary keys: SQLite numbers rows itself only when the type is INTEGER
Id = BigInteger().with_variant(Integer(), "sqlite")


class Name(TypeDecorator[str]):
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


class LongText(TypeDecorator[str]):
    """A text of any length. MariaDB's TEXT ends at 64 kB; this becomes MEDIUMTEXT there."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """The type in this database."""
        if dialect.name in _MARIADB:
            return dialect.type_descriptor(Text(2**24 - 1, collation=_COLLATION))
        return dialect.type_descriptor(Text())


#: bytes of a file, up to 16 MiB
Content = LargeBinary(2**24 - 1)

#: a point in time: microseconds since 1970, because databases disagree on time zones and fractions
UtcTime = BigInteger
