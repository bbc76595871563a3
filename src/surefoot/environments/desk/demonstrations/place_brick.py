"""Put a brick into the bin, with a firm grip."""


@stage
def pick(item):
    target = locate(item)
    move_to(target, height=0.10)
    move_to(target, height=0.02)
    grip(force=vary(40.0, 10.0, 80.0))
    move_to(target, height=0.10)


@stage
def place(item, goal):
    target = locate(goal)
    move_to(target, height=0.10)
    release()


pick("item")
place("item", "bin")
