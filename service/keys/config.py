"""The settings of root keys."""

from pathlib import Path

from pydantic import Field

from service.settings import SettingGroup


class KeyConfig(SettingGroup):
    """Where root keys come from; without any they are in the data folder."""

    TITLE = "root keys"

    root_keys: str | None = Field(
        None,
        repr=False,
        description="Root keys as ID:BASE64, the primary first, separated by commas "
        "or spaces. A variable only: every user of the machine can see options.",
    )
    root_keys_file: Path | None = Field(
        None,
        description="File of root keys as ID:BASE64, the primary first, readable by "
        "its owner only; a systemd credential works. Without it, a program or the "
        "variable AGENT_RUNTIME_ROOT_KEYS, root keys are kept in the data folder.",
    )
    root_keys_program: str | None = Field(
        None, description="Command that wraps and unwraps keys, for example with a KMS."
    )
