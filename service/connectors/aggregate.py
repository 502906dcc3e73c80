"""A connector: who owns it, whether it is public, and which agents hold it."""

from bisect import bisect_left
from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.connectors import events, gateway_events
from service.connectors.credential import OF_CALLER, OF_OWNER, CredentialSetting
from service.connectors.events import AGENT_SIDE, CONNECTOR_SIDE
from service.connectors.slug import slug_of
from service.connectors.url import origin_of
from service.errors import ConflictError
from service.events import Id, Named, Published
from service.identifiers import id_text

# Bounds grants and offers together; deciding visibility looks at each.
GRANTS_MAX = 2000
GRANTS_OF_OTHERS_MAX = 1000
STRICT = "strict"
BATCHED = "batched"


class Connector(LoggedAggregate):
    """A way to the tools of somebody's server.

    Being public shares the definition, never credentials, and gives the
    connector's consent to any grant; it is not itself a grant to an agent.
    """

    class Created(LoggedAggregate.Created):
        """A connector was registered, private to its owner.

        Emitted by ``POST /api/mcp/connectors``.
        """

        TOPIC = "connector.registered"
        owner_id: Published[Id]
        name: Published[str]
        url: Published[str]
        description: Published[str]

        def sentence(self, named: Named) -> str:
            return (
                f"registered the connector {self.name!r} at {self.url}, "
                f"owned by {named(self.owner_id)}"
            )

    Edited = events.Edited
    OwnershipOffered = events.OwnershipOffered
    OwnershipOfferWithdrawn = events.OwnershipOfferWithdrawn
    HandedOver = events.HandedOver
    MadePublic = events.MadePublic
    MadePrivate = events.MadePrivate
    GrantOffered = events.GrantOffered
    GrantedToAgent = events.GrantedToAgent
    GrantRevoked = events.GrantRevoked
    Retired = events.Retired
    SlugChanged = gateway_events.SlugChanged
    RecordModeChanged = gateway_events.RecordModeChanged
    ProtocolRevisionSet = gateway_events.ProtocolRevisionSet
    CredentialAttached = gateway_events.CredentialAttached
    CredentialDetached = gateway_events.CredentialDetached

    TOPIC = "connector"
    # 2: has offered_owner_id. 3: has what the gateway needs. 4: has callers_origin.
    # 5: has granted_as_public. 6: has not_lent instead, which a hand-over fills. 7: has
    # protocol_revision.
    class_version = 7

    @event(Created)
    def __init__(self, owner_id: str, name: str, url: str, description: str) -> None:
        self.owner_id = owner_id
        self.name = name
        self.url = url
        self.description = description
        self.is_public = False
        self.public_since: str | None = None
        self.made_public_by: str | None = None
        self.is_retired = False
        self.granted_to: list[str] = []
        # Those of them, and of the offers, to which only being public or a former owner
        # has consented for the connector.
        self.not_lent: list[str] = []
        self.offers: dict[str, str] = {}
        self.offered_owner_id: str | None = None
        self.chosen_slug: str | None = None
        self.record_mode = STRICT
        self.protocol_revision: str | None = None
        self.credential: CredentialSetting | None = None
        # Where callers have agreed to send their secrets: where they were first asked.
        self.callers_origin: str | None = None

    @property
    def slug(self) -> str:
        """The prefix of its tools' names in an agent's list; not unique."""
        return self.chosen_slug or slug_of(self.name)

    @property
    def may_be_sent_callers_secrets(self) -> bool:
        return self.callers_origin in {None, origin_of(self.url)}

    def is_granted_to(self, agent_id: UUID) -> bool:
        agent = id_text(agent_id)
        index = bisect_left(self.granted_to, agent)
        return self.granted_to[index : index + 1] == [agent]

    def is_lent_to(self, agent_id: UUID) -> bool:
        """Whether an agent's calls send the owner's secret: it was granted for them."""
        return (
            not self.is_public
            and self.is_granted_to(agent_id)
            and id_text(agent_id) not in self.not_lent
        )

    def edit(self, *, name: str, url: str, description: str) -> bool:
        """Change name, URL and description; return whether any differs.

        On another host the connector has no credential any more: it was for the former.
        """
        if (name, url, description) == (self.name, self.url, self.description):
            return False
        if origin_of(url) != origin_of(self.url):
            self.detach_credential()
        self.trigger_event(
            self.Edited,
            name=name,
            url=url,
            description=description,
            previous_name=self.name,
            previous_url=self.url,
            previous_description=self.description,
        )
        return True

    def offer_ownership(self, user_id: UUID) -> bool:
        """Offer the connector to a user; return whether the offer is new."""
        if self.offered_owner_id == str(user_id):
            return False
        self.trigger_event(self.OwnershipOffered, user_id=str(user_id))
        return True

    def withdraw_ownership_offer(self, user_id: UUID) -> bool:
        """End the offer to a user; return whether there was one."""
        if self.offered_owner_id != str(user_id):
            return False
        self.trigger_event(self.OwnershipOfferWithdrawn, user_id=str(user_id))
        return True

    def hand_over(self, user_id: UUID) -> bool:
        """Make a user the owner; return whether they weren't."""
        if self.owner_id == str(user_id):
            return False
        if self.credential is not None and self.credential["whose"] == OF_OWNER:
            self.detach_credential()
        self.trigger_event(
            self.HandedOver, owner_id=str(user_id), previous_owner_id=self.owner_id
        )
        return True

    def make_public(self, *, by: UUID, at: datetime) -> bool:
        """Share the definition with everyone; return whether it was private."""
        if self.is_public:
            return False
        self.trigger_event(self.MadePublic, by=str(by), since=at.isoformat())
        return True

    def make_private(self) -> bool:
        """Stop sharing; grants that were made stay. Return whether it was public."""
        if not self.is_public:
            return False
        self.trigger_event(self.MadePrivate)
        return True

    def consent_to_grant(
        self, agent_id: UUID, *, by_connector: bool, by_agent: bool
    ) -> bool:
        """Record a consent and return whether the grant is complete.

        An offer of the other side, or being public, counts as its consent. If being
        public or a former owner consented, the grant or offer is recorded again when
        the connector's side consents itself, which lends the owner's secret.

        What the connector's side doesn't itself consent to fills half of the
        connector's room at most: nobody can use up its owner's part.

        :raises ConflictError: there is no room for one more grant or offer
        """
        agent = str(agent_id)
        if agent in self.granted_to:
            if by_connector and agent in self.not_lent:
                self.trigger_event(self.GrantedToAgent, agent_id=agent)
            return True
        offered_by = self.offers.get(agent)
        room = GRANTS_MAX if by_connector else GRANTS_OF_OTHERS_MAX
        if offered_by is None and len(self.granted_to) + len(self.offers) >= room:
            raise ConflictError(
                f"a connector has at most {GRANTS_MAX} grants and offers"
                if by_connector
                else f"the connector has {room} grants and offers; beyond these, its "
                "owner has to offer the grant first",
                code="limit_reached",
            )
        connector_consents = (
            by_connector or self.is_public or offered_by == CONNECTOR_SIDE
        )
        agent_consents = by_agent or offered_by == AGENT_SIDE
        if connector_consents and agent_consents:
            self.trigger_event(self.GrantedToAgent, agent_id=agent)
            if by_connector and agent in self.not_lent:
                self.trigger_event(self.GrantedToAgent, agent_id=agent)
            return True
        side = CONNECTOR_SIDE if by_connector else AGENT_SIDE
        if offered_by != side or agent in self.not_lent:
            self.trigger_event(self.GrantOffered, agent_id=agent, side=side)
        return False

    def revoke_grant(self, agent_id: UUID) -> bool:
        """Take back a grant or an offer and return whether there was one."""
        agent = str(agent_id)
        if agent not in self.granted_to and agent not in self.offers:
            return False
        self.trigger_event(self.GrantRevoked, agent_id=agent)
        return True

    def change_gateway_settings(
        self, *, slug: str, record_mode: str, protocol_revision: str | None
    ) -> bool:
        """Change how tools are named and calls made; return whether any differs."""
        version = self.version
        if slug != self.chosen_slug:
            self.trigger_event(self.SlugChanged, slug=slug, previous_slug=self.slug)
        if record_mode != self.record_mode:
            self.trigger_event(self.RecordModeChanged, record_mode=record_mode)
        if (revision := protocol_revision) != self.protocol_revision:
            self.trigger_event(self.ProtocolRevisionSet, protocol_revision=revision)
        return self.version > version

    def attach_credential(self, setting: CredentialSetting) -> bool:
        """Let the gateway send a secret; return whether the setting differs.

        :raises ConflictError: callers were asked for their secrets for another host
        """
        if setting["whose"] == OF_CALLER and not self.may_be_sent_callers_secrets:
            raise ConflictError(
                f"callers agreed to send their secrets to {self.callers_origin} only; "
                "for another host register another connector, whose id asks for a "
                "secret of its own",
                code="connector_moved",
            )
        if setting == self.credential:
            return False
        self.trigger_event(self.CredentialAttached, **setting)
        return True

    def detach_credential(self) -> bool:
        """Let the gateway send no secret any more; return whether it sent one."""
        if self.credential is None:
            return False
        self.trigger_event(self.CredentialDetached)
        return True

    def retire(self) -> bool:
        """End the connector for good; no agent holds it any more."""
        if self.is_retired:
            return False
        self.trigger_event(self.Retired)
        return True
