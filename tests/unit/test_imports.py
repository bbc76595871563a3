"""What importing surefoot loads, and which way its packages depend on each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

SOURCE = Path(surefoot.__file__).parent
LAYERS = [
    {"errors"}, {"program", "boundary"}, {"tape"}, {"diagnosis"},
    {"environments", "environments.base", "environments.host", "environments.registry",
     "environments.staged"},
    {"memory"}, {"proposer"}, {"search"}, {"evaluation"}, {"scripts"}, {"report"}, {"pi"}, {"cli"},
]  # fmt: skip
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
CONCRETE = {
    f"environments.{path.name}" for path in (SOURCE / "environments").iterdir() if (path / "__init__.py").exists()
}
KNOWN_TO = {("pi", "environments.tables")}
"""Who may import a concrete environment besides itself: PI's experiments run in-process."""
KNOWN = {f"environments.{name}" for name in ("base", "host", "registry", "staged")} | CONCRETE


def loaded(statement: str) -> set[str]:
    """Top-level packages in memory after a statement in a fresh interpreter."""
    script = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    """Other than Python's own, than the one that msgspec loads where it is installed, and than Cython's runtime."""
    names = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    return {name for name in names if name != "typing_extensions" and "cython" not in name}


def test_importing_surefoot_loads_nothing_else():
    assert packages(loaded("import surefoot")) == {"surefoot"}


def test_importing_the_machinery_loads_no_simulator_and_no_interface():
    modules = packages(
        loaded("import surefoot.environments.host, surefoot.environments.registry, surefoot.memory.bank")
    )
    assert modules <= {"surefoot", "numpy", "msgspec", "xxhash"}


def test_the_desk_s_tasks_load_no_simulator():
    modules = packages(loaded("import surefoot.environments.desk.tasks"))
    assert not modules & {"robosuite", "mujoco", "numba", "scipy", "ray", "typer", "rich"}


def test_listing_the_tasks_loads_no_simulator():
    modules = packages(loaded("from surefoot.environments.registry import all_tasks; all_tasks()"))
    assert not modules & {"robosuite", "mujoco", "ray", "typer", "rich"}


def test_a_campaign_loads_no_ray_and_no_simulator_before_it_is_asked_for_one():
    modules = packages(loaded("import surefoot.cli.campaign, surefoot.evaluation.engines"))
    assert not modules & {"ray", "robosuite", "mujoco", "scipy"}


def test_the_program_s_side_loads_numpy_msgspec_and_the_boundary_alone():
    modules = loaded("import surefoot.boundary.client")
    assert packages(modules) == {"surefoot", "numpy", "msgspec"}
    own = {name for name in modules if name.startswith("surefoot")}
    assert {name for name in own if not name.startswith("surefoot.boundary")} == {"surefoot", "surefoot.errors"}
    assert not own & {f"surefoot.boundary.{name}" for name in ("process", "session", "environment", "outcome")}


def room(module: str) -> str:
    """The package of the house that a module stands in: `tape`, `environments.desk`."""
    parts = module.split(".")[1:]
    deep = ".".join(parts[:2])
    return deep if deep in KNOWN else parts[0] if parts else ""


def imports() -> list[tuple[str, str]]:
    """Pairs (importing module, imported surefoot module), wherever the import stands."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found += [(module, alias.name) for alias in node.names if alias.name.startswith("surefoot")]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
                found += [(module, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def test_packages_import_only_downwards():
    wrong = []
    for importer, imported in imports():
        above, below = room(importer), room(imported)
        if above == below or not below or not above or below.startswith("__"):
            continue
        if above in RANK and below in RANK and RANK[below] <= RANK[above]:
            continue
        if above in CONCRETE and RANK.get(below, 99) <= RANK["environments"]:
            continue
        if (above, below) in KNOWN_TO:
            continue
        wrong.append(f"{importer} imports {imported}")
    assert wrong == []


def test_concrete_environments_are_imported_by_themselves_alone():
    assert {"environments.desk", "environments.robosuite"} <= CONCRETE
    rooms = [(room(above), room(below)) for above, below in imports()]
    assert {pair for pair in rooms if pair[1] in CONCRETE and pair[0] != pair[1]} <= KNOWN_TO


@pytest.mark.parametrize("path", sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))
def test_every_package_says_what_it_is(path):
    tree = ast.parse((SOURCE / path / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
