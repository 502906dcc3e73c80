"""Add the event ``agent.team_assigned``, with ``PUT /api/catalog/agents/{id}/team``."""

from typing import Final

from tests.instruments.recipes.edits import Edit, LeftOut, Recipe

AGGREGATE = "service/agents/aggregate.py"
OPERATIONS = "tests/support/agents/operations.py"
COMMANDS = "service/agents/commands.py"
ROUTES = "service/agents/routes.py"
RESOURCE = "service/agents/resource.py"
TABLE = "projections/agents/table.py"
PROJECTOR = "projections/agents/projector.py"

EVENT = '''\
    class TeamAssigned(LoggedAggregate.Event):
        """The agent belongs to this team from now on.

        Emitted by ``PUT /api/catalog/agents/{agent_id}/team``.
        """

        TOPIC = "agent.team_assigned"
        team: Published[str]

        def sentence(self, named: Named) -> str:
            return f"assigned the agent {self.subject(named)} to the team {self.team!r}"

        def apply(self, aggregate: "Agent") -> None:
            aggregate.team = self.team

'''
DECISION = '''\
    def assign_team(self, team: str) -> bool:
        """Assign the agent to a team; return whether it was in another.

        :raises ConflictError: the agent is retired
        """
        self.refuse_if_retired()
        if team == self.team:
            return False
        self.trigger_event(self.TeamAssigned, team=team)
        return True

'''
TEST = '''\
"""Which team an agent belongs to: who says so."""

from service.agents.commands import AssignTeam, assign_team
from service.errors import ConflictError
from tests.support.connectors.making import MANAGER, agent_of
from tests.support.scenario import Scenario


async def test_a_manager_assigns_a_team_once(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)
    command = AssignTeam(agent_id=agent.id, team="Support")
    await scenario.when(assign_team, command, by=MANAGER)
    await scenario.then(("agent.team_assigned", MANAGER))
    await scenario.when(assign_team, command, by=MANAGER)
    await scenario.then()


async def test_a_retired_agent_stays_in_its_team(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    agent.retire()
    await scenario.given(agent)
    command = AssignTeam(agent_id=agent.id, team="Support")
    await scenario.when(assign_team, command, by=MANAGER)
    await scenario.then_refused(ConflictError)
'''
COMMAND = """\
@dataclass(frozen=True, slots=True, kw_only=True)
class AssignTeam:
    agent_id: UUID
    team: str


"""
HANDLER = '''\
async def assign_team(command: AssignTeam, work: UnitOfWork) -> tuple[Agent, bool]:
    """Assign an agent to a team; return it, and whether it was in another.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent is retired
    """
    agent = await managed_agent(work, command.agent_id)
    work.match(agent)
    changed = agent.assign_team(command.team)
    work.save(agent)
    return agent, changed


'''
ROUTE = '''\
class AssignedTeam(RequestModel):
    team: Name


@routes.put(
    "/api/catalog/agents/{agent_id}/team",
    answers={
        200: "team assigned, or agent was already in it",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see",
        409: "the agent is retired (`agent_retired`)",
    },
    if_match=True,
    body_example={"team": "Support"},
)
async def put_agent_team(
    request: web.Request, agent_id: UUID, body: AssignedTeam
) -> Answer[AgentResource]:
    """Assign an agent to a team.

    Requires full management of the agent.
    """
    return await dispatch(
        request,
        assign_team,
        AssignTeam(agent_id=agent_id, team=body.team),
        lambda result: _agent_answer(
            result, changed="team assigned", unchanged="agent was already in it"
        ),
    )


'''


def before(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, text + anchor, instead=True)


RECIPE: Final = Recipe(
    name="team_event",
    written_in="tests/instruments/recipes/team_event.py",
    sections=("Add an operation", "Add an event, or a version of one"),
    steps={
        "event": (
            before(AGGREGATE, '    TOPIC = "agent"\n', EVENT),
            Edit(
                AGGREGATE,
                "        self.is_retired = False\n",
                '        self.team = ""\n',
            ),
            before(AGGREGATE, "    def retire(self)", DECISION),
            Edit("tests/unit/agents/test_team.py", "", TEST),
        ),
        "version of the aggregate": (
            before(
                AGGREGATE,
                "    @event(Created)\n",
                "    class_version += 1  # with team\n\n",
            ),
        ),
        "command": (
            before(
                COMMANDS,
                "@dataclass(frozen=True, slots=True, kw_only=True)\nclass RetireAgent:",
                COMMAND,
            ),
            before(COMMANDS, "async def retire_agent(", HANDLER),
        ),
        "description": (
            Edit(
                "service/http/openapi/descriptions.py",
                "BODY: Final = {\n",
                '    "team": "The team\'s name.",\n',
            ),
        ),
        "route": (
            before(
                ROUTES,
                '@routes.delete(\n    "/api/catalog/agents/{agent_id}",\n',
                ROUTE,
            ),
            before(ROUTES, "    DismissManager,\n", "    AssignTeam,\n"),
            before(
                ROUTES,
                "    dismiss_manager,\n    edit_agent,\n",
                "    assign_team,\n",
            ),
            Edit(RESOURCE, "    description: str\n", "    team: str\n"),
            Edit(
                RESOURCE,
                '        "description": agent.description,\n',
                '        "team": agent.team,\n',
            ),
        ),
        "projector": (
            Edit(
                "projections/agents/table.sql",
                "    description text        NOT NULL,\n",
                "    team        text        NOT NULL,\n",
            ),
            Edit(TABLE, "    description: str\n", '    team: str = ""\n'),
            Edit(TABLE, "    SELECT id, name,", " team,"),
            Edit(TABLE, "           id, name,", " team,"),
            Edit(TABLE, " %(name)b::text[],", " %(team)b::text[],"),
            Edit(
                TABLE,
                "       SET name = excluded.name,\n",
                "           team = excluded.team,\n",
            ),
            Edit(
                "projections/agents/queries.py", "    SELECT a.id, a.name,", " a.team,"
            ),
            Edit(PROJECTOR, "        Agent.Edited,\n", "        Agent.TeamAssigned,\n"),
            before(
                PROJECTOR,
                "        case Agent.Retired():\n",
                "        case Agent.TeamAssigned():\n            row.team = event.team\n",
            ),
        ),
        "whole rows": (
            Edit(
                "tests/integration/agents/test_projector.py",
                "({agent.id},Sorter,Sorts,",
                '"",',
            ),
            Edit(
                "tests/integration/audit/test_history.py",
                '        "reader_ids": [],\n',
                '        "team": "",\n',
            ),
        ),
        "name in the client": (
            Edit(
                "client/generator/names.py",
                '    "put_agent": "change",\n',
                '    "put_agent_team": "assign_team",\n',
            ),
        ),
        "matrix": (
            before(
                OPERATIONS,
                "    put_agent_gateway  ",
                "    put_agent_team   404 403 404 200 403\n",
            ),
        ),
        "worst inputs": (
            Edit(
                OPERATIONS,
                '            "put_agent_reader",\n',
                '            "put_agent_team",\n',
            ),
        ),
        "walk": (
            before(
                OPERATIONS,
                '    await walk.call("put_agent_manager")',
                '    await walk.call("put_agent_team", {"team": "Support"})\n',
            ),
        ),
    },
    tests=(
        "tests/integration/agents",
        "tests/integration/audit/test_history.py",
        "tests/instruments/security/test_matrix.py",
        "tests/instruments/security/test_worst_inputs.py::test_every_operation_has_its_worst_inputs",
    ),
    left_out=(
        LeftOut(
            "projector",
            "tests/unit/project/test_capabilities.py",
            "to `events` of AgentsProjector in ",
        ),
        LeftOut(
            "walk",
            "tests/integration/openapi/test_examples.py",
            "call put_agent_team in tests/support/agents/operations.py",
        ),
        LeftOut(
            "matrix",
            "tests/instruments/security/test_matrix.py::test_every_operation_is_in_the_matrix",
            "needs a line in ACCESS of tests/support/agents/operations.py",
        ),
        LeftOut(
            "worst inputs",
            "tests/instruments/security/test_worst_inputs.py::test_every_operation_has_its_worst_inputs",
            "must be in `worst` or `simple` of tests/support/agents/operations.py",
        ),
    ),
)
