"""A small shop on the loopback interface: its service, and the client object that scripts call."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

GOODS = {
    "apples": {"left": 4, "wanted": 20, "price": 0.5},
    "bread": {"left": 9, "wanted": 8, "price": 3.0},
    "coffee": {"left": 1, "wanted": 6, "price": 9.0},
    "dates": {"left": 0, "wanted": 5, "price": 4.0},
}
SUPPLIER = {"apples": 100, "bread": 100, "coffee": 3, "dates": 100}
"""How many of each item can be ordered."""


class OutOfStockError(Exception):
    """The supplier has fewer than were ordered; `available` says how many."""

    def __init__(self, item: str, *, available: int):
        super().__init__(f"only {available} {item} can be had")
        self.available = available


class ShopClient:
    """Calls the service at `url`."""

    def __init__(self, url: str):
        self._url = url

    def items(self) -> list[str]:
        """Names of all items."""
        return self._call("GET", "/items")

    def stock(self, item: str) -> dict[str, float]:
        """What is known of an item: "left", "wanted" and "price"."""
        return self._call("GET", f"/items/{item}")

    def order(self, item: str, count: int = 1) -> dict[str, float]:
        """Order from the supplier: the order's "number" and "cost". OutOfStockError if there are too few."""
        try:
            return self._call("POST", "/orders", {"item": item, "count": count})
        except HTTPError as error:
            if error.code != 409:
                raise
            raise OutOfStockError(item, available=json.load(error)["available"]) from None

    def _call(self, method: str, path: str, body: object = None):
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self._url + path, data, method=method), timeout=10) as answer:
            return json.load(answer)


class Handler(BaseHTTPRequestHandler):
    """Answers from `server.goods` and `server.supplier`; counts requests in `server.requests`."""

    def do_GET(self) -> None:
        name = self.path.removeprefix("/items").strip("/")
        self._answer(200, self.server.goods[name] if name else list(self.server.goods))

    def do_POST(self) -> None:
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        item, count = order["item"], order["count"]
        if self.server.supplier[item] < count:
            self._answer(409, {"available": self.server.supplier[item]})
            return
        self.server.supplier[item] -= count
        self.server.goods[item]["left"] += count
        self.server.orders += 1
        self._answer(200, {"number": self.server.orders, "cost": count * self.server.goods[item]["price"]})

    def _answer(self, code: int, body: object) -> None:
        self.server.requests += 1
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """Nothing is logged."""


@contextmanager
def service() -> Iterator[ThreadingHTTPServer]:
    """The service, freshly stocked, on a free port of the loopback interface; `server.url` is where."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.goods = {name: dict(entry) for name, entry in GOODS.items()}
    server.supplier = dict(SUPPLIER)
    server.orders = server.requests = 0
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
