"""The settings of the proofs."""

from pydantic import Field

from service.settings import SettingGroup


class ProofsConfig(SettingGroup):
    """How often the log is compared with the tree of its proofs."""

    TITLE = "settings"

    log_check_hours: float = Field(
        24,
        gt=0,
        le=8760,
        description="Hours within which the whole log is compared with its Merkle tree "
        "again, in the background. A short log takes less.",
    )
