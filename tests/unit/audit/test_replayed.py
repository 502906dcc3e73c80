"""Which projections are replayed."""

from tests.support.projectors import PROJECTORS


def test_every_projection_is_replayed_or_is_the_log_itself() -> None:
    assert {each.name for each in PROJECTORS if not each.replayed} == {
        "audit_trail",
        "destruction",
        "merkle_tree",
    }
