"""A program that is certified modulo queries does succeed live on the recorded scene, in the same final state."""

from __future__ import annotations

from collections import Counter

from surefoot.boundary.encoding import encode_value
from surefoot.errors import InvalidProgramError
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, verdict
from surefoot.tape.recording import Origin, execute
from surefoot.tape.replay import certify


def final(environment):
    """The environment's whole state, public state included."""
    return environment.state_digest(), encode_value(environment.public_state), environment.clock


def test_on_the_toy_each_certified_program_ends_live_in_the_recorded_state(perform, toy, zygote, toy_pairs):
    seen = Counter()
    for recorded, edited in toy_pairs(50):
        environment = toy.environment()
        first = perform(recorded, environment=environment)
        if first.outcome.text != "success":
            continue
        program, end = Program(edited), final(environment)
        strict, modulo = (certify(program, first.tape, zygote, modulo=grade) for grade in (False, True))
        seen[verdict(modulo)] += 1
        if isinstance(strict, Certified):
            assert modulo == strict
        if isinstance(modulo, Certified):
            live = perform(edited, environment=environment)
            assert (live.outcome.text, final(environment)) == ("success", end), edited
            assert bool(modulo.modulo) == (not isinstance(strict, Certified))
    assert seen["certified"] and min(seen["certified modulo queries"], seen["diverged"]) >= 5, seen


def test_on_the_desk_each_certified_program_ends_live_in_the_recorded_state(desk, naive, zygote, desk_edits):
    environment = desk.make()
    origin = Origin(desk.name, desk.tier, desk.protocol, desk.surface, desk.revision())
    first = execute(naive, environment, origin, 101, zygote)
    end, seen = final(environment), Counter()
    for source in desk_edits(60):
        program = Program(source)
        try:
            modulo = certify(program, first.tape, zygote, modulo=True)
        except InvalidProgramError:
            continue
        seen[verdict(modulo)] += 1
        if isinstance(modulo, Certified):
            live = execute(program, environment, origin, 101, zygote)
            assert (live.outcome.text, final(environment)) == ("success", end), source
    assert seen["certified"] and min(seen["certified modulo queries"], seen["diverged"]) >= 5, seen
