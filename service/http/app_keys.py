"""Keys of the resources that operations find in the application."""

from aiohttp import web

from service.event_log.log import EventLog
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.waits import Waits

EVENT_LOG = web.AppKey("event_log", EventLog)
KEY_RING = web.AppKey("key_ring", KeyRing)
VAULT = web.AppKey("vault", Vault)
# The names of optional capabilities that aren't there.
LEFT_OUT: web.AppKey[list[str]] = web.AppKey("left_out")
WAITS = web.AppKey("waits", Waits)
