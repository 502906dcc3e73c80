"""What of two runs must be alike, and where they differ."""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any, Final

from tests.instruments.model_clients.provider import Received
from tests.instruments.model_clients.ways import Place

# Of one hop, or of the connection: docs/model-calls.md.
NOT_COMPARED: Final = frozenset(
    {"accept-encoding", "authorization", "connection", "content-length", "host"}
    | {"keep-alive", "te", "transfer-encoding", "x-api-key"}
)
USAGE_EDIT: Final = b',"stream_options":{"include_usage":true}'
# Ids, and the time, that a client makes anew in each run.
OF_RUN: Final = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{64}\b"
    r"|(?<=_at_unix_ms)[\\\": ]+\d+|\d{4}-\d\d-\d\dT[\d:.]+Z"
)
# Codex writes its members in another order each time.
UNORDERED: Final = '"client_metadata":'
# Members of transcripts: times, and names of processes.
VARYING: Final = re.compile(r"timestamp|.*_ms|.*_at|.*_socket_path")


def transcript_differences(
    direct: Sequence[Any],
    through: Sequence[Any],
    places: tuple[Place, Place],
    *,
    in_order: bool = True,
) -> list[str]:
    first, second = (
        _lines(
            place.without_address(json.dumps(_without_varying(said))), in_order=in_order
        )
        for said, place in zip((direct, through), places, strict=True)
    )
    return list(unified_diff(first, second, "directly", "through", n=0, lineterm=""))


def request_differences(
    direct: Sequence[Received], through: Sequence[Received]
) -> list[str]:
    """Compare requests of the models; what else there is, the gateway answers itself.

    One that is added by a documented edit isn't a difference.
    """
    first, second = _posted(direct), _posted(through)
    if len(first) != len(second):
        return [f"{len(first)} requests directly, {len(second)} through"]
    found: list[str] = []
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        body = other.body
        if USAGE_EDIT not in one.body:
            body = body.replace(USAGE_EDIT, b"", 1)
        pairs = {
            "target": (one.target, other.target),
            "headers": (_headers(one), _headers(other)),
            "body": (_made_alike(one.body), _made_alike(body)),
            "leaving": (one.left, other.left),
        }
        found += [
            f"{name} of request {number}: {_from_difference(left, right)}"
            for name, (left, right) in pairs.items()
            if left != right
        ]
    return found


def _from_difference(one: object, other: object) -> str:
    """Return where two texts begin to differ."""
    first, second = repr(one), repr(other)
    pairs = enumerate(zip(first, second, strict=False))
    same = next((at for at, (left, right) in pairs if left != right), 0)
    begin, end = max(0, same - 60), same + 60
    return f"{first[begin:end]} directly, {second[begin:end]} through"


def _posted(requests: Sequence[Received]) -> list[Received]:
    return [each for each in requests if each.target.startswith("POST ")]


def _headers(request: Received) -> list[tuple[str, str]]:
    return sorted(
        (name.lower(), OF_RUN.sub("ID", value))
        for name, value in request.headers
        if name.lower() not in NOT_COMPARED
    )


def _made_alike(body: bytes) -> str:
    text = OF_RUN.sub("ID", body.decode("latin-1"))
    before, name, after = text.partition(UNORDERED)
    if not name:
        return text
    members, end = json.JSONDecoder().raw_decode(after)
    return before + name + json.dumps(members, sort_keys=True) + after[end:]


def _lines(text: str, *, in_order: bool) -> list[str]:
    said = json.loads(OF_RUN.sub("ID", text))
    if not in_order:
        said.sort(key=json.dumps)
    return json.dumps(said, indent=1, ensure_ascii=False).splitlines()


def _without_varying(said: Any) -> Any:
    if isinstance(said, dict):
        return dict(_kept(said))
    if isinstance(said, list):
        return [_without_varying(each) for each in said]
    return said


def _kept(said: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in said.items():
        # In each chunk where usage was asked for, by the client or for its sake.
        is_no_usage = name == "usage" and value is None
        varies = VARYING.fullmatch(name) is not None
        # That of the provider is in the past.
        is_of_run = name == "created" and value > 1_790_000_000
        if not (is_no_usage or varies or is_of_run):
            yield name, _without_varying(value)
