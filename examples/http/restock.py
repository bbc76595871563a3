"""Order what has run low."""

if "client" not in globals():  # run by hand; surefoot gives the client, and the exceptions that it may raise
    import sys

    from shop import OutOfStockError, ShopClient

    client = ShopClient(sys.argv[1])

spent = 0.0
for item in client.items():
    entry = client.stock(item)
    missing = entry["wanted"] - entry["left"]
    if missing <= 0:
        continue
    try:
        receipt = client.order(item, missing)
    except OutOfStockError as error:
        print(f"{item}: {error}")
        receipt = client.order(item, error.available)
    spent += receipt["cost"]
    print(f"{item}: order {receipt['number']}, {spent:.2f} spent")
