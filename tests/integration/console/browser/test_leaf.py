"""The leaf of an entry, as the browser computes it from the entry as recorded."""

from uuid import UUID

import pytest

from tests.integration.console.browser.conftest import Visit

pytestmark = pytest.mark.thorough

LEAF = """
async entry => {
  const {leafOf} = await import("/console/app/leaf.js");
  return leafOf(entry).then(leaf => leaf.length, error => error.message);
}
"""
LEAF_BYTES = 32
STATES = {"state": "{}", "state_base64": "e30="}
ENTRY = {
    "position": 1,
    "recorded_at": "2026-03-01T00:00:00Z",
    "aggregate_id": str(UUID(int=1)),
    "version": 1,
    "topic": "user.created",
    "command_id": str(UUID(int=2)),
    "metadata": "{}",
}


def test_an_entry_with_two_states_is_refused(visit: Visit) -> None:
    """Programs differ in which of both they read."""
    visitor = visit("ada").open("verify")

    for name, state in STATES.items():
        assert visitor.page.evaluate(LEAF, {**ENTRY, name: state}) == LEAF_BYTES
    both = visitor.page.evaluate(LEAF, {**ENTRY, **STATES})
    assert both == "the entry has two states"
