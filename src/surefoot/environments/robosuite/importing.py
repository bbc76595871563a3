"""Importing robosuite in the pinned versions, without any GL library and without its warnings."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from surefoot.environments.robosuite.setups import MUJOCO_VERSION, ROBOSUITE_VERSION
from surefoot.errors import UsageError

INSTALL = 'pip install ".[robosuite]" in the checkout of surefoot'
PINNED = {"robosuite": ROBOSUITE_VERSION, "mujoco": MUJOCO_VERSION}


def load_robosuite() -> types.ModuleType:
    """Import robosuite for use without rendering and return it.

    A renderer that the user chose by `MUJOCO_GL` is neither loaded nor forgotten: pictures are drawn by
    `surefoot.environments.offscreen`, which loads it when the first one is wanted. Raises UsageError if robosuite or
    mujoco is missing or has another version than the pinned one.
    """
    if "robosuite" in sys.modules:
        return sys.modules["robosuite"]
    check_installed()
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
    sys.modules["robosuite.macros"] = _load_macros()
    with _importable_cv2(), _without_gl():
        import robosuite
    return robosuite  # type: ignore[no-any-return]


def check_installed() -> None:
    """Raise UsageError, with the command to run, unless the pinned versions are installed."""
    for name, wanted in PINNED.items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise UsageError(f"{name} is not installed. Install it with: {INSTALL}") from None
        if found != wanted:
            raise UsageError(
                f"{name} {found} is installed, but robosuite tasks need {name} {wanted}, as other versions "
                f"change scenes or break its controllers. Install it with: {INSTALL}"
            )


def _load_macros() -> types.ModuleType:
    """Robosuite's settings, loaded ahead of the package: robosuite reads them while it is imported."""
    path = _folder() / "macros.py"
    spec = importlib.util.spec_from_file_location("robosuite.macros", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"robosuite is incomplete: {path} cannot be loaded. Reinstall it: {INSTALL}")
    macros = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(macros)
    macros.MUJOCO_GPU_RENDERING = False  # type: ignore[attr-defined]  # else it sets MUJOCO_GL to "egl"
    macros.FILE_LOGGING_LEVEL = None  # type: ignore[attr-defined]  # else it writes /tmp/robosuite.log
    macros.CACHE_NUMBA = _can_cache(path)  # type: ignore[attr-defined]
    return macros


def _folder() -> Path:
    spec = importlib.util.find_spec("robosuite")
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"robosuite is not installed. Install it with: {INSTALL}")
    return Path(spec.submodule_search_locations[0])


def _can_cache(source: Path) -> bool:
    """Whether numba finds a writable folder for what it compiles from `source`."""
    import numba

    scope: dict[str, types.FunctionType] = {}
    exec(compile("def probe(): pass", str(source), "exec"), scope)
    try:
        numba.njit(cache=True)(scope["probe"])
    except RuntimeError:  # numba's "no locator available"
        return False
    return True


@contextmanager
def _without_gl() -> Iterator[None]:
    """Have mujoco look for no GL library, whichever `MUJOCO_GL` names."""
    chosen = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "disabled"
    try:
        yield
    finally:
        del os.environ["MUJOCO_GL"]
        if chosen is not None:
            os.environ["MUJOCO_GL"] = chosen


@contextmanager
def _importable_cv2() -> Iterator[None]:
    """Stand in for OpenCV, which robosuite imports for its viewer only, where it cannot be imported."""
    try:
        import cv2  # noqa: F401
    except ImportError:  # not installed, or without libGL.so.1
        known = {name: module for name, module in sys.modules.items() if name == "cv2"}
        sys.modules["cv2"] = types.ModuleType("cv2")
        yield
        del sys.modules["cv2"]
        sys.modules.update(known)
    else:
        yield
