"""Pages of each kind of database."""

from __future__ import annotations

from steelyard.store import Store
from tests.web.conftest import RECORDS, Site


def test_pages_are_the_same_on_every_database(database: str) -> None:
    with Store.open(":memory:") as memory, Store.open(database) as store:
        for r in RECORDS:
            assert memory.add(r) == store.add(r)
        expected = Site(memory)
        here = Site(store)
        addresses = ["/", "/targets", "/targets/uno", "/families/toy", "/variants/toy1", "/implementations/toy1/ref"]
        addresses += [f"/runs/{r.setup.key[:16]}" for r in RECORDS[-4:]]
        addresses += ["/rank?kind=places", "/compare?old=toy1/ref&new=toy2/ref", "/search?q=toy", "/campaigns/first"]
        for address in addresses:
            here.page(address)
            assert here.get(address).body == expected.get(address).body, address
