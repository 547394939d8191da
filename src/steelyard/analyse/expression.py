"""Filters: a small language over columns, read by a parser of its own, never run as code.

::

    target == bluepill and (flags == "-O3" or flags == "-Os") and not variant ~ "ascon*"
    rom <= 4096 and encrypt@16/64 < 20000

``==`` and ``!=`` compare text or numbers, ``<`` ``<=`` ``>`` ``>=`` numbers, ``~`` and ``!~`` text with a
pattern of ``*`` and ``?``. ``and`` binds tighter than ``or``; ``not`` and parentheses as usual. Words need no
quotes. A comparison with a value that a row lacks is false, whatever the operator.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import NamedTuple

from ..model.errors import UserError
from ..model.row import CONTEXT, Row, Value
from .rows import check_column

Test = Callable[[Row], bool]
#: longest filter and deepest nesting
MAX_LENGTH, MAX_DEPTH = 4000, 50

_TOKEN = re.compile(
    r"""\s*(?:(?P<op>==|!=|!~|<=|>=|<|>|~|\(|\))|"(?P<quoted>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()=<>!~"']+))"""
)
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_COMPARISONS = ("==", "!=", "~", "!~", *_ORDER)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class Filter(NamedTuple):
    """A parsed filter: ``test`` a row, the ``columns`` it looks at, texts that they must have to pass, and all
    (column, sign, text) that it compares text with."""

    test: Test
    columns: frozenset[str]
    required: dict[str, str]
    texts: tuple[tuple[str, str, str], ...] = ()


def parse(text: str) -> Filter:
    """The filter that ``text`` means; :class:`UserError` names the place that cannot be read."""
    return _Parser(text).parse()


def is_filter(text: str) -> bool:
    """Whether a text is a filter, not a name: it compares something."""
    return any(c in text for c in "=<>~!")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.columns: set[str] = set()
        self.required: dict[str, str] = {}
        self.texts: list[tuple[str, str, str]] = []
        if len(text) > MAX_LENGTH:
            raise UserError(f"a filter has at most {MAX_LENGTH} characters; this one has {len(text)}")
        self.tokens = list(self._tokens())

    def _tokens(self) -> list[_Token]:
        tokens, at, end = [], 0, len(self.text.rstrip())
        while at < end:
            found = _TOKEN.match(self.text, at)
            if found is None:
                place = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                raise self._wrong(place, "has one =; write ==" if self.text[place] == "=" else "cannot be read")
            kind = str(found.lastgroup)
            word = found[kind]
            tokens.append(_Token(word if kind == "op" else kind, word, found.start(kind)))
            at = found.end()
        return tokens

    def _wrong(self, at: int, what: str) -> UserError:
        return UserError(
            f"filter, character {at + 1}: {self.text[at : at + 20]!r} {what}; see steelyard publish --help"
        )

    def _next(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _Token("end", "", len(self.text))

    def _take(self) -> _Token:
        token = self._next()
        self.at += 1
        return token

    def parse(self) -> Filter:
        test = self._or()
        rest = self._next()
        if rest.kind != "end":
            raise self._wrong(rest.at, "comes after the end; join comparisons by and, or")
        return Filter(test, frozenset(self.columns), self.required, tuple(self.texts))

    def _keyword(self, word: str) -> bool:
        token = self._next()
        if token.kind == "word" and token.text == word:
            self.at += 1
            return True
        return False

    def _or(self) -> Test:
        tests = [self._and()]
        while self._keyword("or"):
            tests.append(self._and())
        return tests[0] if len(tests) == 1 else lambda row: any(t(row) for t in tests)

    def _and(self) -> Test:
        start, outer = self.at, self.depth == 0
        tests = [self._not()]
        while self._keyword("and"):
            tests.append(self._not())
        if outer and start == 0 and self._next().kind == "end":  # nothing but this chain
            self._note_required()
        return tests[0] if len(tests) == 1 else lambda row: all(t(row) for t in tests)

    def _note_required(self) -> None:
        """Equalities of the outermost chain of ``and``, which a database may look for itself."""
        chain = [t.kind if t.kind != "word" or t.text != "and" else "and" for t in self.tokens]
        if any(k in chain for k in ("(", ")")):
            return
        for k in range(0, len(self.tokens) - 2, 4):
            name, sign, text = self.tokens[k : k + 3]
            if name.text == "not":
                return
            if sign.kind == "==" and name.text in CONTEXT:
                self.required[name.text] = text.text

    def _not(self) -> Test:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UserError(f"a filter nests at most {MAX_DEPTH} deep")
        try:
            if self._keyword("not"):
                inner = self._not()
                return lambda row: not inner(row)
            if self._next().kind == "(":
                self._take()
                test = self._or()
                end = self._take()
                if end.kind != ")":
                    raise self._wrong(end.at, "stands where ) should")
                return test
            return self._comparison()
        finally:
            self.depth -= 1

    def _comparison(self) -> Test:
        name, sign, value = self._take(), self._take(), self._take()
        if name.kind != "word":
            raise self._wrong(name.at, "stands where a column should")
        column = check_column(name.text)
        if sign.kind not in _COMPARISONS:
            raise self._wrong(sign.at, f"stands where one of {' '.join(_COMPARISONS)} should")
        if value.kind not in ("word", "quoted", "single"):
            raise self._wrong(value.at, "stands where a value should")
        self.columns.add(column)
        number = _number(value.text)
        if sign.kind in _ORDER:
            if number is None:
                raise self._wrong(value.at, "is not a number")
            return _ordered(column, _ORDER[sign.kind], number)
        if column in CONTEXT:
            self.texts.append((column, sign.kind, value.text))
        if sign.kind in ("~", "!~"):
            return _like(column, value.text, sign.kind == "~")
        if column not in CONTEXT and number is None:
            raise self._wrong(value.at, "is not a number")
        return _equal(column, value.text, number, sign.kind == "==")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _ordered(column: str, compare: Callable[[float, float], bool], number: float) -> Test:
    def test(row: Row) -> bool:
        value = row.get(column)
        return isinstance(value, int | float) and compare(value, number)

    return test


def _like(column: str, pattern: str, wanted: bool) -> Test:
    def test(row: Row) -> bool:
        value = row.get(column)
        return value is not None and fnmatchcase(str(value), pattern) is wanted

    return test


def _equal(column: str, text: str, number: float | None, wanted: bool) -> Test:
    def same(value: Value) -> bool:
        return value == text if isinstance(value, str) else value == number

    def test(row: Row) -> bool:
        value = row.get(column)
        return value is not None and same(value) is wanted

    return test
