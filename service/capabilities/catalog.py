"""Every capability of the service."""

from typing import Final

from service.capabilities.agents import AGENTS
from service.capabilities.api_documents import API_DOCUMENTS
from service.capabilities.audit import AUDIT
from service.capabilities.connectors import CONNECTORS
from service.capabilities.console import CONSOLE
from service.capabilities.declaration import Capability
from service.capabilities.destruction import DESTRUCTION
from service.capabilities.gateway import GATEWAY
from service.capabilities.health import HEALTH_PROBES
from service.capabilities.price_catalog import PRICE_CATALOG
from service.capabilities.relay import RELAY
from service.capabilities.secrets import SECRETS
from service.capabilities.sessions import SESSIONS
from service.capabilities.tool_rules import TOOL_RULES
from service.capabilities.usage import USAGE
from service.capabilities.users import USERS

CAPABILITIES: Final[tuple[Capability, ...]] = (
    USERS,
    AGENTS,
    CONNECTORS,
    GATEWAY,
    TOOL_RULES,
    SECRETS,
    DESTRUCTION,
    SESSIONS,
    USAGE,
    PRICE_CATALOG,
    AUDIT,
    API_DOCUMENTS,
    RELAY,
    CONSOLE,
    HEALTH_PROBES,
)
"""In the order of the API's documentation. Application tasks start from the last to
the first, and end in the opposite order: the gateway ends before the recorder of
refusals does."""
