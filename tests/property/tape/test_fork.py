"""A fork is a full run: the same outcome, final state, events, telemetry and tape id."""

from __future__ import annotations

from collections import Counter

from surefoot.boundary.encoding import encode_value
from surefoot.errors import InvalidProgramError
from surefoot.program.source import Program
from surefoot.tape.certificate import Unavailable
from surefoot.tape.file import load_tape
from surefoot.tape.fork import fork
from surefoot.tape.recording import Origin, execute


def final(environment):
    """The environment's whole state, public state included."""
    return environment.state_digest(), encode_value(environment.public_state), environment.clock, environment.steps


def compare(program, tape, environments, origin, zygote, folder, seen):
    """Fork and run in full; count how the fork went."""
    paths = [folder / f"{seen.total()}-{name}.mcap" for name in ("forked", "full")]
    forked = fork(program, tape, environments[0], origin, zygote, paths[0])
    if isinstance(forked, Unavailable):
        seen[forked.reason] += 1
        assert not paths[0].exists()
        return
    header = tape.header
    full = execute(
        program, environments[1], origin, header.scene.seed, zygote, path=paths[1], limits=header.limits,
        run_seed=header.run_seed,
    )  # fmt: skip
    assert (forked.outcome, forked.steps, forked.scene) == (full.outcome, full.steps, full.scene), program.source
    assert final(environments[0]) == final(environments[1])
    assert (forked.tape.header, forked.tape.events) == (full.tape.header, full.tape.events)
    assert (forked.tape.telemetry, forked.tape.end) == (full.tape.telemetry, full.tape.end)
    assert forked.tape.id == full.tape.id == load_tape(paths[0]).id
    assert 0 <= forked.live_steps <= full.steps
    seen["late" if forked.event else "whole"] += 1
    seen[full.outcome.text.partition(":")[0]] += 1


def test_on_the_toy_a_fork_is_a_full_run(perform, toy, zygote, toy_pairs, tmp_path):
    seen = Counter()
    for recorded, edited in toy_pairs(45):
        first = perform(recorded)
        if first.outcome.text == "success":
            environments = toy.environment(), toy.environment()
            compare(Program(edited), first.tape, environments, toy.origin, zygote, tmp_path, seen)
    assert min(seen["success"], seen["failure"] * 5, seen["late"]) >= 15, seen
    assert seen["no snapshot"] <= 6, seen


def test_on_the_desk_a_fork_is_a_full_run(desk, naive, zygote, desk_edits, tmp_path):
    environments = desk.make(), desk.make()
    origin = Origin(desk.name, desk.tier, desk.protocol, desk.surface, desk.revision())
    tape = execute(naive, desk.make(), origin, 101, zygote, path=tmp_path / "witness.mcap").tape
    seen = Counter()
    for source in desk_edits(40):
        try:
            compare(Program(source), load_tape(tape.path), environments, origin, zygote, tmp_path, seen)
        except InvalidProgramError:
            continue
    assert min(seen["success"], seen["failure"], seen["late"]) >= 10, seen
    assert not {"no snapshot", "scene changed", "shared objects"} & set(seen), seen
