"""The commands on contracts with providers over HTTP."""

from http.client import CREATED
from urllib.parse import urlencode
from uuid import UUID

from aiohttp import web

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.price_catalog.bodies import PriceEnd
from service.price_catalog.contract_bodies import ContractBody, NewContract
from service.price_catalog.contract_commands import (
    ChangedContract,
    CorrectContract,
    EndContract,
    SetContract,
    correct_contract,
    end_contract,
    set_contract,
)
from service.price_catalog.contract_resource import (
    ContractResource,
    contract_resource,
)

routes = Routes("llm-router")


@routes.post(
    "/api/llm-router/contracts",
    answers={
        201: "contract price set",
        200: "contract price was already set",
        403: "the caller is not a superuser",
        404: "no such provider, or it lists no such model",
        409: "the time is taken by another contract price (`price_overlap`), or the "
        "provider has the maximum number of periods (`too_many_periods`)",
        422: "neither a discount nor a price, or a price for all models",
    },
    if_match=True,
    body_example={
        "provider": "acme",
        "model": "swift-1",
        "discount_percent": 12.5,
        "output_price_per_1m": 7.5,
        "effective_from": "2027-01-01T00:00:00Z",
    },
)
async def post_contract(
    request: web.Request, body: NewContract
) -> Answer[ContractResource]:
    """Set a contract price: a discount, prices of one's own, or both.

    For a model of a provider, or without `model` a discount on all of them. Model calls
    that start in the period are charged by it: at the prices it fixes, and for
    everything else at the list price less the discount. A contract for the model comes
    before one for all models, whose discount counts if the former states none. The
    period is half-open and starts now by default; an earlier open one ends where it
    starts. Recorded costs stay until they are repriced. If-Match is the provider's
    version.
    """
    return await dispatch(
        request,
        set_contract,
        SetContract(
            provider=body.provider,
            model=body.model,
            terms=body.terms,
            effective_from=body.effective_from,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(
            outcome,
            "contract price set",
            "contract price was already set",
            created=True,
        ),
    )


@routes.post(
    "/api/llm-router/contracts/{provider_id}/prices/{price_version}/end",
    answers={
        200: "contract price ended, or had this end already",
        403: "the caller is not a superuser",
        404: "no such provider or contract price",
        409: "the end isn't within the period (`price_overlap`)",
    },
    if_match=True,
    body_example={"effective_until": "2027-06-01T00:00:00Z"},
)
async def post_contract_end(
    request: web.Request, provider_id: UUID, price_version: int, body: PriceEnd
) -> Answer[ContractResource]:
    """End a contract price.

    It ends now by default, or at `effective_until`, past or future. One that ends
    where it starts is never effective: this withdraws a future contract price.
    """
    return await dispatch(
        request,
        end_contract,
        EndContract(
            provider_id=provider_id,
            price_version=price_version,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(
            outcome, "contract price ended", "contract price had this end already"
        ),
    )


@routes.post(
    "/api/llm-router/contracts/{provider_id}/prices/{price_version}/corrections",
    answers={
        201: "contract price corrected",
        200: "contract price already had these terms",
        403: "the caller is not a superuser",
        404: "no such provider or contract price",
        409: "the time isn't within one period of the contract price "
        "(`price_overlap`), or the provider has the maximum number of periods "
        "(`too_many_periods`)",
        422: "neither a discount nor a price, or a price for all models",
    },
    if_match=True,
    body_example={"discount_percent": 15},
)
async def post_contract_correction(
    request: web.Request, provider_id: UUID, price_version: int, body: ContractBody
) -> Answer[ContractResource]:
    """Correct a contract price.

    State the actual terms, for the whole period or for the part between the bounds. The
    earlier record can still be read with `at`.
    """
    return await dispatch(
        request,
        correct_contract,
        CorrectContract(
            provider_id=provider_id,
            price_version=price_version,
            terms=body.terms,
            effective_from=body.effective_from,
            effective_until=body.effective_until,
        ),
        lambda outcome: _answer(
            outcome,
            "contract price corrected",
            "contract price already had these terms",
            created=True,
        ),
    )


def _answer(
    outcome: ChangedContract, changed: str, unchanged: str, *, created: bool = False
) -> Answer[ContractResource]:
    provider = outcome.provider
    status = CREATED if created and outcome.changed else 200
    query = urlencode({"provider": provider.key})
    return Answer(
        status=status,
        message=changed if outcome.changed else unchanged,
        data=contract_resource(outcome),
        etag=provider.version,
        headers=(
            {"Location": f"/api/llm-router/contracts?{query}"}
            if status == CREATED
            else {}
        ),
    )
