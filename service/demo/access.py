"""Where the demo is, and the tokens to use it with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from service.errors import StartError
from service.users.tokens import ADMIN_TOKEN_FILE

# Where an agent's client finds the gateway, and its token.
AGENT_URL_FILE: Final = "agent-url"
# Written before anything is loaded.
TOOLS_PORT_FILE: Final = "demo-tools-port"
AGENT_TOKEN_FILE: Final = "agent-token"  # noqa: S105 # a file's name


@dataclass(frozen=True, slots=True)
class Demo:
    """Where the demo is, and the tokens of its agent and of admin."""

    base_url: str
    agent_id: str
    agent_url: str
    agent_token: str
    admin_token: str

    @classmethod
    def of(cls, data_dir: Path) -> "Demo":
        """Read the files that the demo writes.

        :raises StartError: one of them is missing
        """
        try:
            agent_url, agent_token, admin_token = (
                (data_dir / name).read_text(encoding="ascii").strip()
                for name in (AGENT_URL_FILE, AGENT_TOKEN_FILE, ADMIN_TOKEN_FILE)
            )
        except OSError as error:
            if (data_dir / TOOLS_PORT_FILE).exists():
                raise StartError(
                    f"the demo in {data_dir} isn't loaded yet: wait until the service "
                    "says how to open the web console; if it has, its log says why"
                ) from None
            raise StartError(
                f"there is no demo in {data_dir} ({error.filename}: {error.strerror}); "
                "start it by make serve, or name its folder by --data-dir"
            ) from None
        url = urlsplit(agent_url)
        return cls(
            base_url=f"{url.scheme}://{url.netloc}",
            agent_id=url.path.rpartition("/")[2],
            agent_url=agent_url,
            agent_token=agent_token,
            admin_token=admin_token,
        )
