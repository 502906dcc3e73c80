"""Ask through clients in Python. Runs in the clients' environment.

Reads from standard input where each scenario is asked, and writes to standard output
what the client has said, as JSON.
"""

# mypy: ignore-errors

import json
import os
import socket
import sys
from dataclasses import dataclass
from typing import Any

TIMEOUT_S = 60
# Long enough for a busy machine to send an answer's first half.
STALL_TIMEOUT_S = 5


@dataclass(frozen=True)
class Place:
    """Where a scenario is asked: URLs as OpenAI's and Anthropic's clients take them."""

    scenario: str
    openai: str
    anthropic: str
    key: str

    @property
    def limits(self) -> dict[str, Any]:
        """Return options of most clients: one waits less where nothing comes."""
        if self.scenario == "stall":
            return {"timeout": STALL_TIMEOUT_S, "max_retries": 0}
        return {"timeout": TIMEOUT_S}


def stay_on_loopback() -> None:
    """Refuse to resolve the names of other hosts, which some packages would call."""
    resolve = socket.getaddrinfo

    def resolve_loopback(host: Any, *args: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", b"127.0.0.1", "localhost", None):
            raise OSError("only loopback")
        return resolve(host, *args, **options)

    socket.getaddrinfo = resolve_loopback
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LANGSMITH_TRACING"] = "false"


def error_of(error: BaseException) -> dict[str, Any]:
    return {
        "error": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "message": str(error),
        "body": getattr(error, "body", None),
    }


def transcript(client: Any, place: Place) -> list[Any]:
    """Return what a client has said, with the error that ended it."""
    said: list[Any] = []
    try:
        client(place, said)
    except Exception as error:  # noqa: BLE001 # it is compared
        said.append(error_of(error))
    return said


def main(name: str) -> None:
    from tests.instruments.model_clients import frameworks, sdks

    stay_on_loopback()
    client = {**sdks.CLIENTS, **frameworks.CLIENTS}[name]
    places = [Place(**each) for each in json.load(sys.stdin)]
    found = {each.scenario: transcript(client, each) for each in places}
    # Some clients write there too.
    sys.stdout.write("\n" + json.dumps(found, default=str) + "\n")
    sys.stdout.flush()
    # Without waiting for threads that don't end.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
