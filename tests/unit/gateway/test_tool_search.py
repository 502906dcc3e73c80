"""The search in an agent's tools: what is found, in which order, and how much."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.call_recording.modes import RecordMode
from service.errors import TooManyRequestsError
from service.gateway.definition import ToolDefinition
from service.gateway.endpoint.catalog import Tools
from service.gateway.endpoint.ranking import Described, Ranking
from service.gateway.endpoint.tool_search import (
    ANSWER_BYTES_MAX,
    CALL_TOOL,
    DESCRIPTION_CHARACTERS_MAX,
    FIND_TOOLS,
    ToolSearch,
)
from service.gateway.gate import ListedTool, ToolList, Upstream
from service.gateway.protocol.messages import Message
from service.gateway.upstream.limits import CALLS_OF_AGENT_MAX
from service.tool_definitions.aliases import aliases_of

NAME = "https://tracker.example/mcp"


def listed(name: str, prefix: str = "tracker", **members: Any) -> ListedTool:
    upstream = Upstream(
        connector_id=uuid4(), url=NAME, mode=RecordMode.STRICT, version=1
    )
    document = {"name": name, "inputSchema": {"type": "object"}, **members}
    definition = ToolDefinition.of(document)
    return ListedTool(connector=upstream, prefix=prefix, definition=definition)


def search_in(*tools: ListedTool) -> ToolSearch:
    named = {f"{each.prefix}_{each.definition.name}": each for each in tools}
    return ToolSearch(named)


def names(found: Mapping[str, Any]) -> list[str]:
    return [each["name"] for each in found["tools"]]


TRACKER = (
    listed("create_issue", description="File a new bug or a wish."),
    listed("listIssues", description="Everything that is open."),
    listed("comment", title="Comment on an issue", description="Adds a text."),
    listed(
        "search",
        description="Full text search.",
        inputSchema={"type": "object", "properties": {"assignee": {}}},
    ),
    listed("create_event", prefix="calendar", description="Create an event."),
    listed(
        "free_busy",
        prefix="calendar",
        description="Who has time for an issue?",
        annotations={"title": "Availability"},
    ),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create issue", "tracker_create_issue"),
        ("how do I create an issue?", "tracker_create_issue"),
        ("CREATE ISSUES", "tracker_create_issue"),
        ("list issues", "tracker_listIssues"),
        ("bug", "tracker_create_issue"),
        ("assignee", "tracker_search"),
        ("calendar create", "calendar_create_event"),
        ("tracker_comment", "tracker_comment"),
        (" calendar_free_busy ", "calendar_free_busy"),
        ("busy", "calendar_free_busy"),
        ("comm", "tracker_comment"),
        ("availability", "calendar_free_busy"),
    ],
)
def test_the_best_match_comes_first(query: str, first: str) -> None:
    assert names(search_in(*TRACKER).found(query, 20))[0] == first


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("branches", "create_branch"),
        ("branch", "listBranches"),
        ("addresses", "allocate_address"),
        ("boxes", "get_box"),
        ("caches", "clear_cache"),
        ("movies", "get_movie"),
        ("queries", "run_query"),
        ("copies", "copy_file"),
        ("days", "day_of_week"),
        ("deleting", "delete_all"),
        ("deleted", "delete_all"),
        ("sending", "send_mail"),
        ("list", "listing_of_files"),
        ("作成", "課題を作成します"),
        ("创建", "在项目中创建问题"),
        ("cre\u0301er", "cr\u00e9er une facture"),
        ("\uff46\uff49\uff4e\uff44", "find_file"),
    ],
)
def test_words_are_found_in_other_forms(asked: str, written: str) -> None:
    texts = [Described(each, "", "") for each in ("zebra", written, "stripe", "cats")]

    assert Ranking(texts).ranked(asked) == [1]


def test_words_around_what_is_meant_are_not_looked_for() -> None:
    texts = [Described(each, "", "") for each in ("thief", "zebra", "this")]

    assert Ranking(texts).ranked("What do I do with this zebra?") == [1]
    assert Ranking(texts).ranked("this") == [2, 0], "there is nothing else"


@pytest.mark.parametrize("asked", ["stripe", "fill", "notify", "feature"])
def test_a_short_word_keeps_its_end(asked: str) -> None:
    texts = [Described(each, "", "") for each in ("string", "file", "note", "feed")]

    assert Ranking(texts).ranked(asked) == []


def test_a_word_in_a_name_counts_for_more_than_in_a_description() -> None:
    found = names(search_in(*TRACKER).found("issue", 20))

    assert found == [
        "tracker_create_issue",
        "tracker_listIssues",
        "tracker_comment",
        "calendar_free_busy",
    ]


def test_a_rare_word_counts_for_more_than_a_frequent_one() -> None:
    texts = [Described(f"create {each}", "", "") for each in ("a1", "b2", "c3", "d4")]

    assert Ranking(texts).ranked("create c3")[0] == 2


def test_of_equal_matches_the_one_with_the_shortest_name_comes_first() -> None:
    """It has most of its name in the query."""
    words = ("settings", "roles", "sessions", "permissions", "profile")
    others = [listed(f"get_user_{each}", prefix="admin") for each in words]

    found = search_in(*others, listed("get_user")).found("get user", 5)

    assert names(found)[:2] == ["tracker_get_user", "admin_get_user_settings"]


@pytest.mark.parametrize("query", ["", "  ", "?!", "zebra"])
def test_without_a_match_the_connectors_are_told(query: str) -> None:
    assert search_in(*TRACKER).found(query, 5) == {
        "matches": 0,
        "tools": [],
        "connectors": {"calendar": 2, "tracker": 4},
    }


def test_of_many_matches_the_first_are_shown_and_all_are_counted() -> None:
    found = search_in(*(listed(f"get_{n}") for n in range(30))).found("get", 5)

    assert names(found) == [f"tracker_get_{n}" for n in range(5)]
    assert found["matches"] == 30


def test_an_answer_has_room_for_whole_tools_and_at_least_one() -> None:
    def large(name: str, size: int) -> ListedTool:
        schema = {"type": "object", "description": "x" * size}
        return listed(name, inputSchema=schema)

    tools = [large("get_a", 30_000), large("get_b", 40_000), large("get_c", 20_000)]

    found = search_in(*tools).found("get", 5)
    alone = search_in(large("get", ANSWER_BYTES_MAX)).found("get", 5)

    assert names(found) == ["tracker_get_a", "tracker_get_c"]
    assert len(orjson.dumps(found)) <= ANSWER_BYTES_MAX + 200
    assert found["matches"] == 3
    assert names(alone) == ["tracker_get"]


def test_a_long_description_is_cut() -> None:
    tool = listed("get", description="x" * 5_000)

    (found,) = search_in(tool).found("get", 5)["tools"]

    assert len(found["description"]) == DESCRIPTION_CHARACTERS_MAX
    assert found["description"].endswith("…")


def test_the_tool_that_finds_says_how_many_there_are_and_where() -> None:
    find, call = search_in(*TRACKER).documents

    assert (find["name"], call["name"]) == (FIND_TOOLS, CALL_TOOL)
    assert "There are 6 of them" in find["description"]
    assert "calendar (2), tracker (4)." in find["description"]


def test_its_description_is_bounded_whatever_the_connectors() -> None:
    tools = (listed("get", prefix=f"{number:033}") for number in range(300))

    find, _ = search_in(*tools).documents

    assert len(find["description"]) <= DESCRIPTION_CHARACTERS_MAX
    assert "and 290 more" in find["description"]


async def test_an_agents_searches_take_turns() -> None:
    under_way: list[str] = []

    class Searching(ToolSearch):
        def found(self, query: str, limit: int) -> dict[str, Any]:
            under_way.append(query)
            assert under_way == [query]
            found = super().found(query, limit)
            under_way.clear()
            return found

    search = Searching({f"tracker_{each}": listed(str(each)) for each in range(500)})
    calls = [
        search.meant(
            Message(1, "tools/call", {"name": FIND_TOOLS, "arguments": {"query": each}})
        )
        for each in "abcdefghijklmnop"
    ]

    results = await asyncio.gather(*calls)

    for each in results:
        assert not isinstance(each, Message)
        assert each["isError"] is False


async def test_searches_beyond_the_calls_of_an_agent_are_refused_at_once() -> None:
    search = search_in(*TRACKER)
    query = {"name": FIND_TOOLS, "arguments": {"query": "issue"}}
    message = Message(1, "tools/call", query)

    results = await asyncio.gather(
        *(search.meant(message) for _ in range(CALLS_OF_AGENT_MAX + 2)),
        return_exceptions=True,
    )
    afterwards = await search.meant(message)

    refused = [each for each in results if isinstance(each, TooManyRequestsError)]
    assert len(refused) == 2
    assert "search again in a second" in refused[0].message
    assert not isinstance(afterwards, Message)
    assert afterwards["isError"] is False


@given(
    prefix=st.from_regex(r"[a-z0-9][a-z0-9-]{0,32}", fullmatch=True),
    tool=st.text(min_size=1, max_size=80),
)
def test_no_alias_is_a_name_of_the_gateways_own(prefix: str, tool: str) -> None:
    connector_id = uuid4()

    (alias,) = aliases_of({connector_id: prefix}, [(connector_id, tool)])

    assert alias not in (FIND_TOOLS, CALL_TOOL)


NAMES = st.text("abcAB_. -:/1é", min_size=1, max_size=30)


@given(
    tools=st.dictionaries(NAMES, st.text(max_size=30), min_size=1, max_size=30),
    query=st.one_of(NAMES, st.text(max_size=1_000)),
    limit=st.integers(1, 20),
)
def test_what_is_found_is_listed_and_all_that_is_listed_can_be_found(
    tools: dict[str, str], query: str, limit: int
) -> None:
    each_listed = [
        listed(name, description=description) for name, description in tools.items()
    ]
    agents = Tools(ToolList(each_listed, 0), aliased=True)
    assert agents.search is not None

    found = agents.search.found(query, limit)

    assert {*names(found)} <= agents.by_name.keys()
    assert len(found["tools"]) == min(limit, found["matches"])
    for alias in agents.by_name:
        assert names(agents.search.found(alias, 1)) == [alias]
