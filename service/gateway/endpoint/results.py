"""Results of tools/call: the upstream's, made fit for the agent's client, and ours."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from service.gateway.endpoint.client_sessions import INPUTS, inputs_of
from service.gateway.endpoint.request_state import INNER_BYTES_MAX
from service.gateway.protocol.errors import (
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    RpcError,
)
from service.gateway.protocol.revisions import RESERVED
from service.gateway.upstream.errors import (
    NO_RESULT,
    WANTS_INPUT,
    refused,
    too_large,
    unusable,
)
from service.gateway.upstream.lost_sessions import code_of

# Fields that some servers write as null where they have none.
_NOT_NULL: Final = ("content", "isError", "resultType")

# Of one round; a client with a handshake is asked each by a message of its own.
REQUESTS_MAX: Final = 100


def failed(message: str) -> dict[str, Any]:
    """Return a tool error, which models read."""
    return said(message, is_error=True)


def said(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
    }


def link_to_approval(message: str, url: str) -> dict[str, Any]:
    """Return what makes a client show its user where people approve."""
    params = {"mode": "url", "message": message, "url": url}
    return {
        "resultType": "input_required",
        "inputRequests": {
            "approval": {"method": INPUTS["elicitation"], "params": params}
        },
    }


def result_of_upstream(
    message: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    *,
    is_stateless: bool,
) -> dict[str, Any]:
    """Return the result of an upstream's answer, without what isn't for the agent.

    :raises RpcError: the upstream refused the arguments, or lacks a capability
    :raises UpstreamError: any other error, or no result of a tool
    """
    if message.get("error") is not None:
        _raise(message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        raise unusable("no result", NO_RESULT)
    _strip_meta(result)
    for name in _NOT_NULL:
        if name in result and result[name] is None:
            del result[name]
    kind = result.setdefault("resultType", "complete")
    if kind == "input_required":
        _check_inputs(result, capabilities)
        return result
    if "content" not in result:
        _add_content(result)
    if kind != "complete" or not isinstance(result.get("content"), list):
        raise unusable("no result of a tool", NO_RESULT)
    if not is_stateless:
        _fit_handshake(result)
    return result


def _fit_handshake(result: dict[str, Any]) -> None:
    """Take a structured result that isn't an object out: such clients refuse it.

    They weren't told its schema either; where nothing else says it, a text does.
    """
    if not isinstance(result.get("structuredContent", {}), dict):
        if not result["content"]:
            _add_content(result)
        del result["structuredContent"]


def _add_content(result: dict[str, Any]) -> None:
    """Give a result its value as content, too: models read nothing else."""
    # ``toolResult`` is of the protocol's first revision.
    for name in ("structuredContent", "toolResult"):
        if name in result:
            value = result[name]
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            result["content"] = [{"type": "text", "text": text}]
            return


def _raise(error: Any) -> None:
    """Raise what an error means, without its text.

    :raises RpcError: the client can do something about it
    :raises UpstreamError: otherwise
    """
    code = error.get("code") if isinstance(error, dict) else None
    if code == INVALID_PARAMS:
        raise RpcError(INVALID_PARAMS, "the tool's server refused the parameters")
    if code == MISSING_CAPABILITY:
        data = error.get("data")
        wanted = data.get("requiredCapabilities") if isinstance(data, dict) else None
        names = [name for name in INPUTS if isinstance(wanted, dict) and name in wanted]
        raise RpcError(
            MISSING_CAPABILITY,
            "the tool needs a capability that the client did not declare",
            data={"requiredCapabilities": {name: {} for name in names}},
        )
    raise refused(code_of(error))


def _check_inputs(result: dict[str, Any], capabilities: Mapping[str, Any]) -> None:
    requests, state = result.get("inputRequests", {}), result.get("requestState")
    known = [INPUTS[name] for name in inputs_of(capabilities)]
    if (
        not isinstance(requests, dict)
        or not all(isinstance(each, dict) for each in requests.values())
        or not all(each.get("method") in known for each in requests.values())
        or not isinstance(state, str | None)
        or not (requests or state)
        or len(requests) > REQUESTS_MAX
    ):
        raise unusable("it asked for what the client can't give", WANTS_INPUT)
    if state and len(orjson.dumps(state)) > INNER_BYTES_MAX:
        raise too_large("a requestState that is too long")


def _strip_meta(result: dict[str, Any]) -> None:
    meta = result.pop("_meta", None)
    if isinstance(meta, dict):
        kept = {key: meta[key] for key in meta if not key.startswith(RESERVED)}
        if kept:
            result["_meta"] = kept
