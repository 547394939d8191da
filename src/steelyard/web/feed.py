"""The newest runs as an Atom feed (RFC 4287), of all or of a name."""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence

from ..model.errors import printable
from ..model.row import Row
from ..publish import results
from ..publish.sheet import text
from ..store import Store, dates
from ..store.values import EPOCH, MICROSECOND
from . import address
from .sections import FEED

NAME, KIND = FEED, "application/atom+xml; charset=utf-8"
#: runs in a feed
COUNT = 30
_ATOM = "http://www.w3.org/2005/Atom"
_METRICS = ("cycles_encrypt_mean", "cycles_hash_mean", "rom")


def feed(store: Store, path: str, equal: Mapping[str, str], ids: Sequence[int]) -> bytes:
    """The feed of the page at ``path``, whose newest runs, with columns that ``equal`` these values, are ``ids``. Its
    identity is the address and the database's oldest run, that of an entry its own run: both stay when a database is
    copied, until that run is deleted. Without runs it is of 1970, so that the first one renews it."""
    places = store.addresses(ids)
    root = xml.Element("feed", xmlns=_ATOM)
    title = " ".join(equal.values()) or "newest runs"
    _add(root, "title", f"Steelyard: {title}")
    oldest = next((address.run(*of) for of in store.addresses([store.first()]).values()), ())
    _add(root, "id", f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{path} {oldest}')}")
    _add(root, "updated", _when(max((dates.ended(finished) for _, finished in places.values()), default=0)))
    xml.SubElement(root, "link", rel="alternate", type="text/html", href=path)
    xml.SubElement(root, "link", rel="self", type="application/atom+xml", href=f"{path.rstrip('/')}/{NAME}")
    _add(xml.SubElement(root, "author"), "name", "Steelyard")
    for row in store.rows_of(ids, _METRICS):
        if (place := places.get(int(str(row["run"])))) is None:  # its setup is damaged
            continue
        key, finished = place
        to = address.path("runs", *address.run(key, finished))
        entry = xml.SubElement(root, "entry")
        how = results.evidence(row["device"])
        _add(entry, "title", f"{row['label']} on {row['target']}, {how}, {row['flags']}: {_result(row)}")
        _add(entry, "id", f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, to)}")
        _add(entry, "updated", _when(finished or 0))
        xml.SubElement(entry, "link", rel="alternate", type="text/html", href=to)
    return bytes(xml.tostring(root, encoding="utf-8", xml_declaration=True))


def _add(parent: xml.Element, name: str, content: str) -> None:
    xml.SubElement(parent, name).text = printable(content)


def _when(finished: int) -> str:
    return (EPOCH + finished * MICROSECOND).isoformat()


def _result(row: Row) -> str:
    """What became of a run: its figures, or why it has none."""
    columns = [results.column(n) for n in _METRICS if row.get(n) is not None]
    figures = [f"{c.title} {text(row[c.name], c, ' ')}" for c in columns]
    return ", ".join(figures) if row["outcome"] == "verified" and figures else str(row["outcome"])
