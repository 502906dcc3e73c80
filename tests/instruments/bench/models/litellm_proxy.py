"""LiteLLM Proxy as a peer of the model gateway.

One worker, in the mode for production, without what would slow it down: its pages, log
lines, callbacks, retries. Without a database too: its client of one, Prisma, downloads
a program that no package registry has. So it knows one key, its master's, and records
nothing: it does less than it would with a database.
"""

import asyncio
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

import aiohttp
import psutil

from tests.instruments.bench.models.provider import MODEL
from tests.support.harness.environment import installed_from
from tests.support.harness.process import Process, ProcessError, free_ports
from tests.support.project import ROOT
from tests.support.waiting import until

LOCK: Final = Path(__file__).with_name("litellm-requirements.txt")
START_TIMEOUT_S: Final = 300.0


@contextmanager
def running_litellm(
    folder: Path, provider_url: str, alias: str
) -> Iterator[tuple[str, str, psutil.Process]]:
    """Run it with a model that is the provider's; yield its URL, key and process.

    :raises MissingError: it can't be installed
    """
    programs = installed_from(LOCK, ROOT / ".litellm-proxy") / "bin"
    folder.mkdir()
    key = f"sk-{secrets.token_urlsafe(24)}"
    served = {
        "model": f"openai/{MODEL}",
        "api_base": f"{provider_url}/v1",
        "api_key": "sk-provider",
    }
    config = {
        "model_list": [{"model_name": alias, "litellm_params": served}],
        "general_settings": {"master_key": key},
        "litellm_settings": {"telemetry": False, "num_retries": 0},
    }
    # YAML has JSON in it.
    (folder / "config.yaml").write_text(json.dumps(config))
    (port,) = free_ports(1)
    process = Process(
        [
            *(programs / "litellm", "--config", folder / "config.yaml"),
            *("--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"),
            *("--telemetry", "False"),
        ],
        folder / "litellm.log",
        # All of its environment: it would read settings from ours.
        environment={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DONT_SHOW_FEEDBACK_BOX": "true",
            "DISABLE_ADMIN_UI": "True",
            "NO_DOCS": "True",
        },
        folder=folder,
    )
    process.start()
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_ready(process, url))
        yield url, key, psutil.Process(process.pid)
    finally:
        process.stop()


async def _ready(process: Process, url: str) -> None:
    async with aiohttp.ClientSession(url) as http:

        async def is_ready() -> bool:
            if not process.is_running:
                raise ProcessError(f"LiteLLM ended: {process.log_tail()}")
            try:
                async with http.get("/health/readiness") as answer:
                    return answer.status == HTTPStatus.OK
            except aiohttp.ClientConnectionError:
                return False

        await until(is_ready, timeout_s=START_TIMEOUT_S)
