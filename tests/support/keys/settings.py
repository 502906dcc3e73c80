"""Settings of root keys."""

import base64
from pathlib import Path

from service.config import Config
from service.waits import Waits

KEY_PROGRAM = Path(__file__).with_name("key_program.py")
WAIT_S = Waits().root_key_s
KEY = base64.b64encode(bytes(32)).decode()


def config(**environment: str) -> Config:
    return Config.read(
        {}, {f"AGENT_RUNTIME_{name}": value for name, value in environment.items()}
    )


def key_file(folder: Path, *, mode: int = 0o600) -> str:
    path = folder / "root-keys"
    path.write_text(f"new:{KEY}\nold:{KEY}\n")
    path.chmod(mode)
    return str(path)
