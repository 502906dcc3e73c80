"""A user and the tokens that prove who is calling."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.identifiers import named_id


class User(LoggedAggregate):
    """Someone, or something, that calls; the name is theirs for good."""

    class Created(LoggedAggregate.Created):
        """A user was created; the name is theirs permanently.

        Emitted by ``POST /api/users``; the first start for ``admin``.
        """

        TOPIC = "user.created"
        name: Published[str]

        def sentence(self, named: Named) -> str:
            return f"created the user {self.name}"

    class RoleGranted(LoggedAggregate.Event):
        """The user was given a role.

        Emitted by ``POST /api/users`` and ``PUT /api/users/{user_id}/roles/{role}``;
        the first start for ``admin``.
        """

        TOPIC = "user.role_granted"
        role: Published[str]

        def sentence(self, named: Named) -> str:
            return f"granted the role {self.role}"

    class RoleRevoked(LoggedAggregate.Event):
        """A role was taken from the user.

        Emitted by ``DELETE /api/users/{user_id}/roles/{role}``.
        """

        TOPIC = "user.role_revoked"
        role: Published[str]

        def sentence(self, named: Named) -> str:
            return f"revoked the role {self.role}"

    class KeyDestroyed(LoggedAggregate.Event):
        """The user's key was destroyed, and all data sealed with it.

        That is the values of their secrets, and the texts of their sessions.

        Emitted by ``DELETE /api/users/{user_id}/key``.
        """

        TOPIC = "user.key_destroyed"

        def sentence(self, named: Named) -> str:
            return (
                "destroyed the user's key: "
                "nothing sealed for them can be opened any more"
            )

    TOPIC = "user"

    @staticmethod
    def create_id(name: str) -> UUID:
        return named_id("user", name)

    @event(Created)
    def __init__(self, name: str) -> None:
        self.name = name
        self.roles: list[str] = []
        self.key_is_destroyed = False

    def grant_role(self, role: str) -> bool:
        """Give a role and return whether that changed anything."""
        if role in self.roles:
            return False
        self._role_granted(role=role)
        return True

    @event(RoleGranted)
    def _role_granted(self, role: str) -> None:
        self.roles = sorted([*self.roles, role])

    def revoke_role(self, role: str) -> bool:
        """Take a role away and return whether that changed anything."""
        if role not in self.roles:
            return False
        self._role_revoked(role=role)
        return True

    @event(RoleRevoked)
    def _role_revoked(self, role: str) -> None:
        self.roles = [held for held in self.roles if held != role]

    def destroy_key(self) -> bool:
        """Destroy the user's key permanently and return whether they had it."""
        if self.key_is_destroyed:
            return False
        self._key_destroyed()
        return True

    @event(KeyDestroyed)
    def _key_destroyed(self) -> None:
        self.key_is_destroyed = True


class Token(LoggedAggregate):
    """A bearer token, known only by its id, which is a keyed hash of it."""

    class Created(LoggedAggregate.Created):
        """A token proves this user; the subject only stands for the token.

        The aggregate's id is a keyed hash of the token.

        Emitted by ``POST /api/users/{user_id}/tokens``, ``agent-runtime token issue``,
        and the first start.
        """

        TOPIC = "token.issued"
        user_id: Published[Id]
        label: Published[str]

        def sentence(self, named: Named) -> str:
            return f"issued a token to {named(self.user_id)}, {self.label!r}"

    class Revoked(LoggedAggregate.Event):
        """The token was revoked.

        Emitted by ``DELETE /api/users/{user_id}/tokens/{token_id}``.
        """

        TOPIC = "token.revoked"

        def sentence(self, named: Named) -> str:
            return "revoked the token"

    TOPIC = "token"

    @event(Created)
    def __init__(self, id: UUID, user_id: str, label: str) -> None:  # noqa: A002
        self.user_id = user_id
        self.label = label
        self.is_revoked = False

    def revoke(self) -> bool:
        """Revoke the token and return whether it was valid before."""
        if self.is_revoked:
            return False
        self._revoked()
        return True

    @event(Revoked)
    def _revoked(self) -> None:
        self.is_revoked = True


def token_id(token_hash: bytes) -> UUID:
    """Return the id of the token with a keyed hash of at least 16 bytes.

    122 bits of the hash identify the token: finding another with the same id is as
    hard as guessing one.
    """
    return UUID(bytes=token_hash[:16], version=4)
