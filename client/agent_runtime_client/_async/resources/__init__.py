"""The areas of the API. Made by ``make generated``; do not edit."""

from functools import cached_property

from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.resources.agents import AsyncAgentsResource
from agent_runtime_client._async.resources.approvals import AsyncApprovalsResource
from agent_runtime_client._async.resources.audit import AsyncAuditResource
from agent_runtime_client._async.resources.calls import AsyncCallsResource
from agent_runtime_client._async.resources.connectors import AsyncConnectorsResource
from agent_runtime_client._async.resources.contracts import AsyncContractsResource
from agent_runtime_client._async.resources.model_calls import AsyncModelCallsResource
from agent_runtime_client._async.resources.model_connections import (
    AsyncModelConnectionsResource,
)
from agent_runtime_client._async.resources.model_routing import (
    AsyncModelRoutingResource,
)
from agent_runtime_client._async.resources.presets import AsyncPresetsResource
from agent_runtime_client._async.resources.prices import AsyncPricesResource
from agent_runtime_client._async.resources.secrets import AsyncSecretsResource
from agent_runtime_client._async.resources.service import AsyncServiceResource
from agent_runtime_client._async.resources.sessions import AsyncSessionsResource
from agent_runtime_client._async.resources.tiers import AsyncTiersResource
from agent_runtime_client._async.resources.tool_rules import AsyncToolRulesResource
from agent_runtime_client._async.resources.usage import AsyncUsageResource
from agent_runtime_client._async.resources.users import AsyncUsersResource


class AsyncResources:
    """The areas as attributes."""

    _caller: AsyncCaller

    @cached_property
    def agents(self) -> AsyncAgentsResource:
        return AsyncAgentsResource(self._caller)

    @cached_property
    def approvals(self) -> AsyncApprovalsResource:
        return AsyncApprovalsResource(self._caller)

    @cached_property
    def audit(self) -> AsyncAuditResource:
        return AsyncAuditResource(self._caller)

    @cached_property
    def calls(self) -> AsyncCallsResource:
        return AsyncCallsResource(self._caller)

    @cached_property
    def connectors(self) -> AsyncConnectorsResource:
        return AsyncConnectorsResource(self._caller)

    @cached_property
    def contracts(self) -> AsyncContractsResource:
        return AsyncContractsResource(self._caller)

    @cached_property
    def model_calls(self) -> AsyncModelCallsResource:
        return AsyncModelCallsResource(self._caller)

    @cached_property
    def model_connections(self) -> AsyncModelConnectionsResource:
        return AsyncModelConnectionsResource(self._caller)

    @cached_property
    def model_routing(self) -> AsyncModelRoutingResource:
        return AsyncModelRoutingResource(self._caller)

    @cached_property
    def presets(self) -> AsyncPresetsResource:
        return AsyncPresetsResource(self._caller)

    @cached_property
    def prices(self) -> AsyncPricesResource:
        return AsyncPricesResource(self._caller)

    @cached_property
    def secrets(self) -> AsyncSecretsResource:
        return AsyncSecretsResource(self._caller)

    @cached_property
    def service(self) -> AsyncServiceResource:
        return AsyncServiceResource(self._caller)

    @cached_property
    def sessions(self) -> AsyncSessionsResource:
        return AsyncSessionsResource(self._caller)

    @cached_property
    def tiers(self) -> AsyncTiersResource:
        return AsyncTiersResource(self._caller)

    @cached_property
    def tool_rules(self) -> AsyncToolRulesResource:
        return AsyncToolRulesResource(self._caller)

    @cached_property
    def usage(self) -> AsyncUsageResource:
        return AsyncUsageResource(self._caller)

    @cached_property
    def users(self) -> AsyncUsersResource:
        return AsyncUsersResource(self._caller)
