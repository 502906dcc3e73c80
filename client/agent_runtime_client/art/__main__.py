"""``python -m agent_runtime_client.art`` is the command ``art``."""

import sys

from agent_runtime_client.art.main import main

sys.exit(main())
