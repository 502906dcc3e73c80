"""The server that the conformance suite asks, directly and through the gateway.

Built with the official SDK. The suite says in the descriptions of its scenarios which
tools a server must have, and what each does.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
)

from tests.instruments.mcp.schemas import ALL_KEYWORDS, DEFAULTS, ENUMS

Context = ServerRequestContext[Any]
Json = dict[str, Any]
Act = Callable[[Context, CallToolRequestParams], Awaitable[Json]]

# One black pixel, and a sound without samples.
PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQ"
    "AAAABJRU5ErkJggg=="
)
WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
PAUSE_S: Final = 0.02
# Known to this process alone, so that nobody can make one up.
STATE: Final = secrets.token_hex(16)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def resource(name: str) -> Json:
    inner = {"uri": f"test://{name}", "mimeType": "text/plain", "text": "of a resource"}
    return {"type": "resource", "resource": inner}


def said(words: str) -> Json:
    return {"content": [text(words)]}


IMAGE: Final = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO: Final = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
ANSWERS: Final[Mapping[str, Json]] = {
    "test_simple_text": said("some text"),
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [AUDIO]},
    "test_embedded_resource": {"content": [resource("embedded")]},
    "test_multiple_content_types": {
        "content": [text("several kinds"), IMAGE, resource("mixed")]
    },
    "test_error_handling": {**said("it fails on purpose"), "isError": True},
    "json_schema_2020_12_tool": said("valid"),
    "test_x_mcp_header": said("the header is equal"),
}


def strings(*names: str) -> Json:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": [*names],
    }


SCHEMAS: Final[Mapping[str, Json]] = {
    "json_schema_2020_12_tool": ALL_KEYWORDS,
    "test_sampling": strings("prompt"),
    "test_elicitation": strings("message"),
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}


# Streams: notifications, and requests of the server to the client.


async def log(context: Context, _: CallToolRequestParams) -> Json:
    for step in ("started", "under way", "finished"):
        await context.session.send_log_message(
            "info", step, related_request_id=context.request_id
        )
        await asyncio.sleep(PAUSE_S)
    return said("three messages were logged")


async def progress(context: Context, _: CallToolRequestParams) -> Json:
    for percent in (0, 50, 100):
        await context.session.report_progress(percent, 100, f"{percent} %")
        await asyncio.sleep(PAUSE_S)
    return said("progress was reported")


async def sample(context: Context, params: CallToolRequestParams) -> Json:
    prompt = (params.arguments or {})["prompt"]
    answer = await context.session.create_message(
        [SamplingMessage(role="user", content=TextContent(type="text", text=prompt))],
        max_tokens=100,
        related_request_id=context.request_id,
    )
    assert isinstance(answer.content, TextContent)
    return said(f"LLM response: {answer.content.text}")


def elicit(schema: Json) -> Act:
    async def act(context: Context, params: CallToolRequestParams) -> Json:
        answer = await context.session.elicit_form(
            (params.arguments or {}).get("message", "Please fill in"),
            schema,
            related_request_id=context.request_id,
        )
        content = answer.model_dump_json(include={"content"})
        return said(f"User response: action={answer.action}, content={content}")

    return act


async def need_sampling(context: Context, _: CallToolRequestParams) -> Json:
    declared = context.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="this tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return said("the client can sample")


# Multi-round trips: input is asked for by a result, and given with the next call.


def form(message: str, **kinds: str) -> Json:
    schema = strings(*kinds)
    schema["properties"] = {name: {"type": kind} for name, kind in kinds.items()}
    params = {"message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def sampling(words: str) -> Json:
    messages = [{"role": "user", "content": text(words)}]
    params = {"messages": messages, "maxTokens": 100}
    return {"method": "sampling/createMessage", "params": params}


NAME: Final = form("What is your name?", name="string")
ROOTS: Final = {"method": "roots/list", "params": {}}
ASK_ALL: Final = {
    "user_name": NAME,
    "greeting": sampling("Write a greeting"),
    "client_roots": ROOTS,
}


def asked(requests: Json, state: str | None = None) -> Json:
    return {
        "resultType": "input_required",
        "inputRequests": requests,
        **({"requestState": state} if state else {}),
    }


def ask(requests: Json, *, state: str | None = None) -> Act:
    """Ask for these inputs, until all of them are there."""

    async def act(_: Context, params: CallToolRequestParams) -> Json:
        if params.request_state not in (None, state):
            raise MCPError(code=INVALID_PARAMS, message="not a state of this server")
        given = params.input_responses or {}
        if not requests.keys() <= given.keys():
            return asked(requests, state)
        if state is not None and params.request_state is None:
            return asked(requests, state)
        return said("; ".join(["state-ok", *map(str, given.values())]))

    return act


async def ask_twice(_: Context, params: CallToolRequestParams) -> Json:
    given = params.input_responses or {}
    match params.request_state:
        case "first" if "step1" in given:
            color = form("Which color?", color="string")
            return asked({"step2": color}, "second")
        case "second" if "step2" in given:
            return said(f"both: {given['step2']}")
    return asked({"step1": NAME}, "first")


async def ask_what_is_declared(context: Context, _: CallToolRequestParams) -> Json:
    declared = context.session.client_capabilities
    assert declared is not None
    requests: Json = {}
    if declared.sampling is not None:
        requests["sample"] = sampling("Say hello")
    if declared.elicitation is not None:
        requests["ask"] = NAME
    return asked(requests, "declared")


ACTS: Final[Mapping[str, Act]] = {
    "test_tool_with_logging": log,
    "test_logging_tool": log,
    "test_tool_with_progress": progress,
    "test_sampling": sample,
    "test_elicitation": elicit(strings("response")),
    "test_elicitation_sep1034_defaults": elicit(DEFAULTS),
    "test_elicitation_sep1330_enums": elicit(ENUMS),
    "test_missing_capability": need_sampling,
    "test_streaming_elicitation": ask({"user_name": NAME}),
    "test_input_required_result_elicitation": ask({"user_name": NAME}),
    "test_input_required_result_sampling": ask(
        {"capital": sampling("What is the capital of France?")}
    ),
    "test_input_required_result_list_roots": ask({"client_roots": ROOTS}),
    "test_input_required_result_request_state": ask(
        {"confirm": form("Please confirm", ok="boolean")}, state=STATE
    ),
    "test_input_required_result_tampered_state": ask(
        {"confirm": form("Please confirm", ok="boolean")}, state=STATE
    ),
    "test_input_required_result_multiple_inputs": ask(ASK_ALL, state=STATE),
    "test_input_required_result_multi_round": ask_twice,
    "test_input_required_result_capabilities": ask_what_is_declared,
}


async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult.model_validate(
        {
            "tools": [
                {
                    "name": name,
                    "description": f"For the scenario of {name}",
                    "inputSchema": SCHEMAS.get(name, strings()),
                }
                for name in (*ANSWERS, *ACTS)
            ]
        }
    )


async def call_tool(
    context: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    act = ACTS.get(params.name)
    result = await act(context, params) if act else ANSWERS.get(params.name)
    if result is None:
        raise MCPError(code=INVALID_PARAMS, message="unknown tool")
    if result.get("resultType") == "input_required":
        return InputRequiredResult.model_validate(result)
    return CallToolResult.model_validate(result)


async def set_level(_: Context, __: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


def reference() -> Server[Any]:
    return Server(
        "reference",
        version="1",
        get_tool_input_schema=lambda name: SCHEMAS.get(name, strings()),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_set_logging_level=set_level,
    )
