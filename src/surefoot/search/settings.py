"""Budgets and choices of one learning run; kept in its manifest."""

from __future__ import annotations

from typing import Literal

import msgspec

Way = Literal["certify", "rerun-all", "minibatch", "none"]
"""How changes are checked: replay a sample of older successes and run the uncertified; run all older
successes; keep what beats its parent on a minibatch; not at all."""


class Settings(msgspec.Struct, frozen=True):
    """The paper's numbers (appendix B), and the choices that SCOPE.md marks.

    `checking`: how a change of the accepted program is checked; all but "certify" are there for comparison.
    `minibatch` is the size of the gate that one of them has.
    `regressions`: whether a change that loses an older success is not accepted ("refuse"), or accepted all the
    same, and repaired in a follow-up ("paper").
    `witnesses`: whether a successful diagnostic renews a stale witness ("refresh") or not ("paper").
    `executions` bounds the search's environment episodes, diagnostics included; None leaves it to the
    queues. `demonstration_tries` is how many configurations a demonstration may fail before it is dropped;
    `without` names demonstrations that are left out.
    """

    main_repairs: int = 3
    followup_repairs: int = 1
    sampled_witnesses: int = 3
    diagnostics: int = 3
    checking: Way = "certify"
    regressions: Literal["refuse", "paper"] = "paper"
    minibatch: int = 3
    witnesses: Literal["refresh", "paper"] = "refresh"
    executions: int | None = None
    demonstration_tries: int = 25
    infrastructure_tries: int = 3
    without: tuple[str, ...] = ()
