"""The areas of the API. Made by ``make generated``; do not edit."""
# Made by "make generated"; do not edit.

from functools import cached_property

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.resources.agents import AgentsResource
from agent_runtime_client._sync.resources.approvals import ApprovalsResource
from agent_runtime_client._sync.resources.audit import AuditResource
from agent_runtime_client._sync.resources.calls import CallsResource
from agent_runtime_client._sync.resources.connectors import ConnectorsResource
from agent_runtime_client._sync.resources.contracts import ContractsResource
from agent_runtime_client._sync.resources.model_calls import ModelCallsResource
from agent_runtime_client._sync.resources.model_connections import (
    ModelConnectionsResource,
)
from agent_runtime_client._sync.resources.model_routing import (
    ModelRoutingResource,
)
from agent_runtime_client._sync.resources.presets import PresetsResource
from agent_runtime_client._sync.resources.prices import PricesResource
from agent_runtime_client._sync.resources.secrets import SecretsResource
from agent_runtime_client._sync.resources.service import ServiceResource
from agent_runtime_client._sync.resources.sessions import SessionsResource
from agent_runtime_client._sync.resources.tiers import TiersResource
from agent_runtime_client._sync.resources.tool_rules import ToolRulesResource
from agent_runtime_client._sync.resources.usage import UsageResource
from agent_runtime_client._sync.resources.users import UsersResource


class Resources:
    """The areas as attributes."""

    _caller: Caller

    @cached_property
    def agents(self) -> AgentsResource:
        return AgentsResource(self._caller)

    @cached_property
    def approvals(self) -> ApprovalsResource:
        return ApprovalsResource(self._caller)

    @cached_property
    def audit(self) -> AuditResource:
        return AuditResource(self._caller)

    @cached_property
    def calls(self) -> CallsResource:
        return CallsResource(self._caller)

    @cached_property
    def connectors(self) -> ConnectorsResource:
        return ConnectorsResource(self._caller)

    @cached_property
    def contracts(self) -> ContractsResource:
        return ContractsResource(self._caller)

    @cached_property
    def model_calls(self) -> ModelCallsResource:
        return ModelCallsResource(self._caller)

    @cached_property
    def model_connections(self) -> ModelConnectionsResource:
        return ModelConnectionsResource(self._caller)

    @cached_property
    def model_routing(self) -> ModelRoutingResource:
        return ModelRoutingResource(self._caller)

    @cached_property
    def presets(self) -> PresetsResource:
        return PresetsResource(self._caller)

    @cached_property
    def prices(self) -> PricesResource:
        return PricesResource(self._caller)

    @cached_property
    def secrets(self) -> SecretsResource:
        return SecretsResource(self._caller)

    @cached_property
    def service(self) -> ServiceResource:
        return ServiceResource(self._caller)

    @cached_property
    def sessions(self) -> SessionsResource:
        return SessionsResource(self._caller)

    @cached_property
    def tiers(self) -> TiersResource:
        return TiersResource(self._caller)

    @cached_property
    def tool_rules(self) -> ToolRulesResource:
        return ToolRulesResource(self._caller)

    @cached_property
    def usage(self) -> UsageResource:
        return UsageResource(self._caller)

    @cached_property
    def users(self) -> UsersResource:
        return UsersResource(self._caller)
