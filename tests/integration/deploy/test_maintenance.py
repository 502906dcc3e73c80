"""The Job in which backups are made and restored, and the documented commands."""

import re
import shlex
from typing import Any

import pytest

from service.cli.main import build_parser
from service.config import Config
from tests.integration.deploy.manifests import (
    Process,
    in_each_overlay,
    kubernetes,
    manifests,
    of_kind,
    processes,
    validate,
)
from tests.support.project import ROOT

pytestmark = [pytest.mark.thorough, *kubernetes]
OF_SERVING = {"AGENT_RUNTIME_SHUTDOWN_DELAY_S"}
IN_THE_JOB = "job/agent-runtime-maintenance -- "


def maintenance(overlay: str) -> Process:
    [job] = processes(f"{overlay}/maintenance")
    return job


def serving(overlay: str) -> Process:
    """Return a process that appends to the log."""
    return next(
        each for each in processes(overlay) if each.container["args"][0] == "serve"
    )


def volumes(process: Process) -> dict[str, Any]:
    """Return the volumes by the folders at which they are mounted."""
    by_name = {each["name"]: each for each in process.pod["volumes"]}
    return {
        each["mountPath"]: by_name[each["name"]]
        for each in process.container["volumeMounts"]
    }


def documented_commands() -> list[list[str]]:
    """Return what the documents run in the Job."""
    text = (ROOT / "docs/operations/kubernetes-backup.md").read_text("utf-8")
    return [
        shlex.split(line.partition(IN_THE_JOB)[2])
        for line in text.splitlines()
        if IN_THE_JOB in line
    ]


@in_each_overlay
def test_it_reaches_the_database_with_the_keys_as_the_service_does(
    overlay: str,
) -> None:
    job, service = maintenance(overlay), serving(overlay)

    assert {each["name"]: each for each in job.container["env"]} == {
        each["name"]: each
        for each in service.container["env"]
        if each["name"] not in OF_SERVING
    }
    assert volumes(job)["/data"] == volumes(service)["/data"]
    assert job.pod.get("initContainers") == service.pod.get("initContainers")
    assert job.container["image"] == service.container["image"]


@in_each_overlay
def test_it_takes_no_key_from_the_service(overlay: str) -> None:
    """Another group of its volumes would open the keys to that group."""
    job, service = maintenance(overlay), serving(overlay)

    expected = {
        "fsGroup": job.pod["securityContext"]["runAsGroup"],
        "fsGroupChangePolicy": "OnRootMismatch",
    } | service.pod["securityContext"]
    assert job.pod["securityContext"] == expected


@in_each_overlay
def test_backups_are_in_a_volume_of_their_own_that_outlives_it(overlay: str) -> None:
    [claim] = of_kind(f"{overlay}/maintenance", "PersistentVolumeClaim")

    claimed = volumes(maintenance(overlay))["/backups"]["persistentVolumeClaim"]

    assert claimed == {"claimName": claim["metadata"]["name"]}
    assert claim["metadata"]["name"] not in {
        each["metadata"]["name"] for each in of_kind(overlay, "PersistentVolumeClaim")
    }


@in_each_overlay
def test_it_gets_no_requests_and_may_reach_the_database(overlay: str) -> None:
    labels = maintenance(overlay).labels.items()

    for each in of_kind(overlay, "Service"):
        assert not each["spec"]["selector"].items() <= labels
    [allowed] = [
        each
        for each in of_kind(overlay, "NetworkPolicy")
        if each["metadata"]["name"] == "allow-to-database"
    ]
    assert allowed["spec"]["podSelector"]["matchLabels"].items() <= labels


@in_each_overlay
def test_it_is_in_the_namespace_of_the_service(overlay: str) -> None:
    [namespace] = of_kind(overlay, "Namespace")

    for each in manifests(f"{overlay}/maintenance"):
        validate(each)
        assert each["metadata"]["namespace"] == namespace["metadata"]["name"]


@in_each_overlay
def test_the_documented_commands_fit_to_it(overlay: str) -> None:
    job = maintenance(overlay)
    environment = {name: value or "x" for name, value in job.environment.items()}
    folders = tuple(f"{folder}/" for folder in volumes(job))
    commands = documented_commands()

    ran = {command[1] for command in commands if command[0] == "agent-runtime"}
    assert ran == {"backup", "restore"}
    for program, *arguments in commands:
        if program == "agent-runtime":
            options = vars(build_parser().parse_args(arguments))
            Config.read(options, environment)
            assert str(options["file"]).startswith("/backups/")
        else:
            paths = re.findall(r"/\w+/[\w.-]+", " ".join(arguments))
            assert paths
            assert all(path.startswith(folders) for path in paths)


@in_each_overlay
def test_scaling_by_the_documented_label_stops_every_process(overlay: str) -> None:
    text = (ROOT / "docs/operations/kubernetes-backup.md").read_text("utf-8")
    selectors = set(re.findall(r"scale deployment --selector (\S+)", text))

    [[label, value]] = [each.split("=") for each in selectors]

    stopped = {
        each["metadata"]["name"]
        for each in of_kind(overlay, "Deployment")
        if each["metadata"]["labels"].get(label) == value
    }
    assert stopped == {
        each.name for each in processes(overlay) if each.owner["kind"] == "Deployment"
    }
