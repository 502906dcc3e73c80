"""User and token events to the users' read tables."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from projections.engine.projector import Projector
from projections.users.table import (
    TokenRow,
    UserRow,
    insert_tokens,
    revoke_tokens,
    select_users,
    upsert_users,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.users.aggregate import Token, User


class UsersProjector(Projector):
    name = "users"
    events = (
        User.Created,
        User.RoleGranted,
        User.RoleRevoked,
        User.KeyDestroyed,
        User.Disabled,
        User.Enabled,
        User.TokenAdded,
        User.Renamed,
        User.Erased,
        Token.Created,
        Token.Revoked,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        of_users = [each for each in events if isinstance(each.event, _USER_EVENTS)]
        users = await select_users(db, {each.aggregate_id for each in of_users})
        for recorded in of_users:
            _fold_user(users, recorded)
        issued: list[TokenRow] = []
        revoked: dict[UUID, datetime] = {}
        for recorded in events:
            match recorded.event:
                case Token.Created():
                    issued.append(_token(recorded))
                case Token.Revoked() as event:
                    revoked[recorded.aggregate_id] = event.timestamp
        await upsert_users(db, list(users.values()))
        await insert_tokens(db, issued)
        await revoke_tokens(db, revoked)


def _fold_user(users: dict[UUID, UserRow], recorded: RecordedEvent) -> None:
    event = recorded.event
    if isinstance(event, User.Created):
        users[recorded.aggregate_id] = UserRow(
            id=recorded.aggregate_id,
            name=event.name,
            sealed_name=event.sealed_name,
            name_version=recorded.version,
            roles=[],
            is_disabled=False,
            is_erased=False,
            created=recorded.position,
            version=recorded.version,
            created_at=event.timestamp,
            updated_at=event.timestamp,
        )
        return
    user = users[recorded.aggregate_id]
    user.version = recorded.version
    user.updated_at = event.timestamp
    match event:
        case User.RoleGranted():
            user.roles = sorted([*user.roles, event.role])
        case User.RoleRevoked():
            user.roles = [role for role in user.roles if role != event.role]
        case User.Renamed():
            user.name, user.sealed_name = None, event.sealed_name
            user.name_version = recorded.version
        case User.Erased():
            user.name = user.sealed_name = None
            user.is_disabled = user.is_erased = True
        case User.Disabled():
            user.is_disabled = True
        case User.Enabled():
            user.is_disabled = False


def _token(recorded: RecordedEvent) -> TokenRow:
    event = recorded.event
    return TokenRow(
        id=recorded.aggregate_id,
        user_id=UUID(event.user_id),
        label=event.label,
        issued=recorded.position,
        created_at=event.timestamp,
        expires_at=(
            None
            if event.expires_at is None
            else datetime.fromisoformat(event.expires_at)
        ),
    )


_USER_EVENTS = (
    User.Created,
    User.RoleGranted,
    User.RoleRevoked,
    User.KeyDestroyed,
    User.Disabled,
    User.Enabled,
    User.TokenAdded,
    User.Renamed,
    User.Erased,
)
