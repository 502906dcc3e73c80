"""Rules that match none of a connector's tools, and what they were meant to be."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_definitions.aliases import tools_by_alias
from service.tool_rules import unmatched
from service.tool_rules.comparison import Work
from service.tool_rules.glob import matches
from service.tool_rules.intention import certainly_intended, intended
from service.tool_rules.known_tools import KnownTools, Names
from service.tool_rules.unmatched import find_unmatched

CONNECTOR = UUID("9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11")
TOOLS = (
    "admin:users/purge",
    "create_issue",
    "deleteComment",
    "delete_issue",
    "delete_label",
    "issues.list",
    "q",
)


def known(*tools: str, slug: str = "issue-tracker") -> KnownTools:
    names = tuple(sorted(tools))
    return KnownTools(
        names=names,
        prefixes=(f"{slug}-9b2d0b0a", slug),
        aliases_from=lambda: tools_by_alias(CONNECTOR, slug, names),
    )


def work() -> Work:
    return Work("", left=unmatched.WORK_MAX)


LISTED_ALIASES = {
    tool: alias
    for alias, tool in tools_by_alias(CONNECTOR, "issue-tracker", TOOLS).items()
    if not alias.startswith("issue-tracker-")
}


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        # As MCP clients write it.
        ("mcp__issue-tracker__delete_*", "delete_*"),
        ("mcp__issue-tracker__delete_issue", "delete_issue"),
        ("MCP__Issue-Tracker__Delete_*", "delete_*"),
        ("mcp__plugin_tools_issue-tracker__create_issue", "create_issue"),
        ("mcp__a__b__create_*", "create_*"),
        ("mcp__issue-tracker", "*"),
        ("mcp__issue-tracker__*", "*"),
        ("mcp__create_issue", "create_issue"),
        ("mcp_tracker_delete_*", "delete_*"),
        # Of an agent's list, also through a client.
        ("issue-tracker_delete_*", "delete_*"),
        ("issue-tracker_*", "*"),
        ("issue-tracker-9b2d0b0a_delete_*", "delete_*"),
        ("issue-tracker-9b2d0b0a_q", "q"),
        ("issue-tracker_q", "q"),
        ("mcp__tools__issue-tracker_delete_issue", "delete_issue"),
        ("*tracker_delete_*", "delete_*"),
        ("*_create_*", "create_*"),
        ("issue-*r_create?issue", "create?issue"),
        ("issue*Comment", "deleteComment"),
        (LISTED_ALIASES["admin:users/purge"], "admin:users/purge"),
        (LISTED_ALIASES["issues.list"], "issues.list"),
        # With the server's name in front, as others write it.
        ("issue-tracker/delete_*", "delete_*"),
        ("issue_tracker__create_issue", "create_issue"),
        ("Issue-Tracker.q", "q"),
        # In another spelling.
        ("Delete_*", "delete_*"),
        ("DELETE_ISSUE", "delete_issue"),
        ("*Issue", "*issue"),
        ("deletecomment", "deleteComment"),
        ("*comm?nt", "*Comm?nt"),
        ("create-issue", "create_issue"),
        ("admin.users.*", "admin:users/*"),
        # As regular expressions.
        ("delete_.*", "delete_*"),
        (".*_label", "*_label"),
        ("Delete_.*", "delete_*"),
        ("mcp__issue-tracker__delete_.*", "delete_*"),
        # Nothing that could be told.
        ("delete_repository", None),
        ("mcp__issue-tracker__drop_*", None),
        ("mcp__issue-tracker__admin__*", None),
        ("issue-tracker_drop_*", None),
        ("issue-tracker_", None),
        ("mcp__", None),
        ("zzz*", None),
    ],
)
def test_what_was_meant(pattern: str, meant: str | None) -> None:
    tools = known(*TOOLS)
    assert not any(matches(pattern, tool) for tool in TOOLS)

    assert intended(pattern, tools, work()) == meant

    if meant is not None:
        assert any(matches(meant, tool) for tool in TOOLS)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("mcp__github__create_issue", "create_issue"),
        ("mcp__plugin_x_server__tool", "tool"),
        ("MCP__github__*", "*"),
        ("mcp__github", "*"),
        ("mcp__github__al_q", "q"),
        ("al_q", "q"),
        ("al-9b2d0b0a_q", "q"),
        ("al_*", "*"),
        ("al_", None),
        ("mcp__", None),
        ("al", None),
        ("q", None),
        ("Q_*", None),
        ("delete_.*", None),
        ("mcp_server_tool", None),
        ("xal_q", None),
    ],
)
def test_what_is_certain_before_a_connector_is_observed(
    pattern: str, meant: str | None
) -> None:
    assert certainly_intended(pattern, ("al-9b2d0b0a", "al")) == meant


async def test_rules_that_match_are_not_named() -> None:
    rules = {
        str(CONNECTOR): {
            "*": "allow",
            "**": "ask",
            "q": "deny",
            "?": "deny",
            "delete*": "deny",
            "*Comment": "deny",
            "*users*": "ask",
            "d*_*l": "deny",
            "admin:users/purge": "deny",
        }
    }

    assert await find_unmatched(rules, {str(CONNECTOR): known(*TOOLS)}) == {}


async def test_every_stance_of_each_connector_is_looked_at() -> None:
    other = str(UUID(int=7))
    rules = {
        str(CONNECTOR): {"Q": "allow", "delete_.*": "deny", "q": "ask", "z?": "ask"},
        other: {"mcp__x__y": "ask", "y": "deny"},
    }

    found = await find_unmatched(
        rules, {str(CONNECTOR): known(*TOOLS), other: KnownTools()}
    )

    assert {each: unmatched.suggestions for each, unmatched in found.items()} == {
        str(CONNECTOR): {"Q": "q", "delete_.*": "delete_*", "z?": None},
        other: {"mcp__x__y": "y"},
    }


async def test_an_empty_connector_has_nothing_to_match_but_everything() -> None:
    rules = {str(CONNECTOR): {"*": "allow", "delete_*": "deny"}}

    found = await find_unmatched(rules, {str(CONNECTOR): known()})

    assert found[str(CONNECTOR)].suggestions == {"delete_*": None}


async def test_tools_with_the_servers_name_are_their_own() -> None:
    rules = {str(CONNECTOR): {"slack_*": "allow", "slack_post": "deny"}}

    found = await find_unmatched(
        rules, {str(CONNECTOR): known("slack_post", "slack_read", slug="slack")}
    )

    assert found == {}


@pytest.mark.parametrize("rules", [1, 1000])
async def test_what_takes_too_long_is_said(
    monkeypatch: pytest.MonkeyPatch, rules: int
) -> None:
    monkeypatch.setattr(unmatched, "WORK_MAX", 0)
    stances = {f"a*b*{number}": "deny" for number in range(rules)}

    found = await find_unmatched(
        {str(CONNECTOR): {**stances, "q": "deny", "Q": "deny"}},
        {str(CONNECTOR): known(*TOOLS)},
    )

    # Patterns with one part are compared in any case.
    assert found[str(CONNECTOR)].suggestions == {"Q": "q"}
    assert not found[str(CONNECTOR)].is_complete


async def test_many_ordinary_rules_are_all_compared() -> None:
    tools = [f"service{number % 10}.tool{number:04}" for number in range(500)]
    matching = {f"*{number % 10}.t*{number:04}": "allow" for number in range(500)}
    missing = {f"*service{number}.x*y": "deny" for number in range(500)}

    found = await find_unmatched(
        {str(CONNECTOR): {**matching, **missing}}, {str(CONNECTOR): known(*tools)}
    )

    assert found[str(CONNECTOR)].suggestions.keys() == missing.keys()
    assert found[str(CONNECTOR)].is_complete


@given(
    names=st.lists(st.text("aB_.", max_size=5)),
    pattern=st.text("aB_.*?", min_size=1, max_size=6),
)
def test_the_first_match_is_that_of_the_glob(names: list[str], pattern: str) -> None:
    expected = [n for n, each in enumerate(names) if matches(pattern, each)]

    assert Names(names).first_match(pattern, work()) == next(iter(expected), None)


@given(
    names=st.lists(st.text("aB_./:-", min_size=1, max_size=6), max_size=5),
    pattern=st.text("aAbB_.*?-mcp", min_size=1, max_size=10),
)
def test_a_suggestion_matches_a_tool(names: list[str], pattern: str) -> None:
    found = intended(pattern, known(*names, slug="ab"), work())

    assert found is None or any(matches(found, name) for name in names)
