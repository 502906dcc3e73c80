"""How long a turn that spans have reported can still change."""

from datetime import timedelta
from typing import Final

# A trace accepts spans until this long after its last one.
AMENDED_FOR: Final = timedelta(hours=2)
