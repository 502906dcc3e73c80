"""Connectors, their publication and their grants."""
# Made by "make generated"; do not edit.

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    AcceptedDefinitions,
    ChangedConnector,
    Connector,
    ConnectorList,
    ConnectorWithGrants,
    Definitions,
    GrantResource,
    Health,
    HealthState,
    ListedConnector,
    RuleOnConnector,
    RulesOnConnector,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class ConnectorsResource:
    """Connectors, their publication and their grants."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        name: str,
        url: str,
        *,
        description: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Register a connector.

        The caller becomes its owner. It is private until its owner makes it public. The
        service asks its URL for its tools within seconds, once.

        :param url: An http or https URL without credentials.
        :param description: What it is for, in a few words.
        """
        return self._caller.model(
            operations.POST_CONNECTOR,
            Connector,
            body={"name": name, "url": url, "description": description},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
        scope: Literal["owned", "granted", "offered", "public"] | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        health: HealthState | NotGiven = NOT_GIVEN,
    ) -> Pages[ListedConnector, ConnectorList]:
        """List the connectors that the caller can see, by id.

        These are the caller's own, public ones, those offered to the caller, and those
        granted or offered to agents that the caller manages; superusers and auditors
        see all. ``scope`` limits the list to one of these kinds, ``agent_id`` to those
        granted or offered to one agent, ``health`` to those whose tools can be listed,
        or can't.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        :param scope: Connectors that the caller owns, or that are granted, offered or
            public.
        :param agent_id: Limits the list to this agent.
        :param health: Connectors whose tools could be listed at the last attempt, or
            not.
        """
        return Pages(
            self._caller,
            operations.GET_CONNECTORS,
            ConnectorList,
            Paging("connectors", "after", cursor=("end_cursor",), more=()),
            query={
                "limit": limit,
                "after": after,
                "scope": scope,
                "agent_id": agent_id,
                "health": health,
            },
        )

    def change(
        self,
        connector_id: UUID | str,
        *,
        name: str,
        url: str,
        description: str,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ChangedConnector:
        """Change a connector's name, URL and description.

        Its grants, rules and publication remain, also if the URL changes: agents that
        hold a connector trust its owner. Another URL is asked for its tools within
        seconds. Without a slug of its own, agents see its tools under other names when
        the name changes: `warnings` says so.

        :param url: An http or https URL without credentials.
        :param description: What it is for, in a few words.
        """
        return self._caller.model(
            operations.PUT_CONNECTOR,
            ChangedConnector,
            path={"id": connector_id},
            body={"name": name, "url": url, "description": description},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retire(
        self,
        connector_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Retire a connector.

        This can't be undone: all grants end and the connector can't be found any more.
        Its history is kept.
        """
        return self._caller.model(
            operations.DELETE_CONNECTOR,
            Connector,
            path={"id": connector_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def get(
        self, connector_id: UUID | str, *, at: int | datetime | NotGiven = NOT_GIVEN
    ) -> ConnectorWithGrants:
        """Get a connector, now or as of an earlier position or time.

        ``grants`` lists all grants and offers for the owner, superusers and auditors,
        and for others those of agents that they manage. Access is decided by current
        rights, also for the past. Only the owner, superusers and auditors see the past
        of a retired connector.

        :param at: A log position or a time: answer as of then.
        """
        return self._caller.model(
            operations.GET_CONNECTOR,
            ConnectorWithGrants,
            path={"id": connector_id},
            query={"at": at},
        )

    def make_public(
        self,
        connector_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Make a connector public.

        Shares the definition with all users, never credentials. Can be repeated safely,
        by its owner and superusers: others who see it are refused also when it is
        public.
        """
        return self._caller.model(
            operations.POST_PUBLIC_GRANT,
            Connector,
            path={"id": connector_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def make_private(
        self,
        connector_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Make a connector private.

        Existing grants to agents remain. Can be repeated safely.
        """
        return self._caller.model(
            operations.DELETE_PUBLIC_GRANT,
            Connector,
            path={"id": connector_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def add_owner(
        self,
        connector_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Hand a connector over to another owner.

        Its owner offers it, which replaces an earlier offer; the user accepts by the
        same call. A superuser hands it over at once. Grants, rules and publication
        remain. The new owner's secret is sent only for grants that they, or a
        superuser, make or repeat.
        """
        return self._caller.model(
            operations.PUT_CONNECTOR_OWNER,
            Connector,
            path={"id": connector_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def remove_owner(
        self,
        connector_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Withdraw or decline the offer of a connector.

        For its owner, superusers, and the user to whom it is offered.
        """
        return self._caller.model(
            operations.DELETE_CONNECTOR_OWNER_OFFER,
            Connector,
            path={"id": connector_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def grant(
        self,
        connector_id: UUID | str,
        agent_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> GrantResource:
        """Grant a connector to an agent.

        A grant needs two consents: that of the connector, given by its owner, by a
        superuser or by being public, and that of the agent, given by a user with full
        management. A caller who can give both grants at once. A caller who can give one
        makes an offer; the other side accepts it by the same call. The owner's secret
        is sent only for grants to which the connector's owner or a superuser has
        consented, by this call, before or after being public did, and since the last
        hand-over.
        """
        return self._caller.model(
            operations.PUT_AGENT_GRANT,
            GrantResource,
            path={"id": connector_id, "agent_id": agent_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def revoke(
        self,
        connector_id: UUID | str,
        agent_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> GrantResource:
        """Revoke a grant or an offer.

        Either side can revoke. From then on the agent's rules for this connector have
        no effect.
        """
        return self._caller.model(
            operations.DELETE_AGENT_GRANT,
            GrantResource,
            path={"id": connector_id, "agent_id": agent_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_rules(
        self,
        connector_id: UUID | str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: str | NotGiven = NOT_GIVEN,
    ) -> Pages[RuleOnConnector, RulesOnConnector]:
        """List all agents' rules for a connector, by agent and pattern.

        For its owner, superusers and auditors. A rule for a connector that its agent
        doesn't hold has no effect.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_CONNECTOR_TOOLS,
            RulesOnConnector,
            Paging("rules", "after", cursor=("end_cursor",), more=()),
            path={"id": connector_id},
            query={"limit": limit, "after": after},
        )

    def change_gateway_settings(
        self,
        connector_id: UUID | str,
        slug: str,
        record_mode: Literal["strict", "batched"],
        *,
        protocol_revision: Literal[
            "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"
        ]
        | None
        | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ChangedConnector:
        """Change how the gateway names a connector's tools and makes its calls.

        For its owner and superusers. Agents see the tools under other names from then
        on when the slug changes, as `warnings` says; rules name the upstream's own
        names and remain.

        :param slug: Prefix of its tools' names in an agent's list.
        :param record_mode: `strict`: each call is admitted by an event before it is
            forwarded. `batched`: for high rates; a right that was just revoked may be
            used for up to a second, and a crash may lose the record of 100 ms; calls
            that send a credential are recorded as with `strict`.
        :param protocol_revision: The revision of MCP to speak with its server; null, or
            left out: the gateway finds out. Set it for a server that answers wrongly
            when it is asked.
        """
        return self._caller.model(
            operations.PUT_CONNECTOR_GATEWAY,
            ChangedConnector,
            path={"id": connector_id},
            body={
                "slug": slug,
                "record_mode": record_mode,
                "protocol_revision": protocol_revision,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def attach_credential(
        self,
        connector_id: UUID | str,
        whose: Literal["owner", "caller"],
        *,
        secret_name: str | None | NotGiven = NOT_GIVEN,
        header: str | NotGiven = NOT_GIVEN,
        scheme: str | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Let the gateway send a secret to a connector, in a header.

        For its owner. The value is read at each call, so another value of the secret
        counts from the next call on. Callers' secrets are sent for every agent that
        holds the connector, to the host for which the connector first asked for them.
        The owner's is never sent while the connector is public, nor for agents that
        hold it only because it was public or a former owner granted it, until its owner
        grants it to them. The setting ends when the connector moves to another host,
        and the owner's also with another owner.

        :param whose: `owner`: the secret `secret_name` of the connector's owner.
            `caller`: the secret `mcp.{id of the connector}` of the user whom the
            agent's token names.
        :param secret_name: The name of the owner's secret; only with `owner`.
        :param header: The header that the secret is sent in.
        :param scheme: Precedes the value, with a space; null for none.
        """
        return self._caller.model(
            operations.PUT_CONNECTOR_CREDENTIAL,
            Connector,
            path={"id": connector_id},
            body={
                "whose": whose,
                "secret_name": secret_name,
                "header": header,
                "scheme": scheme,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def detach_credential(
        self,
        connector_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Connector:
        """Let the gateway send no secret to a connector any more.

        For its owner and superusers. The secret itself remains.
        """
        return self._caller.model(
            operations.DELETE_CONNECTOR_CREDENTIAL,
            Connector,
            path={"id": connector_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def definitions(self, connector_id: UUID | str) -> Definitions:
        """List the tools of a connector as its upstream defines them, by name.

        With what was accepted, and how the two differ. A changed definition is hidden
        from agents and refused until it is accepted; a new one is `ask` under a rule
        with a wildcard.
        """
        return self._caller.model(
            operations.GET_DEFINITIONS, Definitions, path={"id": connector_id}
        )

    def accept_definitions(
        self,
        connector_id: UUID | str,
        definitions: Mapping[str, Any],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> AcceptedDefinitions:
        """Accept definitions of a connector's tools, by digest.

        For its owner and superusers. Agents may call the tools as they are defined now,
        as far as their rules say.

        :param definitions: Names of tools, each with the digest of its definition.
        """
        return self._caller.model(
            operations.POST_DEFINITIONS_ACCEPT,
            AcceptedDefinitions,
            path={"id": connector_id},
            body={"definitions": definitions},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def health(self, connector_id: UUID | str) -> Health:
        """Read whether a connector's tools can be listed, and why not.

        As of the last observation, for everybody who sees the connector. A connector is
        observed within seconds of its registration, or another URL; one that agents
        hold, of each change and then at intervals.
        """
        return self._caller.model(
            operations.GET_CONNECTOR_HEALTH, Health, path={"id": connector_id}
        )

    def observe(self, connector_id: UUID | str) -> Health:
        """List a connector's tools now, instead of when they are next due.

        For its owner and superusers, also while no agent holds it. What is found counts
        as in any observation: new and changed definitions wait to be accepted.
        """
        return self._caller.model(
            operations.POST_CONNECTOR_OBSERVE, Health, path={"id": connector_id}
        )
