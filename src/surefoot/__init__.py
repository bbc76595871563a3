"""surefoot: learn programs from execution, certify edits against recorded successes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.boundary.surface import api
    from surefoot.scripts.recording import record
    from surefoot.scripts.replaying import replay

__all__ = ["__version__", "api", "record", "replay"]
__version__ = "0.1.0"

_LAZY = {
    "api": "surefoot.boundary.surface",
    "record": "surefoot.scripts.recording",
    "replay": "surefoot.scripts.replaying",
}
"""Functions that load NumPy and the tape format, which `import surefoot` alone does not."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'surefoot' has no attribute '{name}'")
    return getattr(importlib.import_module(_LAZY[name]), name)
