"""Put the square nut over the peg: carried by its handle, turned until its sides are parallel to the peg's."""

import numpy as np


def down(yaw):
    return np.array([0.0, -np.sin(yaw / 2), np.cos(yaw / 2), 0.0])


grasp_position, quaternion = sample_grasp_pose("square nut handle")
open_gripper()
goto_pose(grasp_position, quaternion, z_approach=0.1)
close_gripper()
goto_pose(grasp_position + np.array([0.0, 0.0, 0.2]), quaternion)

peg, _ = get_object_pose("square peg")
nut, nut_quaternion = get_object_pose("square nut")
hand = get_observation()
offset = hand["hand_position"] - nut
yaw = 2 * np.arctan2(-hand["hand_quaternion_wxyz"][1], hand["hand_quaternion_wxyz"][2])
nut_yaw = 2 * np.arctan2(nut_quaternion[3], nut_quaternion[0])

ways = []
for quarter in range(-3, 4):
    turn = -((nut_yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4) + quarter * np.pi / 2
    if -1.9 < yaw + turn < 2.9:  # the peg stands far away: prefer the hand on the near side of it
        ways.append((np.cos(turn) * offset[0] - np.sin(turn) * offset[1] + 0.01 * abs(turn), turn))
_, turn = min(ways)
quaternion = down(yaw + turn)

cosine, sine = np.cos(turn), np.sin(turn)
offset = np.array([cosine * offset[0] - sine * offset[1], sine * offset[0] + cosine * offset[1], offset[2]])
goto_pose(peg + offset + np.array([0.0, 0.0, 0.16]), quaternion)
for height in (0.16, 0.12, 0.09, 0.05, 0.0):  # the nut slips in the hand: measure anew before each step
    nut, _ = get_object_pose("square nut")
    offset = get_observation()["hand_position"] - nut
    goto_pose(peg + offset + np.array([0.0, 0.0, height]), quaternion)
open_gripper()
goto_pose(get_observation()["hand_position"] + np.array([0.0, 0.0, 0.15]), quaternion)
