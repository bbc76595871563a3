"""Put a mug into the bin, held by its handle."""


@stage
def pick(item):
    import numpy as np

    reach = vary(0.05, 0.0, 0.07)
    angle = describe(item)["angle"]
    handle = locate(item) + reach * np.array([np.cos(angle), np.sin(angle)])
    move_to(handle, height=0.12)
    move_to(handle, height=0.04)
    grip(force=10.0)
    move_to(handle, height=0.12)


@stage
def place(item, goal):
    start = get_hand()["position"]
    target = locate(goal)
    move_to(start, height=0.12)
    move_to(target, height=0.12)
    release()


pick("item")
place("item", "bin")
