"""Put the item into the bin, its position read before the hand comes near."""


@stage
def pick(item):
    target = locate(item)
    move_to(target, height=0.10)
    move_to(target, height=0.02)
    grip(force=10.0)
    move_to(target, height=0.10)


@stage
def place(item, goal):
    target = locate(goal)
    move_to(target, height=0.10)
    release()


pick("item")
place("item", "bin")
