"""Put the item into the bin, high over whatever stands between."""


@stage
def pick(item):
    target = locate(item)
    move_to(target, height=0.10)
    move_to(target, height=0.02)
    grip(force=10.0)
    move_to(target, height=0.10)


@stage
def place(item, goal):
    height = vary(0.30, 0.10, 0.38)
    start = get_hand()["position"]
    target = locate(goal)
    move_to(start, height=height)
    move_to(target, height=height)
    move_to(target, height=0.08)
    release()
    move_to(target, height=0.20)


pick("item")
place("item", "bin")
