"""Which projections are replayed."""

from projections.audit.replay import REPLAYED
from projections.catalog import PROJECTORS


def test_every_projection_is_replayed_or_is_the_log_itself() -> None:
    replayed = {each.name for each in REPLAYED}

    assert {each.name for each in PROJECTORS} - replayed == {
        "audit_trail",
        "destruction",
        "merkle_tree",
    }
