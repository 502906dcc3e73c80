"""The manifests of deploy/kubernetes, without a cluster."""

import copy
import re
from collections.abc import Mapping
from typing import Any

import pytest

from projections.health.routes import routes as health_routes
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_admin import topic_configuration
from service import __version__
from service.app import operations
from service.cli.main import build_parser
from service.config import Config
from service.errors import ConfigError
from service.event_log.writer_connection import WRITERS_MAX
from service.http.listener import DRAIN_TIMEOUT_S
from service.http.operation import Operation
from tests.integration.deploy.manifests import (
    OVERLAY_NAMES,
    InvalidManifestError,
    Process,
    in_each_overlay,
    kubernetes,
    manifests,
    of_kind,
    pods,
    processes,
    validate,
)
from tests.support.project import ROOT

pytestmark = [pytest.mark.thorough, *kubernetes]
in_each_folder = pytest.mark.parametrize(
    "overlay", [*OVERLAY_NAMES, "small/maintenance", "cell/maintenance"]
)
COMMIT_AND_CLOSE_S = 5
# Variables of libpq, not settings of the service.
CONNECTION = {"PGPASSWORD", "PGSSLMODE", "PGSSLROOTCERT"}
CNPG_LABELS = {"cnpg.io/cluster": "postgres", "agent-runtime/tier": "database"}
STRIMZI_LABELS = {"strimzi.io/cluster": "kafka"}


class TestSchemas:
    @in_each_folder
    def test_every_manifest_is_valid(self, overlay: str) -> None:
        for manifest in manifests(overlay):
            validate(manifest)

    @in_each_overlay
    def test_a_field_that_does_not_exist_is_found_in_every_kind(
        self, overlay: str
    ) -> None:
        one_of_each = {each["kind"]: each for each in manifests(overlay)}
        for manifest in one_of_each.values():
            wrong = {**manifest, "spec": {**manifest.get("spec", {}), "replcas": 2}}

            with pytest.raises(InvalidManifestError):
                validate(wrong)

    @pytest.mark.parametrize(
        ("kind", "path", "value"),
        [
            ("Deployment", "spec.replicas", "two"),
            ("Deployment", "spec.template.spec.containers.0.livenessProb", {}),
            ("Job", "spec.template.spec.containers.0.env.1.valueFrom.secretRef", {}),
            ("PodDisruptionBudget", "spec.maxUnavailible", 1),
            ("HorizontalPodAutoscaler", "spec.metrics.0.resource.target", 70),
            ("NetworkPolicy", "spec.egress", {}),
            ("Cluster", "spec.postgresql.synchronous.methode", "any"),
            ("Cluster", "spec.postgresql.parameters.max_connections", 400),
            ("KafkaTopic", "spec.partitions", "6"),
            ("KafkaUser", "spec.authorization.acls.0.operations.0", "Reed"),
            ("HTTPRoute", "spec.rules.0.matches.0.path.type", "Prefix"),
            ("ServiceMonitor", "spec.endpoints.0.prot", "http"),
        ],
    )
    def test_a_wrong_field_is_found(self, kind: str, path: str, value: Any) -> None:
        wrong = copy.deepcopy(of_kind("cell", kind)[0])
        at: Any = wrong
        *parents, last = path.split(".")
        for step in parents:
            at = at[int(step)] if step.isdecimal() else at[step]
        at[int(last) if last.isdecimal() else last] = value

        with pytest.raises(InvalidManifestError):
            validate(wrong)


class TestProcesses:
    @in_each_overlay
    def test_each_has_a_command_line_and_settings_that_the_service_accepts(
        self, overlay: str
    ) -> None:
        for process in processes(overlay):
            assert {*process.environment} - CONNECTION == {
                name for name in process.environment if name.startswith("AGENT_RUNTIME")
            }
            settings_of(process)

    def test_the_parts_of_the_cell(self) -> None:
        assert {
            process.name: (settings_of(process).only, settings_of(process).reads_only)
            for process in processes("cell")
        } == {
            "agent-runtime-writers": ("api", False),
            "agent-runtime-readers": ("api", True),
            "agent-runtime-followers": ("followers", False),
            "agent-runtime-relay": ("relay", False),
            "agent-runtime-migrate": (None, False),
        }

    @pytest.mark.parametrize(
        "change",
        [
            {"args": ["serve", "--ony", "api"]},
            {"args": ["serve", "--only", "writer"]},
            {"env": [{"name": "AGENT_RUNTIME_SHUTDOWN_DELAY", "value": "5"}]},
            {"env": [{"name": "AGENT_RUNTIME_SHUTDOWN_DELAY_S", "value": "soon"}]},
        ],
    )
    def test_a_command_line_or_setting_that_does_not_exist_is_found(
        self, change: dict[str, Any]
    ) -> None:
        process = processes("cell")[0]

        with pytest.raises((SystemExit, ConfigError)):
            settings_of(process._replace(container={**process.container, **change}))

    @in_each_folder
    def test_no_variable_of_a_service_is_taken_for_a_setting(
        self, overlay: str
    ) -> None:
        assert all(
            process.pod["enableServiceLinks"] is False for process in processes(overlay)
        )

    @in_each_overlay
    def test_a_graceful_shutdown_has_the_time_that_it_needs(self, overlay: str) -> None:
        for process in serving(overlay):
            assert (
                process.pod["terminationGracePeriodSeconds"]
                >= settings_of(process).shutdown_delay_s
                + DRAIN_TIMEOUT_S
                + COMMIT_AND_CLOSE_S
            )

    @in_each_overlay
    def test_probes_ask_routes_that_exist(self, overlay: str) -> None:
        exist = {operation.path for operation in health_routes.operations}
        for process in serving(overlay):
            asked = {
                probe: process.container[probe]["httpGet"]
                for probe in ("startupProbe", "livenessProbe", "readinessProbe")
            }
            assert {each["path"] for each in asked.values()} <= exist
            assert {probe: each["path"] for probe, each in asked.items()} == {
                "startupProbe": "/livez",
                "livenessProbe": "/livez",
                "readinessProbe": "/readyz",
            }
            [port] = process.container["ports"]
            assert {each["port"] for each in asked.values()} == {port["name"]}
            assert port["containerPort"] == settings_of(process).port

    def test_at_most_as_many_processes_take_commands_as_doctor_accepts(self) -> None:
        [writers] = [
            each for each in processes("cell") if each.name.endswith("writers")
        ]
        spec = writers.owner["spec"]

        assert (
            spec["replicas"] + spec["strategy"]["rollingUpdate"]["maxSurge"]
            <= WRITERS_MAX
        )
        assert "agent-runtime-writers" not in [
            each["spec"]["scaleTargetRef"]["name"]
            for each in of_kind("cell", "HorizontalPodAutoscaler")
        ]

    def test_one_process_has_the_volume_of_the_small_overlay(self) -> None:
        [process] = serving("small")

        assert process.owner["spec"]["replicas"] == 1
        assert process.owner["spec"]["strategy"] == {"type": "Recreate"}

    @in_each_overlay
    def test_migrations_that_are_refused_are_not_repeated(self, overlay: str) -> None:
        [job] = of_kind(overlay, "Job")

        [rule] = [
            each
            for each in job["spec"]["podFailurePolicy"]["rules"]
            if each["action"] == "FailJob"
        ]
        assert rule["onExitCodes"]["values"] == [2, 78]

    @in_each_folder
    def test_the_image_is_of_this_version(self, overlay: str) -> None:
        images = {
            container["image"]
            for _, pod in pods(overlay)
            for container in pod["containers"] + pod.get("initContainers", [])
        }

        assert f"agent-runtime:{__version__}" in images
        assert all(
            re.fullmatch(r"(agent-runtime|postgres):[0-9.]+", each) for each in images
        )


class TestSecurity:
    @in_each_folder
    def test_every_container_is_restricted(self, overlay: str) -> None:
        for owner, pod in pods(overlay):
            context = pod["securityContext"]
            assert context["runAsNonRoot"] is True, owner
            assert context["runAsUser"] > 0
            assert context["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is False
            for container in pod["containers"] + pod.get("initContainers", []):
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }
                assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
                assert "memory" in container["resources"]["limits"]

    def test_the_user_is_that_of_the_image(self) -> None:
        dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
        [user] = re.findall(r"useradd --uid (\d+)", dockerfile)

        assert {
            str(process.pod["securityContext"]["runAsUser"])
            for overlay in OVERLAY_NAMES
            for process in processes(overlay)
        } == {user}

    @in_each_folder
    def test_no_manifest_holds_a_secret(self, overlay: str) -> None:
        assert of_kind(overlay, "Secret") == []
        for _, pod in pods(overlay):
            for container in pod["containers"]:
                for variable in container["env"]:
                    assert "PASSWORD" not in variable["name"] or "value" not in variable
                    assert not re.search(r"://[^/]*:[^/]*@", variable.get("value", ""))

    @in_each_folder
    def test_every_secret_is_explained(self, overlay: str) -> None:
        page = (ROOT / "docs/operations/kubernetes.md").read_text("utf-8")
        for _, pod in pods(overlay):
            named = {
                volume["secret"]["secretName"]
                for volume in pod["volumes"]
                if "secret" in volume
            } | {
                variable["valueFrom"]["secretKeyRef"]["name"]
                for container in pod["containers"]
                for variable in container["env"]
                if "valueFrom" in variable
            }
            assert {name for name in named if f"`{name}`" not in page} == set()

    @in_each_overlay
    def test_network_traffic_is_denied_by_default(self, overlay: str) -> None:
        [denial] = [
            each
            for each in of_kind(overlay, "NetworkPolicy")
            if each["metadata"]["name"] == "deny-by-default"
        ]

        assert denial["spec"].keys() == {"podSelector", "policyTypes"}
        assert {*denial["spec"]["policyTypes"]} == {"Ingress", "Egress"}
        for owner, _ in pods(overlay):
            assert (
                "agent-runtime/tier" in owner["spec"]["template"]["metadata"]["labels"]
            )

    @in_each_overlay
    def test_every_selector_selects_pods(self, overlay: str) -> None:
        labels = [
            owner["spec"]["template"]["metadata"]["labels"]
            for owner, _ in pods(overlay)
        ]
        if overlay == "cell":
            labels += [CNPG_LABELS, STRIMZI_LABELS]
        selectors = [
            *(
                each["spec"]["podSelector"]
                for each in of_kind(overlay, "NetworkPolicy")
            ),
            *(
                peer["podSelector"]
                for policy in of_kind(overlay, "NetworkPolicy")
                for direction, peers in (("ingress", "from"), ("egress", "to"))
                for rule in policy["spec"].get(direction, [])
                for peer in rule.get(peers, [])
                if "podSelector" in peer
            ),
            *(
                each["spec"]["selector"]
                for each in of_kind(overlay, "PodDisruptionBudget")
            ),
            *(
                {"matchLabels": each["spec"]["selector"]}
                for each in of_kind(overlay, "Service")
            ),
        ]
        for selector in selectors:
            wanted = selector.get("matchLabels", {}).items()
            assert any(wanted <= each.items() for each in labels), selector


def leads_to(match: Any, operation: Operation) -> bool:
    """Say whether a match of an HTTPRoute is one of an operation's requests."""
    if match.get("method", operation.method) != operation.method:
        return False
    value, path = match["path"]["value"], operation.path
    if match["path"]["type"] == "Exact":
        return bool(path == value)
    return f"{path}/".startswith(f"{value}/")


class TestCell:
    def test_each_kind_of_process_has_its_own_selector(self) -> None:
        every = [each.labels for each in serving("cell")]
        for kind in ("Service", "PodDisruptionBudget"):
            for manifest in of_kind("cell", kind):
                selector = manifest["spec"]["selector"]
                wanted = selector.get("matchLabels", selector).items()
                assert [wanted <= each.items() for each in every].count(True) == 1

    def test_routes_and_the_autoscaler_name_what_exists(self) -> None:
        services = {each["metadata"]["name"] for each in of_kind("cell", "Service")}
        [route] = of_kind("cell", "HTTPRoute")
        [autoscaler] = of_kind("cell", "HorizontalPodAutoscaler")

        assert {
            backend["name"]
            for rule in route["spec"]["rules"]
            for backend in rule["backendRefs"]
        } == {"agent-runtime-writers", "agent-runtime-readers"}
        assert {"agent-runtime-writers", "agent-runtime-readers"} <= services
        target = autoscaler["spec"]["scaleTargetRef"]["name"]
        [readers] = [each for each in processes("cell") if each.name == target]
        assert settings_of(readers).reads_only
        assert "replicas" not in readers.owner["spec"]

    def test_the_route_leads_to_every_operation_but_probes_and_metrics(self) -> None:
        [route] = of_kind("cell", "HTTPRoute")
        inside = {operation.path for operation in health_routes.operations}

        for operation in operations():
            services = {
                backend["name"].removeprefix("agent-runtime-")
                for rule in route["spec"]["rules"]
                for match in rule["matches"]
                if leads_to(match, operation)
                for backend in rule["backendRefs"]
            }
            if operation.path in inside:
                assert not services, operation.path
            elif operation.method != "GET":
                assert services == {"writers"}, operation.path
            else:
                assert services, operation.path

    def test_a_commit_is_on_two_machines_before_it_is_acknowledged(self) -> None:
        [cluster] = of_kind("cell", "Cluster")

        assert cluster["spec"]["instances"] == 3
        assert cluster["spec"]["postgresql"]["synchronous"] == {
            "method": "any",
            "number": 1,
            "dataDurability": "required",
            "failoverQuorum": True,
        }

    def test_topics_are_as_the_relay_wants_them(self) -> None:
        [relay] = [each for each in processes("cell") if each.name.endswith("relay")]
        config = settings_of(relay)
        assert config.kafka is not None
        settings = KafkaSettings(
            bootstrap=config.kafka,
            topic=config.kafka_topic,
            partitions=config.kafka_partitions,
            replication=config.kafka_replication,
            retention_ms=config.kafka_retention_ms,
        )

        topics = {
            each["metadata"]["name"]: each["spec"]
            for each in of_kind("cell", "KafkaTopic")
        }

        assert topics == {
            topic: {
                "partitions": partitions,
                "replicas": settings.replication,
                "config": topic_configuration(settings, topic),
            }
            for topic, partitions in (
                (settings.topic, settings.partitions),
                (settings.position_topic, 1),
                (settings.checkpoint_topic, 1),
            )
        }
        [user] = of_kind("cell", "KafkaUser")
        assert {
            acl["resource"]["name"]
            for acl in user["spec"]["authorization"]["acls"]
            if acl["resource"]["type"] == "transactionalId"
        } == {settings.transactional_id, settings.checkpoint_transactional_id}

    def test_prometheus_finds_every_process_under_a_job_of_the_rules(self) -> None:
        [monitor] = of_kind("cell", "ServiceMonitor")
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        scraped = [
            each["metadata"]["name"]
            for each in of_kind("cell", "Service")
            if wanted <= each["metadata"]["labels"].items()
        ]

        assert {*scraped} == {each.name for each in serving("cell")}
        assert all(name.startswith("agent-runtime-") for name in scraped)


def serving(overlay: str) -> list[Process]:
    return [each for each in processes(overlay) if each.container["args"][0] == "serve"]


def settings_of(process: Process) -> Config:
    options = vars(build_parser().parse_args(process.container["args"]))
    given: Mapping[str, str | None] = process.environment
    return Config.read(
        options, {name: value or "a secret" for name, value in given.items()}
    )
