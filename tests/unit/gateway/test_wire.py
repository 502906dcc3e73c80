"""Aliases, header values, and events."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.prefixes import prefixes_of
from service.gateway.protocol.events import (
    EVENT_BYTES_MAX,
    EventParser,
    EventTooLargeError,
    event_of,
)
from service.gateway.protocol.headers import decoded, encoded
from service.tool_definitions.aliases import aliases_of

ONE, TWO = UUID(int=1), UUID(int=2)
SLUGS = st.text("abc-0", min_size=1, max_size=24)
NAMES = st.text(min_size=1, max_size=90)


def test_an_alias_is_the_slug_and_the_name() -> None:
    assert aliases_of({ONE: "tracker"}, [(ONE, "create_issue")]) == {
        "tracker_create_issue": (ONE, "create_issue")
    }


def test_equal_slugs_are_told_apart_on_both_sides() -> None:
    one, two = UUID(int=1 << 96), UUID(int=2 << 96)

    assert prefixes_of({one: "t", two: "t"}) == {one: "t-00000001", two: "t-00000002"}


def test_no_slug_gets_the_prefix_of_another_connector() -> None:
    one, two, three = (UUID(int=number << 96) for number in (3, 2, 1))

    prefixes = prefixes_of({one: "t", two: "t", three: "t-00000003"})

    assert prefixes[one] == "t-00000003"
    assert prefixes[three] == "t-00000003-00000001"


def test_equal_aliases_are_told_apart() -> None:
    """Two ids may begin with the same digits."""
    found = aliases_of({ONE: "t", TWO: "t"}, [(ONE, "a"), (TWO, "a")])

    assert found == {"t_a": (ONE, "a"), "t_a_ca978112": (TWO, "a")}


def test_a_name_that_looks_hashed_gets_a_hash_of_its_own() -> None:
    (taken,) = aliases_of({ONE: "t"}, [(ONE, "x.y")])
    like_it = (ONE, taken.removeprefix("t_"))

    found = aliases_of({ONE: "t"}, [like_it, (ONE, "x.y")])

    assert found[taken] == (ONE, "x.y")
    assert sorted(found.values()) == sorted([like_it, (ONE, "x.y")])


def test_of_tools_with_the_same_digits_neither_has_the_others_alias() -> None:
    ours, like_it = (ONE, "a.:.::/:././:"), (ONE, "a/././././/.:")
    (before,) = aliases_of({ONE: "t"}, [ours])
    assert [before] == [*aliases_of({ONE: "t"}, [like_it])]

    found = aliases_of({ONE: "t"}, [like_it, ours])

    assert before not in found
    assert sorted(found.values()) == sorted([like_it, ours])


@given(st.sets(NAMES, min_size=1), st.sets(NAMES), SLUGS, st.integers(1, 3))
def test_an_alias_never_changes_to_another_tool(
    tools: set[str], others: set[str], slug: str, times: int
) -> None:
    def aliases(names: set[str]) -> dict[str, tuple[UUID, str]]:
        return aliases_of({ONE: slug}, [(ONE, name) for name in sorted(names)])

    before = aliases(tools)
    for _ in range(times):
        like_aliases = {each.removeprefix(f"{slug}_") for each in aliases(others)}
        others |= like_aliases | {each.removeprefix(f"{slug}_") for each in before}
    after = aliases(tools | others)

    assert {alias: after[alias] for alias in before} == before


@given(
    st.lists(st.tuples(st.sampled_from([ONE, TWO]), NAMES), unique=True), SLUGS, SLUGS
)
def test_aliases_are_unambiguous(
    tools: list[tuple[UUID, str]], one: str, two: str
) -> None:
    found = aliases_of({ONE: one, TWO: two}, tools)

    assert sorted(map(str, found.values())) == sorted(map(str, tools))
    for alias in found:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", alias)


@given(st.text())
def test_header_values_come_back(text: str) -> None:
    value = encoded(text)

    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    assert decoded(value) == text


@pytest.mark.parametrize(
    "value", ["=?base64?x?=", "=?base64?YR==?=", "=?base64?/w==?="]
)
def test_malformed_header_values(value: str) -> None:
    assert decoded(value) is None


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 7),
)
def test_events_arrive_in_any_chunks(texts: list[str], end: str, size: int) -> None:
    stream = "".join(f": c{end}data: {text}{end}id: 1{end}{end}" for text in texts)
    sent, parser = stream.encode(), EventParser()

    found = [
        data
        for start in range(0, len(sent), size)
        for data in parser.feed(sent[start : start + size])
    ]

    assert [data.decode() for data in found] == texts


def test_events_of_other_kinds_are_not_messages() -> None:
    parser = EventParser()

    found = [
        *parser.feed(b"event: ping\ndata: x\n\ndata: a\ndata: b\n\n" + event_of(b"c"))
    ]

    assert found == [b"a\nb", b"c"]


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (b"event:\ndata: a\n\n", [b"a"]),
        (b"event: \ndata: a\n\n", [b"a"]),
        (b"event\ndata: a\n\n", [b"a"]),
        (b"event: ping\nevent:\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbf: c\n\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbf\r\rdata: a\r\r", [b"a"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\rdata: b\n\r\n", [b"a\nb"]),
        (b"data\ndata: a\n\n", [b"\na"]),
        # Only the first is no part of the stream.
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
        (b"Data: a\n\n", []),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_events_are_read_as_browsers_do(
    sent: bytes, found: list[bytes], size: int
) -> None:
    parser = EventParser()

    assert [
        data
        for start in range(0, len(sent), size)
        for data in parser.feed(sent[start : start + size])
    ] == found


def test_events_are_bounded() -> None:
    parser = EventParser()
    line = b"data: " + b"x" * 1017 + b"\n"
    for _ in range(EVENT_BYTES_MAX // len(line)):
        assert not [*parser.feed(line)]

    with pytest.raises(EventTooLargeError):
        [*parser.feed(line)]
