"""The tools that connectors were observed to list; the gateway observes them."""

from service.capabilities.declaration import Capability
from service.tool_definitions.aggregate import ToolDefinitions

TOOL_DEFINITIONS = Capability(name="tool_definitions", aggregates=(ToolDefinitions,))
