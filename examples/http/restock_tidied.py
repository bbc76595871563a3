"""Order what has run low. Tidied: the same calls, another text."""

import time

if "client" not in globals():
    import sys

    from shop import OutOfStockError, ShopClient

    client = ShopClient(sys.argv[1])


def order_up_to(item, count):
    """Order `count`, or as many as there are."""
    try:
        return client.order(item=item, count=count)
    except OutOfStockError as shortage:
        return client.order(item=item, count=shortage.available)


costs = []
started = time.perf_counter()
for name in client.items():
    about = client.stock(name)
    if about["left"] < about["wanted"]:
        costs.append(order_up_to(name, about["wanted"] - about["left"])["cost"])
        print(f"{sum(costs):.2f} spent after {time.perf_counter() - started:.3f} s")
