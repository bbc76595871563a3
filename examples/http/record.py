"""Record restock.py against the shop's service: `python record.py`, once, in this folder."""

from pathlib import Path

from shop import OutOfStockError, ShopClient, service

import surefoot

here = Path(__file__).parent
with service() as server:
    client = ShopClient(server.url)
    execution = surefoot.record(
        client,
        here / "restock.py",
        here / "tapes" / "monday.mcap",
        queries=["items", "stock"],
        raises=[OutOfStockError],
    )
print(execution.outcome.text, f"in {len(execution.tape.events)} calls, kept in {execution.tape.path.relative_to(here)}")
