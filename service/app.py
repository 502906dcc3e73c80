"""The composition root of HTTP: every operation, and what they share."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from projections.agents.routes import routes as agent_reads
from projections.audit.history.access_routes import routes as audit_access
from projections.audit.history.routes import routes as audit_history
from projections.audit.proofs.routes import routes as audit_proofs
from projections.audit.trail.live_routes import routes as audit_stream
from projections.audit.trail.routes import routes as audit_reads
from projections.connectors.queries import held_connectors
from projections.connectors.routes import routes as connector_reads
from projections.gateway.history import RecordedHistory
from projections.gateway.queries import overdue_approvals
from projections.gateway.routes import routes as call_reads
from projections.health.routes import HEALTH, Health
from projections.health.routes import routes as probes
from projections.price_catalog.cache import CATALOG_CACHE, CatalogCache
from projections.price_catalog.history_routes import routes as price_history
from projections.price_catalog.routes import routes as price_reads
from projections.relay.routes import routes as event_documents
from projections.secrets.routes import routes as secret_reads
from projections.sessions.phoenix.store import PhoenixStore
from projections.sessions.repricing_queries import recorded_turns
from projections.sessions.routes import routes as session_reads
from projections.sessions.trace_store import TRACES, Traces
from projections.sessions.turn_routes import routes as turn_reads
from projections.tool_rules.routes import routes as tool_rule_reads
from projections.usage.routes import routes as usage_reads
from projections.users.routes import routes as user_reads
from service.agents.routes import routes as agent_commands
from service.audit.refusals import RefusalRecorder, recording_refusals
from service.audit.text_readings import TEXT_READINGS, TextReadings
from service.connectors.gateway_routes import routes as connector_gateway
from service.connectors.grant_routes import routes as grant_commands
from service.connectors.ownership_routes import routes as ownership_commands
from service.connectors.routes import routes as connector_commands
from service.console.codes import SignInCodes
from service.console.routes import SIGN_IN_CODES
from service.console.routes import routes as console
from service.follower_process import FollowerProcess
from service.gateway.approvals.routes import routes as approval_commands
from service.gateway.definitions.routes import routes as definition_commands
from service.gateway.endpoint.routes import routes as agent_endpoints
from service.gateway.gate import GATE
from service.gateway.serving import GatewaySettings, serving_agents
from service.gateway.tokens.routes import routes as agent_token_commands
from service.gateway.tool_gate import ToolGate
from service.http.app_keys import EVENT_LOG, KEY_RING, VAULT
from service.http.authentication import AUTHENTICATOR, THROTTLE
from service.http.body import BODY_BYTES_MAX
from service.http.middleware import edge
from service.http.openapi.document import ApiDocument
from service.http.openapi.routes import API_DOCUMENT
from service.http.openapi.routes import routes as api_documents
from service.http.operation import Operation, add_operations
from service.http.own_writes import OWN_WRITES, OwnWrites
from service.http.read_server import READ_SERVERS, READS_ONLY
from service.http.refusals import REFUSALS
from service.http.request_spans import tracing_requests
from service.http.server import DRAINING, Draining
from service.http.streaming import STREAMS, Streams
from service.http.throttle import Throttle
from service.price_catalog.imports.routes import IMPORT_RESOURCES
from service.price_catalog.imports.routes import routes as price_imports
from service.price_catalog.routes import routes as price_commands
from service.resources import Resources
from service.secrets.routes import routes as secret_commands
from service.sessions.otlp.ingest import Ingest
from service.sessions.otlp.routes import INGEST, deleting_old_traces
from service.sessions.otlp.routes import routes as trace_ingest
from service.sessions.repricing_routes import RECORDED_TURNS
from service.sessions.repricing_routes import routes as repricing_commands
from service.sessions.routes import routes as session_commands
from service.tool_rules.call_history import CALL_HISTORY
from service.tool_rules.preview_routes import routes as tool_rule_previews
from service.tool_rules.removal_routes import routes as tool_rule_removals
from service.tool_rules.restore_routes import routes as tool_rule_restores
from service.tool_rules.routes import routes as tool_rule_commands
from service.users.key_routes import routes as key_commands
from service.users.routes import routes as user_commands
from service.users.token_routes import routes as token_commands

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing


def operations() -> list[Operation]:
    """Return every operation of the API, in the order of the documentation."""
    return [
        operation
        for routes in (
            user_commands,
            token_commands,
            user_reads,
            agent_commands,
            agent_reads,
            connector_commands,
            ownership_commands,
            grant_commands,
            connector_gateway,
            definition_commands,
            agent_token_commands,
            approval_commands,
            call_reads,
            connector_reads,
            tool_rule_commands,
            tool_rule_previews,
            tool_rule_restores,
            tool_rule_removals,
            tool_rule_reads,
            secret_commands,
            secret_reads,
            key_commands,
            session_commands,
            trace_ingest,
            session_reads,
            turn_reads,
            usage_reads,
            price_commands,
            price_imports,
            repricing_commands,
            price_reads,
            price_history,
            audit_reads,
            audit_stream,
            audit_history,
            audit_access,
            audit_proofs,
            api_documents,
            event_documents,
            console,
            agent_endpoints,
            probes,
        )
        for operation in routes.operations
    ]


def create_app(
    resources: Resources,
    *,
    probes_only: bool = False,
    reads_only: bool = False,
    phoenix: PhoenixStore | None = None,
    follower_process: FollowerProcess | None = None,
    gateway: GatewaySettings | None = None,
    traces: "Tracing | None" = None,
) -> web.Application:
    """Wire the operations to what a process holds open.

    ``probes_only``: for a process without the API, which still answers probes.
    ``reads_only``: commands are refused. ``phoenix`` enriches lists of sessions.
    ``follower_process`` is the one that this process has started, if any. With
    ``traces`` requests and tool calls have spans.
    """
    middlewares = [edge] if traces is None else [tracing_requests(traces), edge]
    app = web.Application(middlewares=middlewares, client_max_size=BODY_BYTES_MAX)
    app[READS_ONLY] = reads_only
    app[READ_SERVERS] = resources.reads
    app[IMPORT_RESOURCES] = resources
    app[DRAINING] = Draining()
    app[HEALTH] = Health(resources.pool, follower_process)
    app[CATALOG_CACHE] = CatalogCache()
    app[EVENT_LOG] = resources.log
    app[KEY_RING] = resources.key_ring
    app[VAULT] = resources.vault
    app[TRACES] = Traces(phoenix)
    if phoenix is not None:
        app[HEALTH].trace_store_is_available = lambda: phoenix.is_available
    app[RECORDED_TURNS] = recorded_turns
    app[INGEST] = Ingest(resources.log, resources.pool, resources.vault)
    app[GATE] = gate = ToolGate(
        resources.log,
        resources.key_ring,
        resources.vault,
        held_connectors=partial(held_connectors, resources.pool),
        overdue_approvals=partial(overdue_approvals, resources.pool),
    )
    app[CALL_HISTORY] = RecordedHistory(resources.log, resources.pool)
    app[REFUSALS] = RefusalRecorder(resources.log)
    app[TEXT_READINGS] = TextReadings()
    if not probes_only:
        app.cleanup_ctx.append(deleting_old_traces)
        app.cleanup_ctx.append(recording_refusals)
        app.cleanup_ctx.append(gate.running)
        app.cleanup_ctx.append(
            serving_agents(
                resources.conninfo,
                resources.key_ring.request_state_mac,
                gateway or GatewaySettings(),
                traces,
            )
        )
    app[SIGN_IN_CODES] = SignInCodes()
    app[AUTHENTICATOR] = resources.authenticator
    app[THROTTLE] = Throttle()
    app[OWN_WRITES] = OwnWrites()
    app[STREAMS] = Streams()
    app.on_shutdown.append(app[STREAMS].close)
    served: Sequence[Operation] = probes.operations if probes_only else operations()
    app[API_DOCUMENT] = ApiDocument(
        [operation for operation in served if operation.documented]
    )
    add_operations(app, served)
    return app
