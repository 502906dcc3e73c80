"""A secret: which versions of its value there are, and where they are sealed."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.identifiers import named_id

VERSIONS_KEPT = 10


class Secret(LoggedAggregate):
    """A user's secret of one name, through deletions and being created again.

    Its events name sealed values, which lie beside the log, and never hold one.
    ``value_version`` counts the values: 1, 2, 3, ... and on after a deletion, so
    that a number never means two values. The last ``VERSIONS_KEPT`` can be opened.
    Being revealed leaves it as it is, so it and not the aggregate's own version is
    what If-Match names.
    """

    class Created(LoggedAggregate.Created):
        """A user's secret of this name has its first value, version 1.

        Emitted by ``POST /api/secrets``.
        """

        TOPIC = "secret.created"
        owner_id: Published[Id]
        name: Published[str]
        sealed_id: str
        fingerprint: str

        def sentence(self, named: Named) -> str:
            return f"created {named(self.owner_id)}'s secret {self.name!r}"

    class CreatedAgain(LoggedAggregate.Event):
        """A deleted secret has a value again; version numbers continue.

        Emitted by ``POST /api/secrets``.
        """

        TOPIC = "secret.created_again"
        version: Published[int]
        sealed_id: str
        fingerprint: str

        def sentence(self, named: Named) -> str:
            return (
                f"created the deleted secret {self.subject(named)} again, "
                f"as version {self.version}"
            )

        def apply(self, aggregate: "Secret") -> None:
            aggregate.is_deleted = False
            _take_value(aggregate, self.version, self.sealed_id, self.fingerprint)

    class Overwritten(LoggedAggregate.Event):
        """The secret has a new value.

        Emitted by ``PUT /api/secrets/{name}``.
        """

        TOPIC = "secret.overwritten"
        version: Published[int]
        sealed_id: str
        fingerprint: str

        def sentence(self, named: Named) -> str:
            return (
                f"gave the secret {self.subject(named)} another value: "
                f"version {self.version}, before version {self.version - 1}"
            )

        def apply(self, aggregate: "Secret") -> None:
            _take_value(aggregate, self.version, self.sealed_id, self.fingerprint)

    class Restored(LoggedAggregate.Event):
        """The value of an earlier version was restored, as a new version.

        Emitted by ``POST /api/secrets/{name}/versions/{version}/restore``.
        """

        TOPIC = "secret.restored"
        version: Published[int]
        restored_version: Published[int]
        sealed_id: str
        fingerprint: str

        def sentence(self, named: Named) -> str:
            return (
                f"gave the secret {self.subject(named)} the value of version "
                f"{self.restored_version} again: version {self.version}, "
                f"before version {self.version - 1}"
            )

        def apply(self, aggregate: "Secret") -> None:
            _take_value(aggregate, self.version, self.sealed_id, self.fingerprint)

    class Revealed(LoggedAggregate.Event):
        """A value of the secret is about to be sent to its owner.

        Emitted by ``GET /api/secrets/{name}/value``.
        """

        TOPIC = "secret.revealed"
        version: Published[int]

        def sentence(self, named: Named) -> str:
            return (
                f"read the value of the secret {self.subject(named)}, "
                f"version {self.version}"
            )

    class VersionsDestroyed(LoggedAggregate.Event):
        """Older values of the secret were destroyed.

        The follower ``destruction`` deletes what is sealed of them.

        Emitted by an overwrite or a restore, when more than ten values are kept.
        """

        TOPIC = "secret.versions_destroyed"
        versions: Published[list[int]]
        sealed_ids: list[str]

        def sentence(self, named: Named) -> str:
            versions = ", ".join(map(str, self.versions))
            return (
                f"destroyed earlier values of the secret {self.subject(named)}: "
                f"versions {versions}"
            )

        def apply(self, aggregate: "Secret") -> None:
            aggregate.kept = {
                version: sealed_id
                for version, sealed_id in aggregate.kept.items()
                if int(version) not in self.versions
            }

    class Deleted(LoggedAggregate.Event):
        """The secret and all of its values were deleted.

        Emitted by ``DELETE /api/secrets/{name}``.
        """

        TOPIC = "secret.deleted"
        sealed_ids: list[str]

        def sentence(self, named: Named) -> str:
            return f"deleted the secret {self.subject(named)} and destroyed its values"

        def apply(self, aggregate: "Secret") -> None:
            aggregate.is_deleted = True
            aggregate.kept = {}

    TOPIC = "secret"

    @staticmethod
    def create_id(owner_id: str, name: str) -> UUID:
        return named_id("secret", owner_id, name)

    @event(Created)
    def __init__(
        self, owner_id: str, name: str, sealed_id: str, fingerprint: str
    ) -> None:
        self.owner_id = owner_id
        self.name = name
        self.value_version = 1
        self.fingerprint = fingerprint
        # Where each value that can be opened is sealed, by version, oldest first.
        self.kept = {"1": sealed_id}
        self.is_deleted = False

    def sealed_id_of(self, version: int) -> UUID | None:
        """Return where a version's value is sealed; None when it was destroyed."""
        sealed_id = self.kept.get(str(version))
        return UUID(sealed_id) if sealed_id else None

    def create_again(self, *, sealed_id: UUID, fingerprint: str) -> None:
        """Give a deleted secret a value; the caller knows that it is deleted."""
        self.trigger_event(
            self.CreatedAgain,
            version=self.value_version + 1,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )

    def overwrite(self, *, sealed_id: UUID, fingerprint: str) -> None:
        """Add a version, also when the value is the same: it was set anew."""
        self.trigger_event(
            self.Overwritten,
            version=self.value_version + 1,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )
        self._give_up_oldest()

    def restore(self, version: int, *, sealed_id: UUID, fingerprint: str) -> None:
        """Add a version that has the value of an earlier one, sealed anew."""
        self.trigger_event(
            self.Restored,
            version=self.value_version + 1,
            restored_version=version,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )
        self._give_up_oldest()

    def reveal(self, version: int) -> None:
        self.trigger_event(self.Revealed, version=version)

    def _give_up_oldest(self) -> None:
        given_up = list(self.kept.items())[:-VERSIONS_KEPT]
        if given_up:
            self.trigger_event(
                self.VersionsDestroyed,
                versions=[int(version) for version, _ in given_up],
                sealed_ids=[sealed_id for _, sealed_id in given_up],
            )

    def delete(self) -> None:
        """End the secret; its name can be used again."""
        self.trigger_event(self.Deleted, sealed_ids=list(self.kept.values()))


def _take_value(secret: Secret, version: int, sealed_id: str, fingerprint: str) -> None:
    secret.value_version = version
    secret.fingerprint = fingerprint
    secret.kept = {**secret.kept, str(version): sealed_id}
