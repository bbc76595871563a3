"""Lift the cube with all that can go wrong in a replay: draws, clock, sets, views, a retry."""

import random
import time

import numpy as np


@stage
def reach(item):
    position, quaternion = sample_grasp_pose(item)
    poses = get_observation()["object_positions"]
    names = set(poses) | {"table"}
    for name in names:
        print(name, len(name), random.randint(0, 9))
    plane = position[:2]
    plane += np.random.uniform(-0.001, 0.001, 2)
    open_gripper()
    goto_pose(position, quaternion, z_approach=0.1)


@stage
def grasp(item):
    for attempt in range(2):
        hand = get_observation()
        goto_pose(hand["hand_position"] - [0.0, 0.0, 0.005], hand["hand_quaternion_wxyz"])
        close_gripper()
        if get_observation()["gripper_opening"] > 0.01:
            break
        open_gripper()
    print("attempts", attempt + 1, time.time())


@stage
def raise_up(item):
    started = time.perf_counter()
    hand = get_observation()
    rows = np.stack([hand["hand_position"], [0.0, 0.0, 0.05]])
    goto_pose(rows.sum(axis=0), hand["hand_quaternion_wxyz"])
    print(f"raised in {time.perf_counter() - started:.2f} s")
    time.sleep(0.05)


reach("cube")
grasp("cube")
raise_up("cube")
