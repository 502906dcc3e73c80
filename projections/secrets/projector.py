"""Secret events to the secrets' read tables."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from projections.engine.projector import Projector
from projections.secrets.table import (
    SecretRow,
    VersionRow,
    destroy_versions_of,
    select_kept_versions,
    select_secrets,
    upsert_secrets,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.secrets.aggregate import Secret
from service.users.aggregate import User

Versions = dict[tuple[UUID, int], VersionRow]


class SecretsProjector(Projector):
    name = "secrets"
    # 2: values are destroyed at the time of the first event that destroys them.
    version = 2
    events = (
        Secret.Created,
        Secret.CreatedAgain,
        Secret.Overwritten,
        Secret.Restored,
        Secret.VersionsDestroyed,
        Secret.Deleted,
        User.KeyDestroyed,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        ids = {
            each.aggregate_id
            for each in events
            if not isinstance(each.event, User.KeyDestroyed)
        }
        secrets = await select_secrets(db, ids)
        versions = await select_kept_versions(db, ids)
        keys_destroyed: dict[UUID, datetime] = {}
        for recorded in events:
            if isinstance(recorded.event, User.KeyDestroyed):
                destroyed_at = recorded.event.timestamp
                keys_destroyed.setdefault(recorded.aggregate_id, destroyed_at)
                continue
            _fold_secret(secrets, recorded)
            secret = secrets[recorded.aggregate_id]
            _fold_versions(
                versions, recorded, secret.version, keys_destroyed.get(secret.owner_id)
            )
        await upsert_secrets(db, secrets.values(), versions.values())
        # No value is set after its owner's key was destroyed, so this comes last.
        await destroy_versions_of(db, keys_destroyed)


def _fold_secret(secrets: dict[UUID, SecretRow], recorded: RecordedEvent) -> None:
    match recorded.event:
        case Secret.Created() as event:
            secrets[recorded.aggregate_id] = SecretRow(
                id=recorded.aggregate_id,
                owner_id=UUID(event.owner_id),
                name=event.name,
                version=1,
                created_at=event.timestamp,
            )
        case Secret.CreatedAgain() as event:
            secret = secrets[recorded.aggregate_id]
            secret.version = event.version
            secret.created_at = event.timestamp
            secret.is_deleted = False
        case Secret.Overwritten() | Secret.Restored() as event:
            secrets[recorded.aggregate_id].version = event.version
        case Secret.Deleted():
            secrets[recorded.aggregate_id].is_deleted = True


def _fold_versions(
    versions: Versions,
    recorded: RecordedEvent,
    current: int,
    key_destroyed_at: datetime | None,
) -> None:
    secret_id = recorded.aggregate_id
    match recorded.event:
        case (
            Secret.Created()
            | Secret.CreatedAgain()
            | Secret.Overwritten()
            | Secret.Restored() as event
        ):
            versions[secret_id, current] = VersionRow(
                secret_id=secret_id,
                version=current,
                fingerprint=event.fingerprint,
                restored_version=getattr(event, "restored_version", None),
                created_at=event.timestamp,
                created_by=UUID(recorded.metadata["actor"]),
            )
        case Secret.VersionsDestroyed() as event:
            for version in event.versions:
                versions[secret_id, version].destroyed_at = event.timestamp
        case Secret.Deleted() as event:
            for row in versions.values():
                if row.secret_id == secret_id and row.destroyed_at is None:
                    row.destroyed_at = key_destroyed_at or event.timestamp
