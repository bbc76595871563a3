import importlib.util

import numpy as np
import pytest

from surefoot.environments.robosuite.importing import load_robosuite

INSTALLED = importlib.util.find_spec("robosuite") is not None  # importing it here would choose a renderer
pytestmark = [pytest.mark.sim, pytest.mark.skipif(not INSTALLED, reason="needs the extra robosuite")]

XML = '<mujoco><worldbody><body><freejoint/><geom size="{size}" rgba="1 0 0 1"/></body></worldbody></mujoco>'


@pytest.fixture
def keeper():
    load_robosuite()
    from surefoot.environments.robosuite.models import ModelKeeper

    return ModelKeeper()


def saved(model):
    """All bytes of a model."""
    import mujoco

    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def test_the_same_text_gives_the_same_model_as_it_was_compiled_whatever_was_written_to_it(keeper):
    model = keeper.model(XML.format(size=0.1))
    compiled = saved(model)
    model.geom_rgba[0, 3] = 0.0
    model.body_pos[1] = 7.0
    assert saved(model) != compiled
    assert keeper.model(XML.format(size=0.1)) is model
    assert saved(model) == compiled


def test_another_text_is_compiled_and_replaces_the_kept_one(keeper):
    small = keeper.model(XML.format(size=0.1))
    large = keeper.model(XML.format(size=0.2))
    assert (small.geom_size[0, 0], large.geom_size[0, 0]) == (0.1, 0.2)
    assert keeper.model(XML.format(size=0.1)) is not small
