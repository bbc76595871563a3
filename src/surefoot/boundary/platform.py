"""What the bits of a numeric result depend on: BLAS kernel, CPU features, libm, NumPy."""

from __future__ import annotations

import functools
import importlib
import platform
from importlib import metadata
from pathlib import Path

import numpy as np

ADDR_NO_RANDOMIZE = 0x0040000


@functools.cache
def numeric_platform() -> dict[str, str]:
    """The numeric platform of this process, as a tape's header keeps it."""
    return {
        "machine": platform.machine(),
        "libm": " ".join(platform.libc_ver()) or platform.system(),
        "numpy": np.__version__,
        "scipy": metadata.version("scipy"),
        "blas": _blas_kernel(),
        "cpu": _cpu_features(),
    }


def _blas_kernel() -> str:
    """The BLAS that NumPy uses. SciPy's wheels bring another, whose kernel follows the same CPU and variables."""
    import threadpoolctl

    found = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    found = [pool for pool in found if {"numpy", "numpy.libs"}.intersection(Path(pool["filepath"]).parts[-3:])] or found
    names = {
        f"{pool.get('internal_api')} {pool.get('version')} {pool.get('architecture', '')}".strip() for pool in found
    }
    return ", ".join(sorted(names)) or "none"


def _cpu_features() -> str:
    core = importlib.import_module("numpy._core._multiarray_umath")  # where NumPy keeps what it found
    features: dict[str, bool] = core.__cpu_features__
    return " ".join(sorted(name for name, present in features.items() if present))


def addresses_fixed() -> bool:
    """Whether this process was started with fixed addresses, on which the order of sets of classes depends."""
    try:
        flags = int(Path("/proc/self/personality").read_text(), 16)
    except (OSError, ValueError):
        return False
    return bool(flags & ADDR_NO_RANDOMIZE)
