"""The service with one known bug.

Run as a program: ``python -m tests.instruments.faults.buggy_serve BUG serve ...``.
"""

import sys

from service.cli.main import main
from service.hardening import forbid_dumps
from tests.instruments.faults.known_bugs import BUGS

if __name__ == "__main__":
    BUGS[sys.argv[1]].install()
    forbid_dumps()
    sys.exit(main(sys.argv[2:]))
