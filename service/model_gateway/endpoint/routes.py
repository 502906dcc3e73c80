"""The endpoints that agents' clients call instead of a provider's.

They are of two APIs, which their providers document, and stand beside the operations of
this service's API.
"""

from typing import Final, NoReturn
from uuid import UUID

from aiohttp import web

from service.http.envelope import JSON
from service.http.operation import OperationOptions, Routes
from service.model_gateway.endpoint.server import ModelServer
from service.model_gateway.protocol.endpoints import (
    CHAT,
    EMBEDDINGS,
    MESSAGES,
    MESSAGES_COUNT_TOKENS,
    RESPONSES,
    RESPONSES_INPUT_TOKENS,
    Api,
)
from service.model_gateway.protocol.errors import refusal_in

routes = Routes("llm")

MODEL_SERVER = web.AppKey("model_server", ModelServer)

OPENAI: Final = "/llm/agents/{agent_id}/openai"
ANTHROPIC: Final = "/llm/agents/{agent_id}/anthropic"


def _options(
    api: Api, *, takes_body: bool = False, takes_rest: bool = False
) -> OperationOptions:
    # The model gateway authenticates, by tokens of agents.
    options: OperationOptions = {
        "answers": {200: "the provider's answer"},
        "public": True,
        "documented": False,
        "raw_query": True,
        "takes_rest": takes_rest,
        "refusal": lambda _request, envelope, message: refusal_in(
            api, envelope, message
        ),
    }
    if takes_body:
        options["idempotent_key"] = False
        options["raw_body"] = (JSON,)
    return options


_OPENAI: Final = _options(Api.OPENAI, takes_body=True)
_OPENAI_READ: Final = _options(Api.OPENAI)
_OPENAI_REST: Final = _options(Api.OPENAI, takes_rest=True)
_ANTHROPIC: Final = _options(Api.ANTHROPIC, takes_body=True)
_ANTHROPIC_READ: Final = _options(Api.ANTHROPIC)
_ANTHROPIC_REST: Final = _options(Api.ANTHROPIC, takes_rest=True)


@routes.post(f"{OPENAI}/v1/chat/completions", **_OPENAI)
async def post_chat_completions(
    request: web.Request, agent_id: UUID
) -> web.StreamResponse:
    """Forward a call of OpenAI's chat completions."""
    return await request.app[MODEL_SERVER].answer(request, agent_id, CHAT)


@routes.post(f"{OPENAI}/v1/responses", **_OPENAI)
async def post_responses(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Forward a call of OpenAI's responses."""
    return await request.app[MODEL_SERVER].answer(request, agent_id, RESPONSES)


@routes.post(f"{OPENAI}/v1/responses/input_tokens", **_OPENAI)
async def post_input_tokens(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Have a provider count the tokens of a request for a response."""
    server = request.app[MODEL_SERVER]
    return await server.answer(request, agent_id, RESPONSES_INPUT_TOKENS)


@routes.post(f"{OPENAI}/v1/embeddings", **_OPENAI)
async def post_embeddings(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Forward a call of OpenAI's embeddings."""
    return await request.app[MODEL_SERVER].answer(request, agent_id, EMBEDDINGS)


@routes.get(f"{OPENAI}/v1/models", **_OPENAI_READ)
async def get_openai_models(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """List the models that the agent can call, as OpenAI does."""
    return await request.app[MODEL_SERVER].models(request, agent_id, Api.OPENAI)


@routes.get(f"{OPENAI}/v1/models/{{model}}", **_OPENAI_REST)
async def get_openai_model(
    request: web.Request, agent_id: UUID, model: str
) -> web.StreamResponse:
    """Return a model that the agent can call, as OpenAI does."""
    server = request.app[MODEL_SERVER]
    return await server.model(request, agent_id, Api.OPENAI, model)


@routes.post(f"{ANTHROPIC}/v1/messages", **_ANTHROPIC)
async def post_messages(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Forward a call of Anthropic's messages."""
    return await request.app[MODEL_SERVER].answer(request, agent_id, MESSAGES)


@routes.post(f"{ANTHROPIC}/v1/messages/count_tokens", **_ANTHROPIC)
async def post_count_tokens(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Have a provider count the tokens of a request for a message."""
    server = request.app[MODEL_SERVER]
    return await server.answer(request, agent_id, MESSAGES_COUNT_TOKENS)


@routes.get(f"{ANTHROPIC}/v1/models", **_ANTHROPIC_READ)
async def get_anthropic_models(
    request: web.Request, agent_id: UUID
) -> web.StreamResponse:
    """List the models that the agent can call, as Anthropic does."""
    return await request.app[MODEL_SERVER].models(request, agent_id, Api.ANTHROPIC)


@routes.get(f"{ANTHROPIC}/v1/models/{{model}}", **_ANTHROPIC_REST)
async def get_anthropic_model(
    request: web.Request, agent_id: UUID, model: str
) -> web.StreamResponse:
    """Return a model that the agent can call, as Anthropic does."""
    server = request.app[MODEL_SERVER]
    return await server.model(request, agent_id, Api.ANTHROPIC, model)


# Clients look whether there is a server, some at the base URL, and without a token.
@routes.get(OPENAI, **_OPENAI_READ)
@routes.get(ANTHROPIC, **_ANTHROPIC_READ)
async def get_model_gateway(_request: web.Request, agent_id: UUID) -> web.Response:  # noqa: ARG001 # the same for each
    """Say that there is a model gateway."""
    return web.json_response({"service": "agent-runtime model gateway"})


@routes.get(f"{OPENAI}/{{path}}", **_OPENAI_REST)
@routes.get(f"{ANTHROPIC}/{{path}}", **_ANTHROPIC_REST)
async def get_other_path(
    request: web.Request, agent_id: UUID, path: str
) -> web.Response:
    """Refuse what the model gateway doesn't forward, unless it is a base URL."""
    if path.rstrip("/") in ("", "v1"):
        return await get_model_gateway(request, agent_id)
    return await request.app[MODEL_SERVER].refuse_path(request, agent_id)


_OPENAI_OTHER: Final = _options(Api.OPENAI, takes_body=True, takes_rest=True)
_ANTHROPIC_OTHER: Final = _options(Api.ANTHROPIC, takes_body=True, takes_rest=True)


@routes.post(f"{OPENAI}/{{path}}", **_OPENAI_OTHER)
@routes.post(f"{ANTHROPIC}/{{path}}", **_ANTHROPIC_OTHER)
async def post_other_path(
    request: web.Request,
    agent_id: UUID,
    path: str,  # noqa: ARG001 # any other
) -> NoReturn:
    """Refuse what the model gateway doesn't forward."""
    await request.app[MODEL_SERVER].refuse_path(request, agent_id)
