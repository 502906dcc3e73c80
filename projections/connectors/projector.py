"""Connector events to the connectors' read tables."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from projections.connectors.table import (
    ConnectorRow,
    replace_grants,
    select_connectors,
    upsert_connectors,
)
from projections.engine.projector import Projector
from service.connectors.aggregate import Connector
from service.connectors.resource import credential_resource
from service.connectors.slug import slug_of
from service.database import Db
from service.event_log.mapper import RecordedEvent


class ConnectorsProjector(Projector):
    name = "connectors"
    events = (
        Connector.Created,
        Connector.Edited,
        Connector.OwnershipOffered,
        Connector.OwnershipOfferWithdrawn,
        Connector.HandedOver,
        Connector.MadePublic,
        Connector.MadePrivate,
        Connector.GrantOffered,
        Connector.GrantedToAgent,
        Connector.GrantRevoked,
        Connector.Retired,
        Connector.SlugChanged,
        Connector.RecordModeChanged,
        Connector.ProtocolRevisionSet,
        Connector.CredentialAttached,
        Connector.CredentialDetached,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        rows = await select_connectors(db, {each.aggregate_id for each in events})
        grants: dict[tuple[UUID, UUID], str | None] = {}
        retired: set[UUID] = set()
        for recorded in events:
            _fold_connector(rows, recorded)
            _fold_grants(grants, retired, recorded.event)
        await upsert_connectors(db, rows.values())
        await replace_grants(db, grants, retired)


def _fold_connector(rows: dict[UUID, ConnectorRow], recorded: RecordedEvent) -> None:
    event = recorded.event
    if isinstance(event, Connector.Created):
        rows[recorded.aggregate_id] = ConnectorRow(
            id=recorded.aggregate_id,
            owner_id=UUID(event.owner_id),
            name=event.name,
            url=event.url,
            description=event.description,
            slug=slug_of(event.name),
            version=recorded.version,
            created_at=event.timestamp,
            updated_at=event.timestamp,
        )
        return
    row = rows[recorded.aggregate_id]
    row.version = recorded.version
    row.updated_at = event.timestamp
    _fold_gateway(row, event)
    match event:
        case Connector.Edited():
            row.name, row.url = event.name, event.url
            row.description = event.description
        case Connector.OwnershipOffered():
            row.offered_owner_id = UUID(event.user_id)
        case Connector.OwnershipOfferWithdrawn():
            row.offered_owner_id = None
        case Connector.HandedOver():
            row.owner_id, row.offered_owner_id = UUID(event.owner_id), None
        case Connector.MadePublic():
            row.public_since = datetime.fromisoformat(event.since)
            row.made_public_by = UUID(event.by)
        case Connector.MadePrivate():
            row.public_since = row.made_public_by = None
        case Connector.Retired():
            row.is_retired = True
            row.offered_owner_id = None
            row.public_since = row.made_public_by = None


def _fold_gateway(row: ConnectorRow, event: Any) -> None:
    """Fold what the gateway needs of a connector."""
    match event:
        case Connector.Edited() if not row.has_chosen_slug:
            row.slug = slug_of(event.name)
        case Connector.SlugChanged():
            row.slug, row.has_chosen_slug = event.slug, True
        case Connector.RecordModeChanged():
            row.record_mode = event.record_mode
        case Connector.ProtocolRevisionSet():
            row.protocol_revision = event.protocol_revision
        case Connector.CredentialAttached():
            row.credential = credential_resource(
                {
                    "whose": event.whose,
                    "secret_name": event.secret_name,
                    "header": event.header,
                    "scheme": event.scheme,
                }
            )
        case Connector.CredentialDetached():
            row.credential = None


def _fold_grants(
    grants: dict[tuple[UUID, UUID], str | None], retired: set[UUID], event: Any
) -> None:
    match event:
        case Connector.GrantOffered():
            grants[event.originator_id, UUID(event.agent_id)] = event.side
        case Connector.GrantedToAgent():
            grants[event.originator_id, UUID(event.agent_id)] = "granted"
        case Connector.GrantRevoked():
            grants[event.originator_id, UUID(event.agent_id)] = None
        case Connector.Retired():
            retired.add(event.originator_id)
