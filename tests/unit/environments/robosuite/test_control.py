import numpy as np
import pytest

pytest.importorskip("numba")

from surefoot.environments.robosuite import control
from surefoot.environments.robosuite.control import cholesky, cholesky_solve, compiled


def test_cholesky_solves_what_linear_algebra_solves():
    rows = np.random.default_rng(0).normal(size=(6, 6))
    matrix, right = rows @ rows.T, rows[0]
    np.testing.assert_allclose(cholesky_solve(cholesky(matrix), right), np.linalg.solve(matrix, right), rtol=1e-9)


def test_a_direction_without_stiffness_gets_no_force():
    matrix = np.diag([4.0, 0.0, 1.0])
    np.testing.assert_array_equal(cholesky_solve(cholesky(matrix), np.ones(3)), [0.25, 0.0, 1.0])


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same():
    scope = {}
    exec("def double(x): return 2 * x", scope)  # from no file: numba finds no folder for its cache
    assert compiled(scope["double"])(21) == 42


def test_another_state_of_the_folder_has_another_cache(monkeypatch, tmp_path):
    assert control._state() in control.cholesky._cache.cache_path
    monkeypatch.setattr(control.numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(control, "_state", lambda: "other")
    assert control.compiled(_double)._cache.cache_path.startswith(str(tmp_path / "other"))
    assert str(tmp_path) == control.numba.config.CACHE_DIR


def _double(x):
    return 2 * x
