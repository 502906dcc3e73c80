"""The program of the follower process: ``serve``, with settings from standard input."""

import os
import signal
import sys
import threading

from service.cli.main import run_command
from service.cli.running import run_async
from service.config import Config
from service.hardening import forbid_dumps


def main() -> int:
    # Until the service handles it, this ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    config = Config.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
    return run_command(config, _serve)


def _stop_at_end_of_input() -> None:
    """Stop when the process that holds the other end of the pipe stops or ends."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGINT)


def _serve(config: Config) -> int:
    forbid_dumps()
    from service.serve import serve

    # The database is migrated: the process that started this one has done so.
    assert config.database_url is not None
    return run_async(serve(config, config.database_url, None))


if __name__ == "__main__":
    sys.exit(main())
