"""Warnings about rules and connectors: on standard error, beside the data."""

import sys
from collections.abc import Mapping
from typing import Any

from agent_runtime_client.art import output
from agent_runtime_client.art.names import label, names_of


def note_warnings(caller: Any, answer: Mapping[str, Any]) -> bool:
    """Print the warnings of an answer; return whether there are any."""
    # Null in an answer about the past.
    warnings = answer.get("warnings") or []
    names = names_of(caller, {each["connector_id"] for each in warnings})
    for each in warnings:
        connector = label(each["connector_id"], names)
        text = f"warning: {connector}: {output.cell(each['message'])}"
        print(text, file=sys.stderr)
    return bool(warnings)
