"""Which decisions differ between two sets of rules."""

from service.tool_rules.comparison import (
    ConnectorRules,
    Work,
    changed_decisions,
)
from service.tool_rules.decision import Stance


def test_tools_that_are_named_are_compared() -> None:
    before = {"*": "allow", "*delete*": "deny"}
    after = {"*": "allow", "*delete*": "deny", "files.*": "ask"}

    found = changed_decisions(
        ConnectorRules(before),
        ConnectorRules(after),
        Work(""),
        ["files.delete", "files.x"],
    )

    # Where several patterns overlap, deny is stronger before and after.
    assert [*found] == [("files.x", Stance.ALLOW, Stance.ASK)]


def test_comparing_literal_patterns_is_free() -> None:
    before = {f"tool{n}": "allow" for n in range(1000)}

    found = changed_decisions(
        ConnectorRules(before),
        ConnectorRules({**before, "tool7": "deny"}),
        Work("", left=0),
        ["tool7", *(f"other{n}" for n in range(1000))],
    )

    assert [*found] == [("tool7", Stance.ALLOW, Stance.DENY)]
