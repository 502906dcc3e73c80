"""An agent, its managers and its readers."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.events import Id, Named, Published, differences
from service.identifiers import id_text

MANAGERS_MAX = 100
READERS_MAX = 100


class Agent(LoggedAggregate):
    """A program that calls tools; the user who registers it is its first manager."""

    class Created(LoggedAggregate.Created):
        """An agent was registered; its creator is its first manager.

        Emitted by ``POST /api/catalog/agents``.
        """

        TOPIC = "agent.registered"
        name: Published[str]
        description: Published[str]
        manager_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"registered the agent {self.name!r}, "
                f"managed by {named(self.manager_id)}"
            )

    class Edited(LoggedAggregate.Event):
        """The agent has this name and description from now on.

        Emitted by ``PUT /api/catalog/agents/{agent_id}``.
        """

        TOPIC = "agent.edited"
        name: Published[str]
        description: Published[str]
        previous_name: Published[str]
        previous_description: Published[str]

        def sentence(self, named: Named) -> str:
            return f"edited the agent {self.subject(named)}: " + differences(
                ("name", self.previous_name, self.name),
                ("description", self.previous_description, self.description),
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.name = self.name
            aggregate.description = self.description

    class Retired(LoggedAggregate.Event):
        """The agent was retired permanently; all of its tools are denied.

        Its grants have no effect any more, and its rules can't be changed.

        Emitted by ``DELETE /api/catalog/agents/{agent_id}``.
        """

        TOPIC = "agent.retired"

        def sentence(self, named: Named) -> str:
            return (
                f"retired the agent {self.subject(named)}: all of its tools are denied"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.is_retired = True

    class ManagerAppointed(LoggedAggregate.Event):
        """The user now manages the agent.

        Emitted by ``PUT /api/catalog/agents/{agent_id}/managers/{user_id}``.
        """

        TOPIC = "agent.manager_appointed"
        user_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"gave {named(self.user_id)} full management of the agent "
                f"{self.subject(named)}"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.manager_ids = sorted([*aggregate.manager_ids, self.user_id])

    class ManagerDismissed(LoggedAggregate.Event):
        """The user no longer manages the agent.

        Emitted by ``DELETE /api/catalog/agents/{agent_id}/managers/{user_id}``.
        """

        TOPIC = "agent.manager_dismissed"
        user_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"took full management of the agent {self.subject(named)} "
                f"from {named(self.user_id)}"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.manager_ids = [
                each for each in aggregate.manager_ids if each != self.user_id
            ]

    class ReaderAppointed(LoggedAggregate.Event):
        """The user may now read the agent's rules and explain its decisions.

        Emitted by ``PUT /api/catalog/agents/{agent_id}/readers/{user_id}``.
        """

        TOPIC = "agent.reader_appointed"
        user_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"let {named(self.user_id)} read the rules and decisions of the agent "
                f"{self.subject(named)}"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.reader_ids = sorted([*aggregate.reader_ids, self.user_id])

    class ReaderDismissed(LoggedAggregate.Event):
        """The user may no longer read the agent's rules as its reader.

        Emitted by ``DELETE /api/catalog/agents/{agent_id}/readers/{user_id}``.
        """

        TOPIC = "agent.reader_dismissed"
        user_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"stopped {named(self.user_id)} from reading the rules of the agent "
                f"{self.subject(named)}"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.reader_ids = [
                each for each in aggregate.reader_ids if each != self.user_id
            ]

    class ToolSearchChanged(LoggedAggregate.Event):
        """A longer list of the agent's tools is searched from now on, not sent.

        Null: it is always sent.

        Emitted by ``PUT /api/mcp/agents/{agent_id}/gateway``.
        """

        TOPIC = "agent.tool_search_changed"
        tools_listed_max: Published[int | None]
        previous_tools_listed_max: Published[int | None]

        def sentence(self, named: Named) -> str:
            if self.tools_listed_max is None:
                return f"had all tools listed to the agent {self.subject(named)} again"
            return (
                f"let the agent {self.subject(named)} search its tools where they are "
                f"more than {self.tools_listed_max}"
            )

        def apply(self, aggregate: "Agent") -> None:
            aggregate.tools_listed_max = self.tools_listed_max

    TOPIC = "agent"
    class_version = 4  # with readers, is_retired, and tools_listed_max

    @event(Created)
    def __init__(self, name: str, description: str, manager_id: str) -> None:
        self.name = name
        self.description = description
        self.manager_ids = [manager_id]
        self.reader_ids: list[str] = []
        self.is_retired = False
        self.tools_listed_max: int | None = None

    def is_managed_by(self, user_id: UUID) -> bool:
        return id_text(user_id) in self.manager_ids

    def is_read_by(self, user_id: UUID) -> bool:
        return id_text(user_id) in self.reader_ids

    def refuse_if_retired(self) -> None:
        """Refuse a change of a retired agent.

        :raises ConflictError: it is retired
        """
        if self.is_retired:
            raise ConflictError(
                "this agent is retired: its rules and grants can't be changed",
                code="agent_retired",
            )

    def edit(self, *, name: str, description: str) -> bool:
        """Give the agent a name and a description; return whether either differs.

        :raises ConflictError: the agent is retired
        """
        self.refuse_if_retired()
        if (name, description) == (self.name, self.description):
            return False
        self.trigger_event(
            self.Edited,
            name=name,
            description=description,
            previous_name=self.name,
            previous_description=self.description,
        )
        return True

    def change_tool_search(self, tools_listed_max: int | None) -> bool:
        """Have longer lists of tools searched; return whether that differs.

        :raises ConflictError: the agent is retired
        """
        self.refuse_if_retired()
        if tools_listed_max == self.tools_listed_max:
            return False
        self.trigger_event(
            self.ToolSearchChanged,
            tools_listed_max=tools_listed_max,
            previous_tools_listed_max=self.tools_listed_max,
        )
        return True

    def retire(self) -> bool:
        """End the agent permanently; return whether it was active."""
        if self.is_retired:
            return False
        self.trigger_event(self.Retired)
        return True

    def appoint_manager(self, user_id: UUID) -> bool:
        """Add a manager and return whether that changed anything.

        :raises ConflictError: the agent has ``MANAGERS_MAX`` of them
        """
        if self.is_managed_by(user_id):
            return False
        if len(self.manager_ids) >= MANAGERS_MAX:
            raise ConflictError(
                f"an agent has at most {MANAGERS_MAX} managers", code="limit_reached"
            )
        self.trigger_event(self.ManagerAppointed, user_id=str(user_id))
        return True

    def dismiss_manager(self, user_id: UUID) -> bool:
        """Remove a manager and return whether that changed anything."""
        if not self.is_managed_by(user_id):
            return False
        self.trigger_event(self.ManagerDismissed, user_id=str(user_id))
        return True

    def appoint_reader(self, user_id: UUID) -> bool:
        """Add a reader and return whether that changed anything.

        :raises ConflictError: the agent has ``READERS_MAX`` of them
        """
        if self.is_read_by(user_id):
            return False
        if len(self.reader_ids) >= READERS_MAX:
            raise ConflictError(
                f"an agent has at most {READERS_MAX} readers", code="limit_reached"
            )
        self.trigger_event(self.ReaderAppointed, user_id=str(user_id))
        return True

    def dismiss_reader(self, user_id: UUID) -> bool:
        """Remove a reader and return whether that changed anything."""
        if not self.is_read_by(user_id):
            return False
        self.trigger_event(self.ReaderDismissed, user_id=str(user_id))
        return True
