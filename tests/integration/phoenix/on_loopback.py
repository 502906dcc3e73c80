"""Runs Phoenix, in its own virtual environment, with every port on loopback.

Its port for OTLP over gRPC is on all interfaces, whatever PHOENIX_HOST says.
"""

import sys
from typing import Any

import grpc.aio
from phoenix.server.main import main

add_insecure_port = grpc.aio._server.Server.add_insecure_port  # noqa: SLF001 # grpc has no other way


def on_loopback(server: Any, address: str) -> int:
    port: int = add_insecure_port(server, address.replace("[::]", "127.0.0.1"))
    return port


grpc.aio._server.Server.add_insecure_port = on_loopback  # noqa: SLF001 # grpc has no other way
sys.exit(main())
