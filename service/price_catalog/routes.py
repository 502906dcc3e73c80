"""The price catalog's commands over HTTP."""

from http.client import CREATED
from urllib.parse import urlencode
from uuid import UUID

from aiohttp import web

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.price_catalog.bodies import NewPrice, NewProvider, PriceBody, PriceEnd
from service.price_catalog.commands import (
    AddProvider,
    ChangedPrice,
    CorrectPrice,
    EndPrice,
    SetPrice,
    add_provider,
    correct_price,
    end_price,
    set_price,
)
from service.price_catalog.provider import Provider
from service.price_catalog.resource import (
    PricedModelResource,
    ProviderResource,
    priced_model_resource,
    provider_resource,
)

routes = Routes("llm-router", "Providers, models and their prices over time.")


@routes.post(
    "/api/llm-router/providers",
    answers={
        201: "provider added",
        200: "provider was already added",
        403: "the caller is not a superuser",
        409: "the key is taken by a provider of another name (`provider_key_taken`)",
    },
    body_example={"key": "acme", "display_name": "Acme"},
)
async def post_provider(
    request: web.Request, body: NewProvider
) -> Answer[ProviderResource]:
    """Add a provider.

    Its key can't be changed later. It is listed once one of its models has a price.
    """

    def present(result: tuple[Provider, bool]) -> Answer[ProviderResource]:
        provider, is_new = result
        return Answer(
            status=201 if is_new else 200,
            message="provider added" if is_new else "provider was already added",
            data=provider_resource(provider),
            etag=provider.version,
            headers={"Location": "/api/llm-router/providers"} if is_new else {},
        )

    return await dispatch(
        request,
        add_provider,
        AddProvider(key=body.key, display_name=body.display_name),
        present,
    )


@routes.post(
    "/api/llm-router/prices",
    answers={
        201: "price set",
        200: "price was already set",
        403: "the caller is not a superuser",
        404: "no such provider",
        409: "the time is taken by another price of this model (`price_overlap`), or "
        "it has the maximum number of periods (`too_many_periods`)",
    },
    if_match=True,
    body_example={
        "provider": "acme",
        "model": "swift-1",
        "input_price_per_1m": 2.5,
        "output_price_per_1m": 10,
        "effective_from": "2027-01-01T00:00:00Z",
    },
)
async def post_price(
    request: web.Request, body: NewPrice
) -> Answer[PricedModelResource]:
    """Set the price of a model for a period.

    The period is half-open and starts now by default; without an end it is open. An
    earlier open period ends where the new one starts. A future price takes effect
    automatically. If-Match is the model's version.
    """
    return await dispatch(
        request,
        set_price,
        SetPrice(
            provider=body.provider,
            model=body.model,
            price=body.price,
            effective_from=body.effective_from,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(
            outcome, "price set", "price was already set", created=True
        ),
    )


@routes.post(
    "/api/llm-router/models/{model_id}/prices/{price_version}/end",
    answers={
        200: "price ended, or price had this end already",
        403: "the caller is not a superuser",
        404: "no such model, or it has no such price",
        409: "the end isn't within the price's period (`price_overlap`)",
    },
    if_match=True,
    body_example={"effective_until": "2027-06-01T00:00:00Z"},
)
async def post_price_end(
    request: web.Request, model_id: UUID, price_version: int, body: PriceEnd
) -> Answer[PricedModelResource]:
    """End a price.

    It ends now by default, or at `effective_until`, past or future. A price that
    ends where it starts is never effective: this withdraws a future price.
    """
    return await dispatch(
        request,
        end_price,
        EndPrice(
            model_id=model_id,
            price_version=price_version,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(outcome, "price ended", "price had this end already"),
    )


@routes.post(
    "/api/llm-router/models/{model_id}/prices/{price_version}/corrections",
    answers={
        201: "price corrected",
        200: "price already had these values",
        403: "the caller is not a superuser",
        404: "no such model, or it has no such price",
        409: "the time isn't within one period of the price (`price_overlap`), or the "
        "model has the maximum number of periods (`too_many_periods`)",
    },
    if_match=True,
    body_example={"input_price_per_1m": 2, "output_price_per_1m": 8},
)
async def post_price_correction(
    request: web.Request, model_id: UUID, price_version: int, body: PriceBody
) -> Answer[PricedModelResource]:
    """Correct a price.

    State the actual price, for the whole period or for the part between the bounds. The
    earlier record can still be read with `at`.
    """
    return await dispatch(
        request,
        correct_price,
        CorrectPrice(
            model_id=model_id,
            price_version=price_version,
            price=body.price,
            effective_from=body.effective_from,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(
            outcome, "price corrected", "price already had these values", created=True
        ),
    )


def _answer(
    outcome: ChangedPrice, changed: str, unchanged: str, *, created: bool = False
) -> Answer[PricedModelResource]:
    pricing = outcome.pricing
    status = CREATED if created and outcome.changed else 200
    query = urlencode({"provider": pricing.provider_key, "model": pricing.model})
    return Answer(
        status=status,
        message=changed if outcome.changed else unchanged,
        data=priced_model_resource(pricing, outcome.period),
        etag=pricing.version,
        headers=(
            {"Location": f"/api/llm-router/prices?{query}"} if status == CREATED else {}
        ),
    )
