"""Which events of a stream are examined and passed on, however it is cut."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream_http import event_scanner
from service.upstream_http.event_scanner import EventScanner, Marker

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
    passed = [scanner.feed(each) for each in pieces]

    assert passed == pieces
    assert scanner.end() == b""
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

    scanner = EventScanner(MARKERS, examine, withholds=True)
    passed = b"".join([*map(scanner.feed, pieces), scanner.end()])

    assert passed == b"".join(each for each in events if WITHHELD not in each)
    assert examined == marked(events)


@given(streams())
def test_a_whole_event_is_not_kept_back(
    stream: tuple[list[bytes], list[bytes]],
) -> None:
    events, _ = stream
    scanner = EventScanner(MARKERS, lambda _: True, withholds=True)
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
@pytest.mark.parametrize("withholds", [False, True])
def test_too_long_an_event_is_passed_on_and_the_next_one_examined(
    size: int, *, withholds: bool
) -> None:
    examined: list[bytes] = []

    def examine(event: bytes) -> bool:
        examined.append(event)
        return False

    long = b'data: {"usage":{"x":"' + b"x" * 100 + b'"}}\n\n'
    scanner = EventScanner(MARKERS, examine, withholds=withholds)
    stream = long + b"data: [DONE]\n\n" + b"data: 1\n"

    passed = b"".join(map(scanner.feed, pieces_of(stream, size))) + scanner.end()

    assert scanner.has_skipped
    assert examined == [b"data: [DONE]\n\n"]
    assert passed == (long + b"data: 1\n" if withholds else stream)


def test_a_marker_that_counts_only_with_a_value() -> None:
    assert USAGE.is_in(b'{"usage":{}}')
    assert not USAGE.is_in(b'{"usage":null}')
    assert USAGE.is_in(b'{"usage":null}\n\n{"usage":{}}')
