"""The registry of tiers over HTTP: replacing, previewing and restoring it."""

from aiohttp import web
from typing_extensions import TypedDict

from service.http.app_keys import EVENT_LOG
from service.http.as_of import Moment
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.replays import BUSY, turn_of
from service.http.requests import if_match
from service.model_gateway.routed_agents import (
    ROUTED_AGENTS,
    ROUTED_MAX,
    RoutedAgent,
)
from service.model_gateway.tiers.aggregate import ModelTiers
from service.model_gateway.tiers.body import TiersBody
from service.model_gateway.tiers.commands import (
    ReplacedTiers,
    ReplaceTiers,
    RestoreTiers,
    decide_replacement,
    replace_tiers,
    restore_tiers,
)
from service.model_gateway.tiers.resource import (
    ReplacedTierRegistry,
    TierChange,
    tier_changes,
)

PREVIEWS = RateLimit(burst=20, interval_s=1.0)
NOT_SUPERUSER = "the caller is not a superuser"
EXAMPLE = {"tiers": {"fast": "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11"}}

routes = Routes("llm-router")


class PreviewedTiers(TypedDict):
    """What a replacement would do; ``version`` is the current one, for If-Match.

    ``agents`` have routes to a tier that changes and no preset of their own for it, the
    first of them where there are more: then `is_complete` is false.
    """

    version: int
    changes: list[TierChange]
    agents: list[RoutedAgent]
    is_complete: bool


class RestoredTiers(ReplacedTierRegistry):
    """The registry after the restore, and the log position that it is restored from.

    ``left_out`` are tiers of then whose presets have been retired since.
    """

    position: int
    left_out: list[str]


@routes.put(
    "/api/llm-router/tiers",
    answers={
        200: "tiers replaced, or registry already had these tiers",
        403: NOT_SUPERUSER,
        422: "a tier names no preset (`unknown_preset`)",
    },
    if_match=True,
    body_example=EXAMPLE,
)
async def put_tiers(
    request: web.Request, body: TiersBody
) -> Answer[ReplacedTierRegistry]:
    """Replace the registry of tiers.

    Requires the role `superuser`. Holds for all agents whose routing names a tier and
    says nothing else for it. A preset that isn't public must be granted to an agent as
    well, or the agent can't call it.
    """

    def present(replaced: ReplacedTiers) -> Answer[ReplacedTierRegistry]:
        return Answer(
            message=(
                "tiers replaced"
                if replaced.changed
                else "registry already had these tiers"
            ),
            data=_replaced(replaced),
            etag=replaced.version,
        )

    command = ReplaceTiers(tiers=body.presets)
    return await dispatch(request, replace_tiers, command, present)


@routes.post(
    "/api/llm-router/tiers/preview",
    answers={
        200: "preview of the tiers; nothing was changed",
        403: NOT_SUPERUSER,
        422: "a tier names no preset (`unknown_preset`)",
    },
    if_match=True,
    min_position=True,
    rate_limit=PREVIEWS,
    body_example=EXAMPLE,
)
async def post_tiers_preview(
    request: web.Request, body: TiersBody
) -> Answer[PreviewedTiers]:
    """Preview a replacement of the registry of tiers; nothing is changed.

    Says which tiers would change, and which agents are routed to them.
    """
    replaced, _ = await execute_for(
        request,
        decide_replacement,
        ReplaceTiers(tiers=body.presets),
        if_match=if_match(request),
    )
    registry = replaced.registry
    version = registry.version - len(registry.pending_events)
    agents = await request.app[ROUTED_AGENTS].to_tiers(request, [*replaced.changed])
    data: PreviewedTiers = {
        "version": version,
        "changes": tier_changes(replaced.before, replaced.changed),
        "agents": [each.agent for each in agents[:ROUTED_MAX]],
        "is_complete": len(agents) <= ROUTED_MAX,
    }
    message = "preview of the tiers; nothing was changed"
    return Answer(message=message, data=data, etag=version)


@routes.post(
    "/api/llm-router/tiers/restore",
    answers={
        200: "tiers restored, or registry already had these tiers",
        403: NOT_SUPERUSER,
        422: "a position beyond the end of the log",
        **BUSY,
    },
    if_match=True,
    body_example={"at": 42},
)
async def post_tiers_restore(
    request: web.Request, body: Moment
) -> Answer[RestoredTiers]:
    """Restore the registry of tiers of an earlier position or time.

    Requires the role `superuser`. Recorded as a new change; tiers added since are gone.
    """
    # What was is the same at each attempt.
    async with turn_of(request):
        log = request.config_dict[EVENT_LOG]
        then, position = await log.load_past(ModelTiers.create_id(), body.at)
    tiers = then.tiers if isinstance(then, ModelTiers) else {}

    def present(replaced: ReplacedTiers) -> Answer[RestoredTiers]:
        return Answer(
            message=(
                "tiers restored"
                if replaced.changed
                else "registry already had these tiers"
            ),
            data={
                **_replaced(replaced),
                "position": position,
                "left_out": [*replaced.left_out],
            },
            etag=replaced.version,
        )

    return await dispatch(request, restore_tiers, RestoreTiers(tiers=tiers), present)


def _replaced(replaced: ReplacedTiers) -> ReplacedTierRegistry:
    return {
        "version": replaced.version,
        "tiers": replaced.registry.tiers,
        "changes": tier_changes(replaced.before, replaced.changed),
    }
