# make serve   start the whole service with demo data; make serve PORT=8081 on another port
# make test    run the tests that each change needs: in minutes
# make test-all   run everything: these, and all the parts below; ends with a table
# make test-fast   run tests/unit, which needs no server and no process: every decision, in seconds
# make test-thorough   run the tests that take long, such as races, replication, rare failures
# make test-console    run all tests of the console in Chromium
# make test-openapi    send whatever fits the OpenAPI document, by Schemathesis
# make test-phoenix    run the tests with a real Arize Phoenix, which is installed first
# make test-proxies    run the tests through nginx, haproxy and Caddy of Debian
# make test-deploy     run the tests of manifests and Prometheus rules, with kustomize and promtool
# make recordings   record what instrumentations write again, in environments of their own; needs npm
# make coverage   run the tests and measure which lines and branches they reach
# make faults  inject faults into real processes, Kafka too, while clients write; check that nothing was lost
# make alerts  do each alert's fault to a running service under a real Prometheus; measure when it fires and ends
# make conformance   run the official conformance suite of MCP, directly and through the tool gateway
# make model-clients   run clients of models, such as Claude Code, directly and through the model gateway
# make worst-inputs   ask every operation for the worst; fails where one holds the event loop
# make bench   run the benchmarks against their baselines, for about ten minutes
# make bench-check   count instructions and run the short benchmark; fails when one is worse
# make costs   compare computed costs with those of genai-prices and LiteLLM, also of recorded sessions
# make check   check format, lint, types and import contracts, and that what is generated is current
# make generated   generate from the code: client, events' documents, reference pages, golden files, dashboard, import contracts, examples that don't fit
# make console-checks   test the console in Chromium, and list its pages and states in docs/console.md
# make pictures   make the pictures of docs/console.md again, in Chromium
# make examples   record the examples of the OpenAPI document again, from real answers

PYTHON ?= python3
VENV ?= .venv
DATA ?= data
bin = $(VENV)/bin
install = deploy/install-lock.sh

# Tests start hundreds of processes: without bytecode files, each would compile the
# service again.
export PYTHONDONTWRITEBYTECODE =

# What is found there would count as installed.
unexport PYTHONPATH

.PHONY: serve test test-all test-thorough test-console test-openapi test-phoenix test-proxies test-deploy costs coverage test-fast faults alerts conformance model-clients worst-inputs bench bench-check check format generated examples console-checks pictures lock clean recordings

serve: $(VENV)/.installed
	$(bin)/agent-runtime serve --data-dir $(DATA) --demo $(if $(PORT),--port $(PORT))

test: $(VENV)/.installed-for-tests
	$(bin)/pytest --numprocesses 3 --no-loadscope-reorder

# Everything, one part after the other; it installs what the parts need.
test-all:
	.ci/packages chromium=chromium promtool=prometheus npm=npm strace=strace faketime=faketime etcd=etcd-server valgrind=valgrind wrk=wrk nginx=nginx-light haproxy=haproxy caddy=caddy
	$(PYTHON) -m tests.all

# -m "": also what make test leaves out.
parts = tests/integration/console/browser tests/integration/openapi tests/integration/phoenix tests/integration/proxies tests/integration/deploy
test-thorough: $(VENV)/.installed-for-tests
	$(bin)/pytest --numprocesses 3 --no-loadscope-reorder -m thorough $(parts:%=--ignore %)

test-console: $(VENV)/.installed-for-tests
	$(bin)/pytest -m "" tests/integration/console/browser

test-openapi: $(VENV)/.installed-for-tests
	$(bin)/pytest --numprocesses 2 -p schemathesis -m "" tests/integration/openapi

# Installs Phoenix first, in an environment of its own, unless it is installed.
test-phoenix: $(VENV)/.installed-for-tests
	$(bin)/pytest -m "" tests/integration/phoenix

test-proxies: $(VENV)/.installed-for-tests
	$(bin)/pytest -m "" tests/integration/proxies

# kubectl of Debian has a kustomize that is too old.
test-deploy: $(VENV)/.installed-for-tests .tools/kustomize
	PATH=$(CURDIR)/.tools:$$PATH $(bin)/pytest --numprocesses 2 -m "" tests/integration/deploy

.tools/kustomize:
	GOBIN=$(CURDIR)/.tools .ci/thrice go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.1

test-fast: $(VENV)/.installed-for-tests
	$(bin)/pytest tests/unit --numprocesses 2 --hypothesis-profile fast

coverage: $(VENV)/.installed-for-tests
	$(bin)/coverage erase
	$(bin)/coverage run -m pytest --numprocesses 3 --no-loadscope-reorder -m "not faults and not worst_inputs and not conformance and not model_clients"
	$(bin)/coverage combine --quiet
	$(bin)/coverage report

# The tests replay the recordings, and need none of this.
recordings: $(VENV)/.installed-for-tests
	PYTHON=$(PYTHON) $(install) .instrumentations tests/instruments/instrumentations/requirements.txt
	$(bin)/python -m tests.instruments.instrumentations.record .instrumentations/bin/python
	for each in python google3; do \
		PYTHON=$(PYTHON) $(install) .instrumentations/$$each tests/instruments/costs/instrumentations/environments/$$each.txt || exit 1; \
	done
	for each in vercel6 vercel7 agents; do \
		cp -r tests/instruments/costs/instrumentations/environments/$$each .instrumentations/ && \
		(cd .instrumentations/$$each && ../../.ci/thrice npm ci --ignore-scripts --silent) || exit 1; \
	done
	$(bin)/python -m tests.instruments.costs.instrumentations.record .instrumentations

# The short run; the long one is python -m tests.instruments.faults, see docs/reliability.md.
faults: $(VENV)/.installed-for-tests
	$(bin)/pytest -m faults

# Seven minutes, mostly of waiting; it needs Debian's packages prometheus, strace and faketime, and root for strace and a disk of its own.
alerts: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.instruments.alerts

# The suite needs Node.js 22, which comes with it; npm has to be there.
conformance: $(VENV)/.installed-for-tests .conformance/.installed
	$(bin)/pytest -m conformance -rP tests/instruments/mcp

.conformance/.installed: tests/instruments/mcp/package-lock.json
	mkdir -p .conformance
	cp tests/instruments/mcp/package*.json .conformance
	cd .conformance && ../.ci/thrice npm ci --ignore-scripts --silent
	touch $@

# Several minutes, mostly of clients that wait before they ask again; it needs npm.
model-clients: $(VENV)/.installed-for-tests .model-clients/.installed
	$(bin)/pytest -m model_clients --numprocesses 2 tests/instruments/model_clients

# Claude Code links its program itself, which npm is told not to let packages do.
.model-clients/.installed: tests/instruments/model_clients/requirements.txt tests/instruments/model_clients/package-lock.json
	PYTHON=$(PYTHON) $(install) .model-clients/python tests/instruments/model_clients/requirements.txt
	mkdir -p .model-clients/programs
	cp tests/instruments/model_clients/package*.json .model-clients/programs
	cd .model-clients/programs && ../../.ci/thrice npm ci --ignore-scripts --silent && node node_modules/@anthropic-ai/claude-code/install.cjs
	touch $@

# Alone, in one process: it measures CPU time and memory.
worst-inputs: $(VENV)/.installed-for-tests
	$(bin)/pytest -m worst_inputs -rP tests/instruments/security/test_worst_inputs.py

bench: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.instruments.bench --output bench-results $(BENCH)

# LiteLLM is installed first, in an environment of its own.
costs: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.instruments.costs

bench-check: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.instruments.bench.instructions --check
	$(bin)/python -m tests.instruments.bench --check --rounds 3 --seconds 3

# Runs all, then fails if one has: a change needs one run to be told everything.
check: $(VENV)/.installed-for-tests
	@status=0; \
	for each in "ruff format --check ." "ruff check ." mypy lint-imports "python -m tests.generated --check"; do \
		echo "$(bin)/$$each"; $(bin)/$$each || status=1; \
	done; exit $$status

format: $(VENV)/.installed-for-tests
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

generated: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.generated

examples: $(VENV)/.installed-for-tests
	RECORD_EXAMPLES=1 $(bin)/pytest --quiet tests/integration/openapi/test_examples.py -k answers_as_described

console-checks: $(VENV)/.installed-for-tests
	RECORD_CONSOLE_CHECKS=1 $(bin)/pytest --quiet -m "" tests/integration/console/browser

pictures: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.integration.console.browser.pictures

# Generate the lock files from pyproject.toml, or one of tests/ from the .in beside it.
lock: $(VENV)/.installed-for-tests
	$(bin)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/client ./client
ifdef LOCK
	$(bin)/pip-compile $(lock_options) --output-file $(LOCK) $(LOCK:.txt=.in)
else
	$(bin)/pip-compile $(lock_options) --build-deps-for editable $(extras) --output-file requirements.txt pyproject.toml client/pyproject.toml
	$(bin)/pip-compile $(lock_options) --build-deps-for editable $(extras) --extra dev --output-file requirements-dev.txt pyproject.toml client/pyproject.toml
endif

# Those of "all": pip-compile would look for this package in the index.
extras = $(addprefix --extra ,demo gateway kafka otlp postgres tracing)

# The client is installed from its folder: found as a wheel, and in no lock file.
lock_options = --quiet --upgrade --generate-hashes --strip-extras \
	--find-links build/client --unsafe-package agent-runtime-client \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

clean:
	rm -rf $(VENV) .conformance .model-clients build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "This needs Python 3.11 or later; choose it by make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# An environment for tests stays one.
lock_of_venv = $(if $(wildcard $(VENV)/.installed-for-tests),requirements-dev.txt,requirements.txt)

$(VENV)/.installed: requirements.txt pyproject.toml client/pyproject.toml | $(VENV)/bin/python
	@echo "Installing packages into $(VENV), about two minutes the first time"
	$(install) $(VENV) $(lock_of_venv)
	$(bin)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable client
	touch $@

$(VENV)/.installed-for-tests: requirements-dev.txt $(VENV)/.installed
	@echo "Installing packages for tests into $(VENV), about two minutes the first time"
	$(install) $(VENV) requirements-dev.txt
	touch $@
