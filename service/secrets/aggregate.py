"""A secret: which versions of its value there are, and where they are sealed."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
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
        """Of version 1."""

        TOPIC = "secret.created"
        owner_id: str
        name: str
        sealed_id: str
        fingerprint: str

    class CreatedAgain(LoggedAggregate.Event):
        """After a deletion."""

        TOPIC = "secret.created_again"
        version: int
        sealed_id: str
        fingerprint: str

    class Overwritten(LoggedAggregate.Event):
        TOPIC = "secret.overwritten"
        version: int
        sealed_id: str
        fingerprint: str

    class Restored(LoggedAggregate.Event):
        """A new version with the value of an earlier one."""

        TOPIC = "secret.restored"
        version: int
        restored_version: int
        sealed_id: str
        fingerprint: str

    class Revealed(LoggedAggregate.Event):
        """The value is about to be sent to its owner."""

        TOPIC = "secret.revealed"
        version: int

    class VersionsDestroyed(LoggedAggregate.Event):
        """Older values were given up; what is sealed of them is deleted."""

        TOPIC = "secret.versions_destroyed"
        versions: list[int]
        sealed_ids: list[str]

    class Deleted(LoggedAggregate.Event):
        """The secret and all of its values were given up."""

        TOPIC = "secret.deleted"
        sealed_ids: list[str]

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
        self._created_again(
            version=self.value_version + 1,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )

    @event(CreatedAgain)
    def _created_again(self, version: int, sealed_id: str, fingerprint: str) -> None:
        self.is_deleted = False
        self._take_value(version, sealed_id, fingerprint)

    def overwrite(self, *, sealed_id: UUID, fingerprint: str) -> None:
        """Add a version, also when the value is the same: it was set anew."""
        self._overwritten(
            version=self.value_version + 1,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )
        self._give_up_oldest()

    @event(Overwritten)
    def _overwritten(self, version: int, sealed_id: str, fingerprint: str) -> None:
        self._take_value(version, sealed_id, fingerprint)

    def restore(self, version: int, *, sealed_id: UUID, fingerprint: str) -> None:
        """Add a version that has the value of an earlier one, sealed anew."""
        self._restored(
            version=self.value_version + 1,
            restored_version=version,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )
        self._give_up_oldest()

    @event(Restored)
    def _restored(
        self, version: int, restored_version: int, sealed_id: str, fingerprint: str
    ) -> None:
        self._take_value(version, sealed_id, fingerprint)

    def reveal(self, version: int) -> None:
        self._revealed(version=version)

    @event(Revealed)
    def _revealed(self, version: int) -> None:
        pass  # a fact about whoever read it; the secret stays as it is

    def _give_up_oldest(self) -> None:
        given_up = list(self.kept.items())[:-VERSIONS_KEPT]
        if given_up:
            self._versions_destroyed(
                versions=[int(version) for version, _ in given_up],
                sealed_ids=[sealed_id for _, sealed_id in given_up],
            )

    @event(VersionsDestroyed)
    def _versions_destroyed(self, versions: list[int], sealed_ids: list[str]) -> None:
        self.kept = {
            version: sealed_id
            for version, sealed_id in self.kept.items()
            if int(version) not in versions
        }

    def delete(self) -> None:
        """End the secret; its name can be used again."""
        self._deleted(sealed_ids=list(self.kept.values()))

    @event(Deleted)
    def _deleted(self, sealed_ids: list[str]) -> None:
        self.is_deleted = True
        self.kept = {}

    def _take_value(self, version: int, sealed_id: str, fingerprint: str) -> None:
        self.value_version = version
        self.fingerprint = fingerprint
        self.kept = {**self.kept, str(version): sealed_id}
