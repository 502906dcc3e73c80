"""A user and the tokens that prove who is calling."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.events import Id, Named, Published, Time
from service.identifiers import named_id
from service.users import events

TOKENS_MAX = 100


class User(LoggedAggregate):
    """Someone, or something, that calls.

    The name is sealed under the user's key, so that it goes with the key. ``admin``,
    and users of earlier versions of the service, have theirs in plain text, and an id
    that follows from it.
    """

    class Created(LoggedAggregate.Created):
        """A user was created.

        ``sealed_name`` is sealed (AEV1, purpose ``text``), bound to the user, the
        event's version and the field ``name``. ``name`` is that of ``admin`` and of
        users whom earlier versions of the service created; null otherwise.

        Emitted by ``POST /api/users``; the first start for ``admin``.
        """

        TOPIC = "user.created"
        class_version = 2
        name: str | None
        sealed_name: str | None

        def sentence(self, named: Named) -> str:
            return f"created the user {self.subject(named)}"

    Renamed = events.Renamed
    Erased = events.Erased
    RoleGranted = events.RoleGranted
    RoleRevoked = events.RoleRevoked
    KeyDestroyed = events.KeyDestroyed
    Disabled = events.Disabled
    Enabled = events.Enabled
    TokenAdded = events.TokenAdded

    TOPIC = "user"
    class_version = 3  # with tokens, a sealed name, and what has become of the user

    @staticmethod
    def create_id(name: str) -> UUID:
        """Return the id of ``admin``, or of a user of an earlier version."""
        return named_id("user", name)

    @event(Created)
    def __init__(
        self,
        name: str | None = None,
        sealed_name: str | None = None,
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.name = name
        self.sealed_name = sealed_name
        # The version of the event that holds the sealed name.
        self.name_version = 1
        self.is_erased = False
        self.roles: list[str] = []
        self.key_is_destroyed = False
        self.is_disabled = False
        # Tokens that count towards the limit; those issued before it don't.
        self.tokens: list[str] = []

    def grant_role(self, role: str) -> bool:
        """Give a role and return whether that changed anything."""
        if role in self.roles:
            return False
        self.trigger_event(self.RoleGranted, role=role)
        return True

    def revoke_role(self, role: str) -> bool:
        """Take a role away and return whether that changed anything."""
        if role not in self.roles:
            return False
        self.trigger_event(self.RoleRevoked, role=role)
        return True

    def destroy_key(self) -> bool:
        """Destroy the user's key permanently and return whether they had it."""
        if self.key_is_destroyed:
            return False
        self.trigger_event(self.KeyDestroyed)
        return True

    def disable(self) -> bool:
        """Refuse the user's tokens and return whether they were accepted."""
        if self.is_disabled:
            return False
        self.trigger_event(self.Disabled)
        return True

    def enable(self) -> bool:
        """Accept the user's tokens again and return whether they were refused."""
        if not self.is_disabled:
            return False
        self.trigger_event(self.Enabled)
        return True

    def rename(self, sealed_name: str) -> None:
        """Take another name, sealed for the user's next version."""
        self.trigger_event(self.Renamed, sealed_name=sealed_name)

    def erase(self) -> bool:
        """Erase the user with their key and name; return whether they weren't yet."""
        if self.is_erased:
            return False
        self.destroy_key()
        self.trigger_event(self.Erased)
        return True

    @property
    def has_all_tokens(self) -> bool:
        return len(self.tokens) >= TOKENS_MAX

    def add_token(self, token_id: UUID, *, dropped: Sequence[str] = ()) -> None:
        """Count a new token, and no longer count others.

        :raises ConflictError: the user has ``TOKENS_MAX`` of them
        """
        if len(self.tokens) - len(dropped) >= TOKENS_MAX:
            raise ConflictError(
                f"a user has at most {TOKENS_MAX} valid tokens; revoke one first",
                code="limit_reached",
            )
        self.trigger_event(self.TokenAdded, token_id=str(token_id), dropped=[*dropped])


class UserName(LoggedAggregate):
    """A name that a user has or had, known only by its id, a keyed hash of it."""

    class Created(LoggedAggregate.Created):
        """A name belongs to this user permanently; the subject stands for the name.

        Emitted by ``POST /api/users`` and ``PUT /api/users/{user_id}/name``.
        """

        TOPIC = "user_name.claimed"
        user_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"reserved a name for the user {named(self.user_id)}"

    TOPIC = "user_name"

    @event(Created)
    def __init__(self, id: UUID, user_id: str) -> None:  # noqa: A002
        self.user_id = user_id


class Token(LoggedAggregate):
    """A bearer token, known only by its id, which is a keyed hash of it."""

    class Created(LoggedAggregate.Created):
        """A token proves this user; the subject only stands for the token.

        The aggregate's id is a keyed hash of the token. A token without ``expires_at``
        is valid until it is revoked.

        Emitted by ``POST /api/users/{user_id}/tokens``, ``agent-runtime token issue``,
        and the first start.
        """

        TOPIC = "token.issued"
        class_version = 2
        user_id: Published[Id]
        label: Published[str]
        expires_at: Published[Time | None]

        def sentence(self, named: Named) -> str:
            until = f", valid until {self.expires_at}" if self.expires_at else ""
            return f"issued a token to {named(self.user_id)}, {self.label!r}{until}"

    class Revoked(LoggedAggregate.Event):
        """The token was revoked.

        Emitted by ``DELETE /api/users/{user_id}/tokens/{token_id}``.
        """

        TOPIC = "token.revoked"

        def sentence(self, named: Named) -> str:
            return f"revoked the token {self.subject(named)}"

        def apply(self, aggregate: "Token") -> None:
            aggregate.is_revoked = True

    TOPIC = "token"
    class_version = 2  # with a time at which it expires

    @event(Created)
    def __init__(
        self,
        id: UUID,  # noqa: A002
        user_id: str,
        label: str,
        expires_at: str | None = None,
    ) -> None:
        self.user_id = user_id
        self.label = label
        self.expires_at = expires_at
        self.is_revoked = False

    def is_valid(self, at: datetime) -> bool:
        return not self.is_revoked and (
            self.expires_at is None or at < datetime.fromisoformat(self.expires_at)
        )

    def revoke(self) -> bool:
        """Revoke the token and return whether it was valid before."""
        if self.is_revoked:
            return False
        self.trigger_event(self.Revoked)
        return True


def token_id(token_hash: bytes) -> UUID:
    """Return the id of the token with a keyed hash of at least 16 bytes.

    122 bits of the hash identify the token: finding another with the same id is as
    hard as guessing one.
    """
    return UUID(bytes=token_hash[:16], version=4)
