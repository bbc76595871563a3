"""The exceptions that robosuite's API functions raise in a program."""

from __future__ import annotations


class UnknownObjectError(ValueError):
    """The program named an object that the scene does not have; the text lists those it has."""


class BadPoseError(ValueError):
    """The program passed a position, quaternion or distance that is no finite number array of its shape."""


class BadFlagError(ValueError):
    """The program passed something other than True or False where one of the two is wanted."""
