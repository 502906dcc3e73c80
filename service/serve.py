"""The composition root of a serving process: what runs, in which order, until when."""

import asyncio
import gc
import logging
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiohttp import web

from projections.catalog import run_followers, running_projectors
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.bootstrap import create_first_admin
from service.capabilities.catalog import followers_left_out, running
from service.capabilities.declaration import Process
from service.config import Config
from service.connection_pool import CheckedPool
from service.errors import ConfigError, UnavailableError
from service.follower_process import run_follower_process
from service.http.listener import DRAIN_TIMEOUT_S, listen
from service.http.loop_delay import measuring_loop_delay
from service.http.server import DRAINING
from service.keys.root_key_source import outside_root_keys
from service.open_resources import open_resources

if TYPE_CHECKING:
    from service.embedded_postgres.server import EmbeddedPostgres
    from service.tracing.tracing import Tracing

POSTGRES_CHECK_INTERVAL_S: Final = 0.5
READ_TABLES_TIMEOUT_S: Final = 10.0
# The second generation has at most 10,000 objects: collecting it takes some 10 ms of
# the event loop.
GC_THRESHOLDS: Final = (2_500, 3, 2_000)
# How long a thread that computes may keep the interpreter from the event loop, which
# asks for it again after each system call.
SWITCH_INTERVAL_S: Final = 0.0001

FIRST_STEPS: Final = """\
Open the web console, signed in as admin (once, for {minutes} minutes):
  {url}/console#code={code}
In another terminal, see calls that are allowed, denied and asked about:
  {program} tour --data-dir {data_dir}
API reference: {url}/docs"""

logger = logging.getLogger(__name__)


async def serve(
    config: Config, database_url: str, postgres: "EmbeddedPostgres | None"
) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit status.

    A second signal ends the process without draining.

    The settings are checked before: see ``require_runnable``.

    :raises ConfigError: the keys, or what the process's environment says, can't be used
    :raises StartError: the address can't be listened on
    """
    stop = _stop_on_signal()
    if postgres is not None:
        from service.embedded_postgres.disk_space import report_disk_space

        report_disk_space(config.data_dir / "postgres")
    async with AsyncExitStack() as stack:
        traces = await _open_traces(stack, config)
        resources = await stack.enter_async_context(
            open_resources(
                database_url,
                config.data_dir,
                root=await outside_root_keys(config, config.wait_root_key_s),
                read_database_url=_read_replica(config),
                takes_commands="api" in config.parts and not config.reads_only,
                waits=config.waits,
                caches=config.caches,
            )
        )
        token_file = await create_first_admin(resources, config.data_dir)
        follower_process = None
        if config.only is None:
            follower_process = await stack.enter_async_context(
                run_follower_process(config.of_follower_process(database_url))
            )
            await follower_process.wait_until_ready()
        process = Process(
            config=config,
            resources=resources,
            traces=traces,
            follower_process=follower_process,
            followers_left_out=followers_left_out(config),
        )
        await _start_background(stack, process)
        if config.demo:
            from service.demo.tools import demo_tools

            demo_port = await stack.enter_async_context(demo_tools(config.data_dir))
            process = replace(process, demo_port=demo_port)
        app, base_url = await _start_http(stack, process)
        if config.demo:
            await _start_demo(stack, process, base_url, has_token=bool(token_file))
        await stack.enter_async_context(measuring_loop_delay())
        _tune_garbage_collection()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        _announce(config, base_url, token_file, app)
        status = await _wait_for_stop(stop, postgres, resources.pool)
        # From now on /readyz says 503, and every answer closes its connection. Leaving
        # the stack closes the listener, and answers the last requests.
        app[DRAINING].started = True
        if stop.number is signal.SIGTERM:
            logger.info(
                "draining: new requests are accepted for %g s, then those under way "
                "get up to %d s",
                config.shutdown_delay_s,
                DRAIN_TIMEOUT_S,
            )
            await asyncio.sleep(config.shutdown_delay_s)
    return status


def _read_replica(config: Config) -> str | None:
    """Return the read replica of a process that answers reads."""
    return config.read_database_url if "api" in config.parts else None


async def _open_traces(stack: AsyncExitStack, config: Config) -> "Tracing | None":
    if config.otlp_endpoint is None:
        return None
    # Neither is imported without need: see service.tracing.
    try:
        from service.tracing.export import exporting_spans
    except ValueError as error:
        # The SDK reads some variables when it is imported.
        raise ConfigError(f"a variable OTEL_... can't be used: {error}") from None
    from service.tracing.tracing import Tracing

    return Tracing(
        await stack.enter_async_context(exporting_spans(config.otlp_endpoint))
    )


async def _start_background(stack: AsyncExitStack, process: Process) -> None:
    """Start what runs beside the API; wait for the first read tables, but not long."""
    parts, resources = process.config.parts, process.resources
    if "followers" in parts:
        projectors = running_projectors(process.config)
        await stack.enter_async_context(
            run_followers(
                resources.log,
                resources.database_url,
                projectors,
                traces=process.traces,
            )
        )
        names = [projector.name for projector in projectors]
        try:
            await wait_for_position(
                resources.pool, names, 0, timeout_s=READ_TABLES_TIMEOUT_S
            )
        except UnavailableError:
            logger.warning("some read tables are still being built")
    for capability in running(process.config):
        for part, tasks in capability.background.items():
            if part in parts:
                for task in tasks:
                    await stack.enter_async_context(task(process))


async def _start_http(
    stack: AsyncExitStack, process: Process
) -> tuple[web.Application, str]:
    """Listen and return the base URL."""
    config = process.config
    app = create_app(
        process.resources,
        config,
        traces=process.traces,
        follower_process=process.follower_process,
        demo_port=process.demo_port,
    )
    base_url = await stack.enter_async_context(
        listen(app, config.host, config.port, keepalive_s=config.keepalive_s)
    )
    return app, base_url


async def _start_demo(
    stack: AsyncExitStack, process: Process, base_url: str, *, has_token: bool
) -> None:
    from service.demo.first_calls import first_calls
    from service.demo.load import load_demo

    data_dir = process.config.data_dir
    if await load_demo(
        base_url, data_dir, has_token=has_token, tools_port=process.demo_port
    ):
        await stack.enter_async_context(first_calls(data_dir))


def _announce(
    config: Config, base_url: str, token_file: Path | None, app: web.Application
) -> None:
    ready = f"agent-runtime ready at {base_url}"
    if token_file is not None:
        ready += f", token of admin in {token_file}"
    print(ready, flush=True)  # noqa: T201
    if config.demo and token_file is not None and "console" not in config.left_out:
        from service.console.codes import LIFETIME_S
        from service.console.routes import SIGN_IN_CODES

        code = app[SIGN_IN_CODES].issue(token_file.read_text("ascii").strip())
        steps = FIRST_STEPS.format(
            url=base_url,
            code=code,
            minutes=round(LIFETIME_S / 60),
            program=_program(),
            data_dir=config.data_dir,
        )
        print(steps, flush=True)  # noqa: T201


def _program() -> str:
    """Return how this program was called, for commands that a reader copies."""
    name = Path(sys.argv[0])
    if name.name == "__main__.py":
        return "python -m service"
    return str(name) if name.parent.name == "bin" else name.name


def _tune_garbage_collection() -> None:
    """Make the garbage collector run less often, and over fewer objects.

    Requests leave hardly any reference cycles, and what is loaded by now (modules,
    cached aggregates) lives as long as the process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def _wait_for_stop(
    stop: asyncio.Event, postgres: "EmbeddedPostgres | None", pool: CheckedPool
) -> int:
    """Wait for a signal, or until the embedded PostgreSQL ends, which is a failure.

    :raises WrongSessionError: new connections have another role or other settings
    """
    while not stop.is_set():
        if pool.wrong_session is not None:
            raise pool.wrong_session
        if postgres is not None and postgres.poll() is not None:
            logger.critical("the embedded PostgreSQL has ended")
            return 1
        try:
            await asyncio.wait_for(stop.wait(), POSTGRES_CHECK_INTERVAL_S)
        except TimeoutError:
            continue
    return 0


class _Stop(asyncio.Event):
    """Set by the first signal; ``number`` is which one."""

    number: signal.Signals | None = None


def _stop_on_signal() -> _Stop:
    """Return an event that SIGTERM and SIGINT set; a second one cancels this task."""
    stop = _Stop()
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set() and main is not None:
            logger.warning("second signal: stopping without draining")
            main.cancel()
        logger.info("stopping", extra={"signal": number.name})
        stop.number = number
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    return stop
