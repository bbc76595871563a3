"""What source demonstrations give: templates and their distinct fragments."""

from __future__ import annotations

from surefoot.pi.sources import ActionFragment, Template, fragments_of


def test_fragments_are_distinct_by_revision_stage_action_and_effect_and_name_the_first_source():
    templates = [
        Template("s0", "A", (0, 1), (0, 2), (0, 1)),
        Template("s1", "A", (0, 2), (0, 1), (0, 2)),
        Template("s2", "B", (0, 1), (0, 2), (0, 1)),
        Template("s3", "A", (0, 1), (0, 2), (None, 1)),
    ]
    assert fragments_of(templates) == [
        ActionFragment("s0", 0, "A", 0, 0),
        ActionFragment("s0", 1, "A", 1, 2),
        ActionFragment("s1", 2, "A", 1, 1),
        ActionFragment("s2", 0, "B", 0, 0),
        ActionFragment("s2", 1, "B", 1, 2),
        ActionFragment("s3", None, "A", 0, 0),
    ]


def test_likeness_counts_goals_that_agree():
    template = Template("s", "A", (0, 1, 2), (0, 0, 0), (0, 1, 2))
    assert [template.likeness(request) for request in ((0, 1, 2), (0, 2, 2), (1, 0, 0))] == [3, 2, 0]
