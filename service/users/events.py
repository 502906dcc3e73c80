"""The events of a user, but for their creation."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.events import Named, Published


class Renamed(LoggedAggregate.Event):
    """The user has another name; nobody else gets the earlier one.

    ``sealed_name`` is sealed as in ``user.created``.

    Emitted by ``PUT /api/users/{user_id}/name``.
    """

    TOPIC = "user.renamed"
    sealed_name: str

    def sentence(self, named: Named) -> str:
        return f"renamed the user {self.subject(named)}"

    def apply(self, aggregate: Any) -> None:
        aggregate.name = None
        aggregate.sealed_name = self.sealed_name
        aggregate.name_version = self.originator_version


class Erased(LoggedAggregate.Event):
    """The user was erased, with their name: none of their tokens is accepted.

    Their key is destroyed by the same command.

    Emitted by ``DELETE /api/users/{user_id}``.
    """

    TOPIC = "user.erased"

    def sentence(self, named: Named) -> str:
        return f"erased the user {self.subject(named)}, with their name"

    def apply(self, aggregate: Any) -> None:
        aggregate.name = None
        aggregate.sealed_name = None
        aggregate.is_erased = True
        aggregate.is_disabled = True


class RoleGranted(LoggedAggregate.Event):
    """The user was given a role.

    Emitted by ``POST /api/users`` and ``PUT /api/users/{user_id}/roles/{role}``;
    the first start for ``admin``.
    """

    TOPIC = "user.role_granted"
    role: Published[str]

    def sentence(self, named: Named) -> str:
        return f"granted the role {self.role} to {self.subject(named)}"

    def apply(self, aggregate: Any) -> None:
        aggregate.roles = sorted([*aggregate.roles, self.role])


class RoleRevoked(LoggedAggregate.Event):
    """A role was taken from the user.

    Emitted by ``DELETE /api/users/{user_id}/roles/{role}``.
    """

    TOPIC = "user.role_revoked"
    role: Published[str]

    def sentence(self, named: Named) -> str:
        return f"revoked the role {self.role} of {self.subject(named)}"

    def apply(self, aggregate: Any) -> None:
        aggregate.roles = [held for held in aggregate.roles if held != self.role]


class KeyDestroyed(LoggedAggregate.Event):
    """The user's key was destroyed, and all data sealed with it.

    That is the values of their secrets, the texts of their sessions, and their
    name.

    Emitted by ``DELETE /api/users/{user_id}/key`` and ``DELETE
    /api/users/{user_id}``.
    """

    TOPIC = "user.key_destroyed"

    def sentence(self, named: Named) -> str:
        return (
            f"destroyed the key of {self.subject(named)}: "
            "nothing sealed for them can be opened any more"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.key_is_destroyed = True


class Disabled(LoggedAggregate.Event):
    """The user was disabled: none of their tokens is accepted.

    Emitted by ``PUT /api/users/{user_id}/disabled``.
    """

    TOPIC = "user.disabled"

    def sentence(self, named: Named) -> str:
        return (
            f"disabled the user {self.subject(named)}: none of their tokens is accepted"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.is_disabled = True


class Enabled(LoggedAggregate.Event):
    """The disabled user was enabled: their valid tokens are accepted again.

    Emitted by ``DELETE /api/users/{user_id}/disabled``.
    """

    TOPIC = "user.enabled"

    def sentence(self, named: Named) -> str:
        return (
            f"enabled the user {self.subject(named)}: "
            "their valid tokens are accepted again"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.is_disabled = False


class TokenAdded(LoggedAggregate.Event):
    """A token was added to the user's tokens, whose number is limited.

    ``dropped`` are tokens that no longer count, because they were revoked or have
    expired.

    Emitted with every ``token.issued``.
    """

    TOPIC = "user.token_added"
    token_id: str
    dropped: list[str]

    def sentence(self, named: Named) -> str:
        return f"added {named(self.token_id)} to the tokens of {self.subject(named)}"

    def apply(self, aggregate: Any) -> None:
        kept = [each for each in aggregate.tokens if each not in self.dropped]
        aggregate.tokens = [*kept, self.token_id]
