"""The definitions of a connector's tools: observed, and accepted by a person."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID

from eventsourcing.domain import event
from typing_extensions import TypedDict

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed
from service.identifiers import id_text, named_id

Value = TypeVar("Value")

# Names that were never accepted, also of tools that are gone.
FIRST_SEEN_MAX: Final = 5_000


class Standing(StrEnum):
    """How an observed definition compares with the accepted one.

    ``accepted``: they are the same. ``new``: none of this name was accepted yet, and it
    is as it was first seen. ``changed``: it differs from the accepted one, or else from
    the first one seen, so that the tool is hidden. ``gone``: the upstream doesn't list
    it now. ``unacceptable``: its name or definition can't be accepted.
    """

    ACCEPTED = "accepted"
    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    UNACCEPTABLE = "unacceptable"


class StoredDefinition(TypedDict):
    """A definition as JSON, its keys in the server's order, with its digest."""

    digest: str
    document: str


class ToolDefinitions(LoggedAggregate):
    """The definitions of the tools of one connector; created with the first of them.

    What was observed first is accepted with it; later a person accepts what is new or
    has changed. Each event names the connector.
    """

    class Created(LoggedAggregate.Created):
        """Tools of a connector were observed for the first time; the next says which.

        Emitted by the first observation of a connector.
        """

        TOPIC = "tool_definitions.created"
        connector_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"began the tool definitions of connector {named(self.connector_id)}, "
                "with none"
            )

    class Observed(LoggedAggregate.Event):
        """The upstream lists other definitions than before.

        ``digests`` has those that are new or differ, by tool, and ``gone`` those that
        it doesn't list any more. ``unacceptable`` says why a tool is never accepted.
        ``accepted`` are accepted with their first observation. ``documents`` are the
        definitions as JSON; another order of keys is no other definition.

        Emitted by observations of a connector, where the list differs.
        """

        TOPIC = "tool_definitions.observed"
        connector_id: Published[Id]
        digests: Published[dict[str, str]]
        gone: Published[list[str]]
        accepted: Published[list[str]]
        unacceptable: Published[dict[str, str]]
        documents: dict[str, str]

        def sentence(self, named: Named) -> str:
            connector = named(self.connector_id)
            parts = [
                f"{what} {listed([*map(repr, tools)])}"
                for what, tools in (
                    ("accepted", self.accepted),
                    ("new or changed", sorted({*self.digests} - {*self.accepted})),
                    ("gone", self.gone),
                )
                if tools
            ]
            return f"observed tools of connector {connector}: {'; '.join(parts)}"

        def apply(self, aggregate: "ToolDefinitions") -> None:
            differing = {
                tool: StoredDefinition(digest=digest, document=self.documents[tool])
                for tool, digest in self.digests.items()
            }
            aggregate.observed = {
                **_without(aggregate.observed, self.gone),
                **differing,
            }
            aggregate.unacceptable = {
                **_without(aggregate.unacceptable, [*self.gone, *self.digests]),
                **self.unacceptable,
            }
            _accept(aggregate, self.accepted)
            first_seen = {
                tool: digest
                for tool, digest in self.digests.items()
                if tool not in aggregate.accepted
                and tool not in aggregate.unacceptable
                and tool not in aggregate.first_seen
            }
            room = FIRST_SEEN_MAX - len(aggregate.first_seen)
            aggregate.first_seen = {
                **aggregate.first_seen,
                **dict(list(first_seen.items())[:room]),
            }
            aggregate.was_observed = True

    class Accepted(LoggedAggregate.Event):
        """These definitions, tool to digest, may be called from now on.

        Emitted by ``POST /api/mcp/connectors/{id}/definitions/accept``.
        """

        TOPIC = "tool_definitions.accepted"
        connector_id: Published[Id]
        digests: Published[dict[str, str]]

        def sentence(self, named: Named) -> str:
            tools = listed([*map(repr, self.digests)])
            return (
                f"accepted the definitions of tools of connector "
                f"{named(self.connector_id)}: {tools}"
            )

        def apply(self, aggregate: "ToolDefinitions") -> None:
            _accept(aggregate, self.digests)

    TOPIC = "tool_definitions"
    class_version = 2

    @staticmethod
    def create_id(connector_id: str) -> UUID:
        return named_id("tool_definitions", connector_id)

    @classmethod
    def id_for(cls, connector_id: UUID) -> UUID:
        return cls.create_id(id_text(connector_id))

    @event(Created)
    def __init__(self, connector_id: str) -> None:
        self.connector_id = connector_id
        # By tool: what the upstream lists, and what may be called.
        self.observed: dict[str, StoredDefinition] = {}
        self.accepted: dict[str, StoredDefinition] = {}
        # By tool that was never accepted: the digest of the first definition seen, also
        # of one that is gone: it could come back as another.
        self.first_seen: dict[str, str] = {}
        # By tool: why it is never accepted.
        self.unacceptable: dict[str, str] = {}
        self.was_observed = False

    @property
    def known(self) -> set[str]:
        """The tools that are listed, or were and may come back as accepted."""
        return {*self.observed, *self.accepted}

    def standing(self, tool: str) -> Standing | None:
        """Return how a tool stands; None for one that was never observed."""
        observed, accepted = self.observed.get(tool), self.accepted.get(tool)
        return standing_of(
            observed=observed["digest"] if observed else None,
            accepted=accepted["digest"] if accepted else None,
            first_seen=self.first_seen.get(tool),
            is_unacceptable=tool in self.unacceptable,
        )

    def lists(self, tool: str) -> bool:
        """Whether the upstream lists a tool that could be accepted.

        The name of any other one may be anything, and is not to be recorded.
        """
        return tool in self.observed and tool not in self.unacceptable

    def observe(
        self,
        definitions: Mapping[str, StoredDefinition],
        unacceptable: Mapping[str, str],
    ) -> bool:
        """Record the complete list of the upstream; return whether it differs."""
        differing = {
            tool: each
            for tool, each in sorted(definitions.items())
            if tool not in self.observed
            or self.observed[tool]["digest"] != each["digest"]
            or self.unacceptable.get(tool) != unacceptable.get(tool)
        }
        gone = sorted(self.observed.keys() - definitions.keys())
        if not differing and not gone and self.was_observed:
            return False
        is_first = not self.was_observed
        self.trigger_event(
            self.Observed,
            connector_id=self.connector_id,
            digests={tool: each["digest"] for tool, each in differing.items()},
            gone=gone,
            accepted=[
                tool for tool in differing if is_first and tool not in unacceptable
            ],
            unacceptable={
                tool: unacceptable[tool] for tool in differing if tool in unacceptable
            },
            documents={tool: each["document"] for tool, each in differing.items()},
        )
        return True

    def accept(self, tools: Sequence[str]) -> bool:
        """Accept what is observed of some tools; return whether anything differs."""
        digests = {
            tool: self.observed[tool]["digest"]
            for tool in sorted(set(tools))
            if self.standing(tool) in (Standing.NEW, Standing.CHANGED)
        }
        if not digests:
            return False
        self.trigger_event(
            self.Accepted, connector_id=self.connector_id, digests=digests
        )
        return True


def standing_of(
    *,
    observed: str | None,
    accepted: str | None,
    first_seen: str | None,
    is_unacceptable: bool,
) -> Standing | None:
    """Compare the digest that is observed of a tool with the others; None is none."""
    if observed is None:
        return Standing.GONE if accepted else None
    if is_unacceptable:
        return Standing.UNACCEPTABLE
    if accepted is None:
        return Standing.NEW if first_seen == observed else Standing.CHANGED
    return Standing.ACCEPTED if observed == accepted else Standing.CHANGED


def _accept(definitions: ToolDefinitions, tools: Collection[str]) -> None:
    # What is gone and was accepted stays accepted: it may come back unchanged.
    definitions.accepted = {
        **definitions.accepted,
        **{tool: definitions.observed[tool] for tool in tools},
    }
    definitions.first_seen = _without(definitions.first_seen, tools)


def _without(mapping: Mapping[str, Value], keys: Collection[str]) -> dict[str, Value]:
    gone = set(keys)
    return {key: value for key, value in mapping.items() if key not in gone}
