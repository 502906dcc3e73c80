"""Which secret the gateway sends to a connector, and in which header."""

from typing import Final

from typing_extensions import TypedDict

OF_OWNER: Final = "owner"
OF_CALLER: Final = "caller"


class CredentialSetting(TypedDict):
    """The secret that the gateway sends, and its header; the value isn't in it."""

    whose: str
    secret_name: str | None
    header: str
    scheme: str | None
