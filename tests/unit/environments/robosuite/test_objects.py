import pytest

from surefoot.environments.robosuite.arguments import ObjectNames
from surefoot.environments.robosuite.errors import UnknownObjectError
from surefoot.environments.robosuite.setups import CUBE_STACK, NUT_ASSEMBLY, SPILL_WIPE, TWO_ARM_HANDOVER, TWO_ARM_LIFT

SETUPS = (CUBE_STACK, NUT_ASSEMBLY, SPILL_WIPE, TWO_ARM_HANDOVER, TWO_ARM_LIFT)


def names_of(setup):
    return ObjectNames([*(spec.name for spec in setup.objects), *filter(None, [setup.spill])], setup.objects)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.environment)
def test_every_id_and_every_alias_finds_its_thing_alone(setup):
    names = names_of(setup)
    for spec in setup.objects:
        for name in (spec.name, *spec.aliases, *(alias.title().replace(" ", "_") for alias in spec.aliases)):
            assert names.find(name) == spec.name
    aliases = [alias for spec in setup.objects for alias in spec.aliases]
    assert len(aliases) == len(set(aliases))
    assert all(alias == alias.lower() and "_" not in alias for alias in aliases)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.environment)
def test_things_are_grasped_at_things_that_exist(setup):
    own = {spec.name for spec in setup.objects}
    assert {spec.grasp_at or spec.name for spec in setup.objects} <= own


@pytest.mark.parametrize(
    ("setup", "asked", "complaint"),
    [
        (CUBE_STACK, "cubeC", "There is no object 'cubeC'. Did you mean 'cubeB'? Available: cubeA, cubeB."),
        (NUT_ASSEMBLY, "square peg ", "There is no object 'square peg '. Did you mean 'square peg'? "
                                      "Available: square_nut, square_nut_handle, square_peg."),
        (SPILL_WIPE, "table", "There is no object 'table'. Available: spill."),
        (TWO_ARM_LIFT, None, "An object's name is a string, not None. Available: pot, handle0, handle1."),
        (TWO_ARM_LIFT, [10**5000],
         "An object's name is a string, not a value of type list. Available: pot, handle0, handle1."),
    ],
)  # fmt: skip
def test_an_unknown_name_is_answered_with_the_nearest_and_all_that_exist(setup, asked, complaint):
    with pytest.raises(UnknownObjectError) as error:
        names_of(setup).find(asked)
    assert str(error.value) == complaint
