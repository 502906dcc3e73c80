"""Which events of a stream are examined and passed on, however it is cut."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream_http import event_scanner
from service.upstream_http.event_scanner import EventScanner, Marker, Room

USAGE = Marker(b'"usage"', unless=b'"usage":null')
DONE = Marker(b"[DONE]")
MARKERS = (USAGE, DONE)
DATA = (
    b'{"text":"hello"}',
    b'{"usage":null}',
    b'{"usage":{"input_tokens":1}}',
    b'{"text":"\\"usage\\":null"}',
    b"[DONE]",
    b"",
)
WITHHELD = b'{"usage":{'


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    """Return the events of a stream, and the pieces that it comes in."""
    line_end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    names = st.sampled_from([b"", b"event: delta" + line_end])
    events = [
        name + b"data: " + data + line_end * 2
        for name, data in draw(st.lists(st.tuples(names, st.sampled_from(DATA))))
    ]
    stream = b"".join(events)
    cuts = sorted(draw(st.sets(st.integers(0, len(stream)))))
    ends = [*cuts, len(stream)]
    pieces = [stream[a:b] for a, b in zip([0, *cuts], ends, strict=True)]
    return events, pieces


def marked(events: Sequence[bytes]) -> list[bytes]:
    return [each for each in events if any(marker.is_in(each) for marker in MARKERS)]


@given(streams())
def test_all_is_passed_on_and_what_is_marked_is_examined_once(
    stream: tuple[list[bytes], list[bytes]],
) -> None:
    events, pieces = stream
    examined: list[bytes] = []

    def examine(event: bytes) -> bool:
        examined.append(event)
        return True

    scanner = EventScanner(MARKERS, examine)
    passed = b"".join([*map(scanner.feed, pieces), scanner.end()])

    assert passed == b"".join(pieces)
    assert scanner.has_passed_all
    assert examined == marked(events)


@given(streams())
def test_a_withheld_event_is_missing_and_nothing_else(
    stream: tuple[list[bytes], list[bytes]],
) -> None:
    events, pieces = stream
    examined: list[bytes] = []

    def examine(event: bytes) -> bool:
        examined.append(event)
        return WITHHELD not in event

    scanner = EventScanner(MARKERS, examine)
    passed = b"".join([*map(scanner.feed, pieces), scanner.end()])

    assert passed == b"".join(each for each in events if WITHHELD not in each)
    assert examined == marked(events)


@given(streams())
def test_a_whole_event_is_not_kept_back(
    stream: tuple[list[bytes], list[bytes]],
) -> None:
    events, _ = stream
    scanner = EventScanner(MARKERS, lambda _: True)
    # A carriage return may be half of a line's end.
    sure = [each for each in events if not each.endswith(b"\r")]

    assert [scanner.feed(each) for each in sure] == sure


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_scanner, "EVENT_BYTES_MAX", 32)


def pieces_of(stream: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(stream), size):
        yield stream[start : start + size]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_too_long_an_event_is_passed_on_and_the_next_one_examined(
    size: int,
) -> None:
    examined: list[bytes] = []

    def examine(event: bytes) -> bool:
        examined.append(event)
        return False

    long = b'data: {"usage":{"x":"' + b"x" * 100 + b'"}}\n\n'
    scanner = EventScanner(MARKERS, examine)
    stream = long + b"data: [DONE]\n\n" + b"data: 1\n"

    passed = b"".join(map(scanner.feed, pieces_of(stream, size))) + scanner.end()

    assert scanner.has_skipped
    assert examined == [b"data: [DONE]\n\n"]
    assert passed == long + b"data: 1\n"


def test_a_marker_that_counts_only_with_a_value() -> None:
    assert USAGE.is_in(b'{"usage":{}}')
    assert not USAGE.is_in(b'{"usage":null}')
    assert USAGE.is_in(b'{"usage":null}\n\n{"usage":{}}')


def test_scanners_share_the_room_for_what_they_keep() -> None:
    """Where there is none, events are passed on as they come, and not examined."""
    room = Room(free=100)
    first, second = (EventScanner(MARKERS, lambda _: False, room) for _ in range(2))
    half = b'data: {"usage":{"x":"' + b"x" * 60

    assert first.feed(half) == b""
    assert room.free == 100 - len(half)
    assert second.feed(half) == half[:-4]
    assert second.feed(b'"}}\n\ndata: [DONE]\n\n') == half[-4:] + b'"}}\n\n'
    assert second.has_skipped
    assert first.feed(b'"}}\n\n') == b""
    assert not first.has_skipped
    assert room.free == 100


def test_a_scanner_that_is_closed_gives_its_room_back() -> None:
    room = Room(free=100)
    scanner = EventScanner(MARKERS, lambda _: True, room)
    scanner.feed(b"data: 1")

    scanner.close()

    assert room.free == 100
