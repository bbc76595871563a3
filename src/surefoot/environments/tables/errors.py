"""What is wrong with a table, a role map or a program, as sentences."""

from __future__ import annotations

from surefoot.errors import UsageError


class TableError(UsageError):
    """A table, a role map or a program that the interpreter can't read; the text names the place and the remedy."""
