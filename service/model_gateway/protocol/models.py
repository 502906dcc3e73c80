"""Lists of models in the shapes of two APIs."""

from collections.abc import Sequence
from typing import Any

from service.model_gateway.calls.listing import CallableModel
from service.model_gateway.protocol.endpoints import Api


def model_document(api: Api, model: CallableModel) -> dict[str, Any]:
    if api is Api.ANTHROPIC:
        return {
            "type": "model",
            "id": model.name,
            "display_name": model.name,
            "created_at": model.routed_at,
        }
    return {
        "id": model.name,
        "object": "model",
        "created": int(model.routed_at.timestamp()),
        "owned_by": model.provider,
    }


def models_document(api: Api, models: Sequence[CallableModel]) -> dict[str, Any]:
    """Return all models on one page."""
    found = [model_document(api, each) for each in models]
    if api is Api.OPENAI:
        return {"object": "list", "data": found}
    return {
        "data": found,
        "has_more": False,
        "first_id": found[0]["id"] if found else None,
        "last_id": found[-1]["id"] if found else None,
    }
