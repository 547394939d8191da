"""What a page is made of, before it is markup: blocks in their order. Page functions give these, ``layout`` shows
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from ..model.errors import UserError
from ..model.row import Row
from ..publish.sheet import Group, Sheet


class NotThereError(UserError):
    """What an address names is not there; the text says what is nearest."""


class Heading(Struct, frozen=True):
    """A heading with the anchor ``id``."""

    text: str
    id: str


class Table(Struct, frozen=True):
    """A sheet, of which as many lines stand on the page as can be read; files have them all. ``bars`` names a column
    whose numbers are drawn too, with their ``past`` (rows by run, the oldest first) as a line, ``wide`` the columns
    whose text may break. Lines have addresses of their own, made of so many first cells as ``anchors`` says. Of
    implementations that are ``private`` there is no page; numbers of runs lead to these ``addresses``, where there are
    some, else to those of public runs."""

    sheet: Sheet
    bars: str = ""
    wide: tuple[str, ...] = ()
    folded: str = ""
    past: Mapping[int, Sequence[Row]] = {}
    anchors: int = 0
    private: bool = False
    addresses: Mapping[int, str] = {}


class Picture(Struct, frozen=True):
    """A figure in a file of its own, drawn when it is asked for: a Vega-Lite specification, or text of SVG. ``group``
    and ``own`` are as a sheet's; ``older`` are labels by which others may still know it."""

    label: str
    title: str
    note: str
    spec: Callable[[], dict[str, Any]] | None = None
    svg: Callable[[], str] | None = None
    group: Group | None = None
    own: str = ""
    older: tuple[str, ...] = ()


class Markup(Struct, frozen=True):
    """Markup of our own making, or text of ours that became such."""

    html: str


class Text(Struct, frozen=True):
    """A paragraph."""

    text: str


class Pre(Struct, frozen=True):
    """Text as a program wrote it."""

    text: str


class Links(Struct, frozen=True):
    """Where one may go from here: texts and addresses."""

    items: Sequence[tuple[str, str]]
    label: str


class Form(Struct, frozen=True):
    """Questions, each with its heading, the value it has, and what it may be (nothing: any text). One that ``changes``
    something is sent in a body."""

    action: str
    fields: Sequence[Field]
    button: str
    changes: bool = False


class Field(Struct, frozen=True):
    """One question of a form, and the parameter of its address; ``choices`` by value. ``kind`` is text, a file, a yes,
    a password, or what nobody is asked."""

    name: str
    title: str
    hint: str = ""
    choices: Mapping[str, str] = {}
    value: str = ""
    kind: Literal["text", "file", "checkbox", "hidden", "password"] = "text"
    needed: bool = False


Block = Heading | Table | Picture | Markup | Text | Pre | Links | Form


class Page(Struct, frozen=True):
    """A page. ``trail`` are the pages above it. It is to be looked at again after ``again`` seconds, if any; somebody
    may just be filling in its last blocks, so many as are ``fixed``. What stands ``alone`` is of no stored runs, and
    does not change with them."""

    title: str
    blocks: Sequence[Block]
    lead: str = ""
    trail: Sequence[tuple[str, str]] = ()
    status: int = 200
    again: int = 0
    fixed: int = 0
    alone: bool = False

    def sheet(self, label: str) -> Sheet | None:
        """The table of this label."""
        sheets = (b.sheet for b in self.blocks if isinstance(b, Table))
        return next((s for s in sheets if label and label in (s.label, s.own)), None)

    def picture(self, label: str) -> Picture | None:
        """The figure of this label."""
        pictures = (b for b in self.blocks if isinstance(b, Picture))
        return next((p for p in pictures if label and label in (p.label, p.own, *p.older)), None)
