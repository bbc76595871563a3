"""Put the item into the bin, looking once more before the fingers close."""


@stage
def pick(item):
    move_to(locate(item), height=0.10)
    target = locate(item)
    move_to(target, height=0.02)
    grip(force=10.0)
    move_to(target, height=0.10)


@stage
def place(item, goal):
    start = get_hand()["position"]
    target = locate(goal)
    move_to(start, height=0.30)
    move_to(target, height=0.30)
    move_to(target, height=0.08)
    release()


pick("item")
place("item", "bin")
