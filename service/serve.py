"""Run the service until it is told to stop."""

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import web

from projections.audit.proofs.signer import run_signer
from projections.catalog import PROJECTORS, run_followers
from projections.engine.progress import wait_for_position
from projections.relay.checkpoint_relay import run_checkpoint_relay
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka_settings import kafka_settings
from projections.relay.relay import run_relay
from projections.sessions.phoenix.store import PhoenixStore, open_phoenix
from service.app import create_app
from service.bootstrap import create_first_admin
from service.config import Config
from service.demo.api import DemoError
from service.demo.load import load_demo
from service.embedded_postgres.server import EmbeddedPostgres
from service.errors import StartError, UnavailableError
from service.http.server import DRAINING, Runner, close_while_draining
from service.keys.root_key_source import outside_root_keys
from service.resources import Resources, open_resources

# How long requests under way may take after SIGTERM.
DRAIN_S = 20.0
LAST_REQUESTS_S = 0.5
WATCH_S = 0.5
KEEPALIVE_S = 75.0
FIRST_TABLES_S = 10.0
COLLECTOR_THRESHOLDS = (20_000, 20, 50)

TRY = """Try, in another terminal:
  TOKEN=$(cat {file})
  curl -s -H "Authorization: Bearer $TOKEN" {url}/api/users/me
  curl -s -H "Authorization: Bearer $TOKEN" {url}/api/observability/session/list
  curl -s -H "Authorization: Bearer $TOKEN" {url}/api/llm-router/providers
The API's page: {url}/docs"""

logger = logging.getLogger(__name__)


async def serve(
    config: Config, database_url: str, postgres: EmbeddedPostgres | None
) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit status.

    A second signal ends the drain at once.
    """
    kafka = _kafka(config)
    stop = _signals()
    async with AsyncExitStack() as stack:
        resources = await stack.enter_async_context(
            open_resources(
                database_url,
                config.data_dir,
                root=await outside_root_keys(config),
            )
        )
        token_file = await create_first_admin(resources, config.data_dir)
        if config.only in (None, "followers"):
            await stack.enter_async_context(
                run_followers(resources.log, resources.database_url)
            )
            await _first_tables(resources)
            await stack.enter_async_context(run_signer(resources.pool, config.data_dir))
        if kafka is not None:
            await stack.enter_async_context(
                run_relay(resources.log, resources.conninfo, kafka)
            )
            await stack.enter_async_context(
                run_checkpoint_relay(resources.pool, resources.conninfo, kafka)
            )
        app, base_url = await stack.enter_async_context(_listening(config, resources))
        if config.demo:
            await _demo(base_url, config.data_dir)
        _spare_the_collector()
        _announce(config, base_url, token_file)
        status = await _until_stopped(stop, postgres)
        app[DRAINING].started = True
        logger.info("draining")
        # Whoever is about to send a request on an open connection is still answered,
        # and told to close it.
        await asyncio.sleep(LAST_REQUESTS_S)
    return status


def _kafka(config: Config) -> KafkaSettings | None:
    """Return how to publish, or None for a process that doesn't.

    :raises ConfigError: a relay is wanted without Kafka, or its settings don't fit
    """
    if config.only == "relay" or (config.only is None and config.kafka is not None):
        return kafka_settings(config)
    return None


@asynccontextmanager
async def _listening(
    config: Config, resources: Resources
) -> AsyncIterator[tuple[web.Application, str]]:
    """Answer HTTP; a process without the API still answers probes and metrics."""
    async with AsyncExitStack() as stack:
        phoenix = None
        if config.trace_store is not None:
            phoenix = await stack.enter_async_context(
                open_phoenix(
                    config.trace_store,
                    token=config.trace_store_token,
                    project=config.trace_store_project,
                )
            )
        yield await stack.enter_async_context(_served(config, resources, phoenix))


@asynccontextmanager
async def _served(
    config: Config, resources: Resources, phoenix: PhoenixStore | None
) -> AsyncIterator[tuple[web.Application, str]]:
    app = create_app(
        resources, probes_only=config.only not in (None, "api"), phoenix=phoenix
    )
    app.on_response_prepare.append(close_while_draining)
    runner = Runner(
        app,
        access_log=None,
        shutdown_timeout=DRAIN_S,
        keepalive_timeout=KEEPALIVE_S,
        handler_cancellation=False,
    )
    await runner.setup()
    site = web.TCPSite(runner, config.host, config.port, backlog=1024)
    try:
        await _start(site, config)
        yield app, f"http://{_authority(runner)}"
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, config: Config) -> None:
    try:
        await site.start()
    except OSError as error:
        raise StartError(
            f"can't listen on {config.host}, port {config.port}: "
            f"{error.strerror or error}"
        ) from None


def _authority(runner: web.AppRunner) -> str:
    host, port = runner.addresses[0][:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _first_tables(resources: Resources) -> None:
    """Wait until reads can be answered; a long rebuild doesn't hold up the rest."""
    names = [projector.name for projector in PROJECTORS]
    try:
        await wait_for_position(resources.pool, names, 0, FIRST_TABLES_S)
    except UnavailableError:
        logger.warning("some read tables are still being built")


async def _demo(base_url: str, data_dir: Path) -> None:
    try:
        await load_demo(base_url, data_dir)
    except (DemoError, OSError) as error:
        logger.exception("the demo data is incomplete", extra={"reason": str(error)})


def _announce(config: Config, base_url: str, token_file: Path | None) -> None:
    words = f"agent-runtime ready at {base_url}"
    if token_file is not None:
        words += f", token of admin in {token_file}"
    print(words, flush=True)  # noqa: T201
    if config.demo and token_file is not None:
        print(TRY.format(file=token_file, url=base_url), flush=True)  # noqa: T201


def _spare_the_collector() -> None:
    """Let the garbage collector look at less, and less often.

    Requests leave hardly any cycles, and the modules and the cached aggregates that
    it would walk through each time live as long as the process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)


async def _until_stopped(stop: asyncio.Event, postgres: EmbeddedPostgres | None) -> int:
    """Wait for a signal; the embedded database's end is the end of the service."""
    while not stop.is_set():
        if postgres is not None and postgres.poll() is not None:
            logger.critical("the embedded PostgreSQL has ended")
            return 1
        try:
            await asyncio.wait_for(stop.wait(), WATCH_S)
        except TimeoutError:
            continue
    return 0


def _signals() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def stopper(number: int) -> Callable[[], None]:
        def on_signal() -> None:
            if stop.is_set() and main is not None:
                logger.warning("stopped a second time; not draining")
                main.cancel()
            logger.info("stopping", extra={"signal": signal.Signals(number).name})
            stop.set()

        return on_signal

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopper(number))
    return stop
