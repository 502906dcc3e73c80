"""What refusing a body takes of the event loop, against accepting a large valid one."""

import time
from collections.abc import Callable

import orjson
import pytest

from service.errors import ServiceError
from service.http.body import BODY_BYTES_MAX
from service.http.json_body import parse_json
from service.tool_rules.body import RULES_MAX, BulkToolUpdate

RULE = {"connector_id": "00000000-0000-4000-8000-000000000001", "stance": "allow"}
LARGEST_VALID = orjson.dumps(
    {"rules": [{**RULE, "tool_pattern": f"a{number}*"} for number in range(RULES_MAX)]}
)
WRONG_RULE = b'{"connector_id":"x","tool_pattern":"!","stance":"no"}'
WORST = {
    "open brackets": b"[" * BODY_BYTES_MAX,
    "open objects": b'{"a":' * (BODY_BYTES_MAX // 5),
    "closed objects": b'{"a":' * 170_000 + b"1" + b"}" * 170_000,
    "unknown fields": orjson.dumps({f"k{number}": 1 for number in range(80_000)}),
    "as many unknown fields as may be": orjson.dumps(
        {f"k{number}": 1 for number in range(4_900)}
    ),
    "wrong rules": b'{"rules":[' + b",".join([WRONG_RULE] * 18_000) + b"]}",
    "as many wrong rules as may be": (
        b'{"rules":[' + b",".join([WRONG_RULE] * 1_200) + b"]}"
    ),
    "empty rules": b'{"rules":[' + b",".join([b"{}"] * 340_000) + b"]}",
    "numbers": b'{"rules":[' + b",".join([b"1"] * 500_000) + b"]}",
    "empty texts": b'{"rules":[' + b",".join([b'""'] * 340_000) + b"]}",
    "equal keys": b"{" + b",".join([b'"a":1'] * 170_000) + b"}",
    "U+0000": b'{"rules":"' + b"\\u0000" * 170_000 + b'"}',
    "escapes": b'{"rules":"' + b"\\n" * 500_000 + b'"}',
    "a text that never ends": b'{"rules":"' + b'\\"' * 500_000,
    "a long number": b'{"rules":' + b"1" * 1_000_000 + b"}",
}


def cpu_time(call: Callable[[], object]) -> float:
    """Return the least of some runs: other work on the machine only adds to it."""
    times = []
    for _ in range(5):
        started = time.thread_time()
        call()
        times.append(time.thread_time() - started)
    return min(times)


@pytest.mark.thorough
@pytest.mark.parametrize("name", WORST)
def test_refusing_a_body_takes_no_more_than_accepting_some_valid_ones(
    name: str,
) -> None:
    body = WORST[name]
    assert len(body) <= 1.2 * BODY_BYTES_MAX

    def refuse() -> None:
        with pytest.raises(ServiceError):
            parse_json(body, BulkToolUpdate)

    valid = cpu_time(lambda: parse_json(LARGEST_VALID, BulkToolUpdate))

    assert cpu_time(refuse) < 25 * valid


def test_a_long_text_may_hold_as_many_commas_as_it_likes() -> None:
    body = orjson.dumps({"rules": "," * 60_000})

    with pytest.raises(ServiceError, match="the body is not valid"):
        parse_json(body, BulkToolUpdate)
