"""The overlays of deploy/kubernetes as kustomize builds them, and their validation."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.support.project import ROOT

OVERLAYS = ROOT / "deploy/kubernetes/overlays"
CUSTOM = Path(__file__).parent / "custom_resources.yaml"
KUBERNETES_VERSION = "1.37"
# Debian's kubectl, 1.20, has a kustomize that is too old.
KUSTOMIZE = (["kustomize", "build"], ["kubectl", "kustomize"])
POD_OWNERS = ("Deployment", "StatefulSet", "Job")

Manifest = Mapping[str, Any]
OVERLAY_NAMES = ("small", "cell")
in_each_overlay = pytest.mark.parametrize("overlay", OVERLAY_NAMES)


class InvalidManifestError(Exception):
    """A manifest that an API server of Kubernetes, or an operator, would refuse."""


def kustomize_command() -> list[str] | None:
    """Return the command that builds an overlay, if one is installed."""
    return next((each for each in KUSTOMIZE if shutil.which(each[0])), None)


kubernetes = [
    pytest.mark.skipif(
        kustomize_command() is None and "CI" not in os.environ,
        reason="needs kubectl or kustomize",
    ),
]


@cache
def manifests(overlay: str) -> tuple[Manifest, ...]:
    command = kustomize_command()
    assert command is not None
    done = subprocess.run(
        [*command, str(OVERLAYS / overlay)], capture_output=True, text=True, check=False
    )
    # Warnings are of fields that a later kustomize will refuse.
    assert (done.returncode, done.stderr) == (0, "")
    return tuple(yaml.safe_load_all(done.stdout))


@cache
def custom_schemas() -> Mapping[str, Any]:
    schemas: Mapping[str, Any] = yaml.safe_load(CUSTOM.read_text("utf-8"))
    return schemas


def validate(manifest: Manifest) -> None:
    """Compare a manifest with the schema of its kind.

    :raises InvalidManifestError: a field is unknown, missing, or of another type
    """
    kind = f"{manifest['apiVersion']} {manifest['kind']}"
    schemas = custom_schemas()
    try:
        if kind in schemas:
            parts = {
                "metadata": {"$ref": "#/$defs/metadata"},
                "spec": {"$ref": f"#/{kind.replace('/', '~1')}"},
            }
            schema = {
                **schemas,
                "type": "object",
                "required": ["metadata", "spec"],
                "properties": {"apiVersion": {}, "kind": {}, **parts},
                "additionalProperties": False,
            }
            jsonschema.validate(manifest, schema)
        else:
            kubernetes_validate.validate({**manifest}, KUBERNETES_VERSION, strict=True)
    except (
        jsonschema.ValidationError,
        kubernetes_validate.ValidationError,
        kubernetes_validate.SchemaNotFoundError,
    ) as error:
        raise InvalidManifestError(f"{kind}: {error}") from None


class Process(NamedTuple):
    """A container that runs the service, and the pods that it is in."""

    owner: Manifest
    pod: Manifest
    container: Manifest

    @property
    def name(self) -> str:
        return str(self.owner["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        labels: Mapping[str, str] = self.owner["spec"]["template"]["metadata"]["labels"]
        return labels

    @property
    def environment(self) -> Mapping[str, str | None]:
        """Return the variables; those of Secrets have no value."""
        return {each["name"]: each.get("value") for each in self.container["env"]}


def pods(overlay: str) -> Iterator[tuple[Manifest, Manifest]]:
    """Yield what owns pods, with the pods' specification."""
    for manifest in manifests(overlay):
        if manifest["kind"] in POD_OWNERS:
            yield manifest, manifest["spec"]["template"]["spec"]


def processes(overlay: str) -> list[Process]:
    return [
        Process(owner, pod, container)
        for owner, pod in pods(overlay)
        for container in pod["containers"]
        if container["image"].startswith("agent-runtime:")
    ]


def of_kind(overlay: str, kind: str) -> list[Manifest]:
    return [each for each in manifests(overlay) if each["kind"] == kind]
