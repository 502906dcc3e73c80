"""The prefix of the types of all messages."""

from typing import Final

# In reversed DNS notation, as CloudEvents wants it. Nobody can own a name under
# "internal", which is set aside for private use.
TYPE_PREFIX: Final = "internal.agent-runtime."
