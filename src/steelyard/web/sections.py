"""Sections of the pages, by the first word of their addresses: how long an answer may take, and which runs it depends
on. The server, which does not load the pages, has to know. A test holds this table and that of the pages together."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: all runs; none; those of the setup, or of the target, family or variant, that the second word names; those that the
#: filter leaves; those of two implementations that are compared
Of = Literal["all", "none", "key", "target", "family", "variant", "filter", "sides"]


#: the last word of a feed's address
FEED = "feed.atom"


class Section(NamedTuple):
    """Whether its pages are ``slow``, so that quick ones do not wait for them, and which runs they are ``of``."""

    of: Of = "all"
    slow: bool = False


SECTIONS = {
    "": Section(),
    "targets": Section("target", slow=True),
    "families": Section("family"),
    "variants": Section("variant"),
    "implementations": Section("variant"),
    "runs": Section("key"),
    "tables": Section("filter", slow=True),
    "results": Section("filter", slow=True),
    "compare": Section("sides", slow=True),
    "rank": Section("filter", slow=True),
    "trade-offs": Section("filter", slow=True),
    "figures": Section("filter", slow=True),
    "campaigns": Section(slow=True),
    "claims": Section("none"),
    "definitions": Section("none"),
    "glossary": Section("none"),
    "search": Section(),
    "submissions": Section(),
    "api": Section(slow=True),
}
