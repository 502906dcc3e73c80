"""The rules that decide which tools an agent may call."""

from aiohttp import web

from projections.tool_rules.projector import ToolRulesProjector
from projections.tool_rules.routes import routes as tool_rule_reads
from service.capabilities.declaration import Capability, Process
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.call_history import CALL_HISTORY, NoCallHistory
from service.tool_rules.known_tools import TOOL_NAMES, NoToolNames
from service.tool_rules.preview_routes import routes as previews
from service.tool_rules.removal_routes import routes as removals
from service.tool_rules.restore_routes import routes as restores
from service.tool_rules.routes import routes as tool_rule_commands


def _add_resources(app: web.Application, _process: Process) -> None:
    app[CALL_HISTORY] = NoCallHistory()
    app[TOOL_NAMES] = NoToolNames()


TOOL_RULES = Capability(
    name="tool_rules",
    aggregates=(ToolRules,),
    routes=(tool_rule_commands, previews, restores, removals, tool_rule_reads),
    projectors=(ToolRulesProjector(),),
    foreign_tables=(
        "connector",
        "connector_grant",
    ),
    app_resources=_add_resources,
)
