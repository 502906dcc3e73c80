"""The session ids of clients with a handshake, for which nothing is kept.

They tell the requests of a client apart, and say what it can be asked for.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

import orjson
from aiohttp import web

from service.agent_tokens.caller import Caller
from service.gateway.protocol.messages import RequestId
from service.gateway.protocol.revisions import SESSION_HEADER

# What a client can be asked for, by the capability that says so.
INPUTS: Final = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}
# What each has below it; other members of a client's capabilities aren't kept.
_BELOW: Final = {
    "elicitation": ("form", "url"),
    "sampling": ("tools", "context"),
    "roots": (),
}
_NUMBER_CHARACTERS: Final = len(uuid4().hex)
_CHARACTERS_MAX: Final = 1_000


def inputs_of(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a client can be asked for, of its capabilities."""
    return {
        name: value
        for name, value in capabilities.items()
        if name in INPUTS and isinstance(value, dict)
    }


def new_session_id(capabilities: Any) -> str:
    """Return an id for a client with these capabilities: visible ASCII."""
    kept = _known_inputs(capabilities)
    said = base64.urlsafe_b64encode(orjson.dumps(kept)).decode() if kept else ""
    return uuid4().hex + said


def capabilities_of(session_id: str) -> dict[str, Any]:
    """Return what a client said that it can be asked for; nothing if it is not ours."""
    said = session_id[_NUMBER_CHARACTERS:]
    if not said or len(said) > _CHARACTERS_MAX:
        return {}
    try:
        found = orjson.loads(base64.urlsafe_b64decode(said))
    except (binascii.Error, ValueError):
        return {}
    return _known_inputs(found)


def _known_inputs(capabilities: Any) -> dict[str, Any]:
    """Return what a client can be asked for, in one of a few forms."""
    if not isinstance(capabilities, dict):
        return {}
    given = inputs_of(capabilities)
    return {
        name: {each: {} for each in below if each in given[name]}
        for name, below in _BELOW.items()
        if name in given
    }


def session_of(request: web.Request) -> str:
    return request.headers.get(SESSION_HEADER, "")


def name_of(request: web.Request, caller: Caller, request_id: RequestId) -> str:
    """Return a name for a message of a client, or to it, by its id.

    It tells other processes nothing, and is always short.
    """
    # A header may have bytes that are no text.
    session = session_of(request).encode(errors="surrogateescape").hex()
    named = orjson.dumps([caller.token_id, session, request_id])
    return hashlib.sha256(named).hexdigest()
