"""What the server has to know of addresses, which does not load the pages: by their first word, how long an answer may
take, and which runs it depends on. A test holds this table and that of the pages together."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: all runs; none; those of the setup, or of the target, family or variant, that the second word names; those that the
#: filter leaves; those of two implementations that are compared
Of = Literal["all", "none", "key", "target", "family", "variant", "filter", "sides"]


class Place(NamedTuple):
    """What stands below a first word: whether it is ``slow``, lest quick pages wait for it, and what it is ``of``."""

    of: Of = "all"
    slow: bool = False


PLACES = {
    "": Place(),
    "targets": Place("target", slow=True),
    "families": Place("family"),
    "variants": Place("variant"),
    "implementations": Place("variant"),
    "runs": Place("key"),
    "tables": Place("filter", slow=True),
    "results": Place("filter", slow=True),
    "compare": Place("sides", slow=True),
    "rank": Place("filter", slow=True),
    "trade-offs": Place("filter", slow=True),
    "figures": Place("filter", slow=True),
    "campaigns": Place(slow=True),
    "claims": Place("none"),
    "definitions": Place("none"),
    "glossary": Place("none"),
    "search": Place(),
    "submissions": Place(),
    "api": Place(slow=True),
}
