"""Find definitions that can't be accepted by anybody."""

from collections.abc import Mapping
from typing import Any, Final

from service.gateway.schemas.check import problem_of
from service.gateway.schemas.presented import in_2020_12
from service.tool_definitions.names import NAME_CHARACTERS_MAX, is_acceptable_name

# In one request that accepts them.
ACCEPTED_AT_ONCE_MAX: Final = 500
DOCUMENT_BYTES_MAX: Final = 65_536

NAME_REFUSED: Final = (
    f"the name must have 1 to {NAME_CHARACTERS_MAX} characters of A-Z a-z 0-9 _ . - / :"
)
TOO_LARGE: Final = f"the definition has more than {DOCUMENT_BYTES_MAX} bytes"
NO_SCHEMA: Final = "inputSchema must be a JSON Schema of an object"
# Official clients refuse to call such a tool without a task, before anything is sent.
TASKS_ONLY: Final = (
    "the tool can be called as a task only (execution.taskSupport is required), and "
    "the gateway has no tasks; let its server make tasks optional"
)
CREDENTIAL_RETURNED: Final = (
    "the server put the credential that it was sent into the definition, which is not "
    "kept; stop the server from that, then replace the secret"
)


def why_unacceptable(document: Mapping[str, Any], size: int) -> str | None:
    """Return why a definition can't be accepted; None if it can."""
    if not is_acceptable_name(document["name"]):
        return NAME_REFUSED
    if size > DOCUMENT_BYTES_MAX:
        return TOO_LARGE
    schema = document.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return NO_SCHEMA
    execution = document.get("execution")
    if isinstance(execution, dict) and execution.get("taskSupport") == "required":
        return TASKS_ONLY
    return problem_of(in_2020_12(schema), "inputSchema")
