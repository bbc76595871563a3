"""Put the item into the bin, its position read before the hand comes near."""


@stage
def pick(item):
    force = vary(10.0, 5.0, 40.0)
    about = describe(item)
    print(f"{item}: {about['shape']}, {about['weight']:.2f} kg")
    target = locate(item)
    move_to(target, height=0.10)
    move_to(target, height=0.02)
    grip(force=force)
    move_to(target, height=0.10)


@stage
def place(item, goal):
    height = vary(0.10, 0.08, 0.32)
    start = get_hand()["position"]
    target = locate(goal)
    lowest, highest = free_heights(start, target)
    print(f"free from {lowest:.2f} to {highest:.2f} m")
    move_to(start, height=height)
    move_to(target, height=height)
    move_to(target, height=0.08)
    release()


pick("item")
place("item", "bin")
