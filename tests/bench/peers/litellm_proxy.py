"""Operation 5 beside the list of models and prices of LiteLLM's proxy.

It runs without a database: its models are in its configuration, their prices in the
file that comes with it. It has as many models as our catalog.
"""

import asyncio
import json
import os
from collections.abc import Generator
from http import HTTPStatus
from pathlib import Path
from typing import Final

import aiohttp
import orjson
import psutil

from tests.bench.peers.comparison import Comparison, postgres, requests
from tests.bench.plan import Plan, Request
from tests.bench.stage import Stage
from tests.costs.litellm_prices import VERSION, price_file
from tests.harness.environment import installed
from tests.harness.process import Process, ProcessError, free_ports
from tests.waiting import until

ROOT = Path(__file__).parents[3]
REQUIREMENTS: Final = f"litellm[proxy]=={VERSION}"
KEY: Final = "sk-bench"
START_TIMEOUT_S: Final = 600.0
# It takes seconds for an answer.
CONNECTIONS: Final = 4
SECONDS_MIN: Final = 20.0
LIST: Final = "/model/info"


def compared(stage: Stage) -> Generator[Comparison, None, None]:
    """Yield the comparison.

    :raises MissingError: it can't be installed
    """
    environment = installed(REQUIREMENTS, ROOT / ".peers/litellm")
    folder = stage.folder / "litellm"
    folder.mkdir()
    ours = asyncio.run(_number_of_models(stage))
    config = {
        "model_list": [
            {"model_name": key, "litellm_params": {"model": key, "api_key": "none"}}
            for key in _models(price_file(environment))[:ours]
        ],
        "general_settings": {"master_key": KEY},
    }
    # YAML has JSON in it.
    (folder / "config.yaml").write_text(json.dumps(config))
    (port,) = free_ports(1)
    process = Process(
        [
            *(environment / "bin/litellm", "--config", folder / "config.yaml"),
            *("--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"),
        ],
        folder / "log",
        # All of its environment: it would read settings from ours.
        environment={
            "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_LOG": "ERROR",
            "LITELLM_MODE": "PRODUCTION",
        },
        folder=folder,
    )
    process.start()
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_ready(process, url))
        plan = Plan({"Authorization": f"Bearer {KEY}"}, [Request("GET", LIST)])
        own = [psutil.Process(stage.api.pid), postgres(stage.database_url)]
        yield Comparison(
            ours_is="operation 5, 4 connections",
            theirs_is=f"LiteLLM's proxy: `GET {LIST}`, as many models",
            ours=requests(stage.api.url, stage.catalog, own, connections=CONNECTIONS),
            theirs=requests(
                url,
                plan.write(folder / "list.plan"),
                [psutil.Process(process.pid)],
                connections=CONNECTIONS,
                seconds_min=SECONDS_MIN,
            ),
        )
    finally:
        process.stop()


async def _number_of_models(stage: Stage) -> int:
    plan = Plan.read(stage.catalog)
    url = stage.api.url + plan.requests[0].path
    async with (
        aiohttp.ClientSession(headers=plan.headers) as http,
        http.get(url) as answer,
    ):
        providers = orjson.loads(await answer.read())["data"]
    return sum(len(provider["models"]) for provider in providers)


def _models(prices: Path) -> list[str]:
    """Return the models of its file that have prices of tokens both ways."""
    return [
        key
        for key, entry in json.loads(prices.read_text()).items()
        if entry.get("input_cost_per_token")
        and entry.get("output_cost_per_token")
        and key != "sample_spec"
    ]


async def _ready(process: Process, url: str) -> None:
    async with aiohttp.ClientSession(url) as http:

        async def is_ready() -> bool:
            if not process.is_running:
                raise ProcessError(f"LiteLLM ended: {process.log_tail()}")
            try:
                async with http.get("/health/liveliness") as answer:
                    return answer.status == HTTPStatus.OK
            except aiohttp.ClientConnectionError:
                return False

        await until(is_ready, timeout_s=START_TIMEOUT_S)
