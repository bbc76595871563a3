"""What the desk's functions raise; programs may catch these.

DeskError
├── UnknownObjectError   no object of that name
├── NotVisibleError      the hand hides the object from the camera
├── NeverSeenError       the board holds no pose of the object
├── BadTargetError       not a position that the hand can be sent to
├── BadForceError        not a force that the gripper has
└── BadBoardError        the program broke the shared board
"""

from __future__ import annotations


class DeskError(Exception):
    """Base of what the desk raises to programs; its text is a sentence with a remedy."""


class UnknownObjectError(DeskError):
    """There is no object of that name on this desk."""


class NotVisibleError(DeskError):
    """The camera cannot see the object because the hand is in the way."""


class NeverSeenError(DeskError):
    """The board holds no pose of the object."""


class BadTargetError(DeskError):
    """Not a position of two finite numbers within the hand's reach."""


class BadForceError(DeskError):
    """Not a force within the gripper's range."""


class BadBoardError(DeskError):
    """The shared board lacks a part that the desk writes to."""
