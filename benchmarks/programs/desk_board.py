"""Place the item, reading the shared board: views of its arrays, sets of names, draws, clock, retries."""

import random
import time

import numpy as np


@stage
def survey():
    names = set(list_objects()) - {"bin"}
    state["seen"] = sorted(names)
    for name in names:
        about = describe(name)
        print(name, about["shape"], time.time(), random.random())


@stage
def pick(item):
    pose = recall(item)
    here = pose[:2]
    around = np.random.normal(0.0, 0.0005, 2)
    started = time.monotonic()
    for attempt in range(3):
        move_to(here + around, height=0.10)
        move_to(locate(item) + around, height=0.02)
        if grip(force=10.0):
            break
        release()
    state["attempts"] = attempt + 1
    move_to(here + around, height=0.10)
    print(f"picked after {time.monotonic() - started:.2f} s", here is pose, np.shares_memory(here, pose))


@stage
def place(item, goal):
    target = recall(goal)
    start = get_hand()["position"]
    lowest, highest = free_heights(start, target)
    height = float(np.clip(0.30, lowest + 0.01, highest - 0.01))
    state["heights"] = {round(height, 3), 0.08}
    move_to(start, height=height)
    move_to(target, height=height)
    time.sleep(0.1)
    move_to(target, height=0.08)
    release()


survey()
pick("item")
place("item", "bin")
