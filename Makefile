# make serve   start the whole service with demo data; make serve PORT=8081 on another port
# make test    run the tests
# make test-fast   run those that need neither PostgreSQL, Kafka nor processes: every decision, in seconds
# make test-phoenix   run the tests with a real Arize Phoenix, which make test skips unless it is installed
# make recordings   record what instrumentations write again, in environments of their own; needs npm
# make coverage   run the tests and measure which lines and branches they reach
# make faults  inject faults into real processes, Kafka too, while clients write; check that nothing was lost
# make conformance   run the official conformance suite of MCP, directly and through the tool gateway
# make worst-inputs   ask every operation for the worst; fails where one holds the event loop
# make bench   run the benchmarks against their baselines, for about ten minutes
# make bench-check   count instructions and run the short benchmark; fails when one is worse
# make costs   compare computed costs with those of genai-prices and LiteLLM, also of recorded sessions
# make check   check format, lint, types and import contracts
# make contract   generate the documents of the event topic, and the client, from the code
# make monitoring   generate the Grafana dashboard and the PrometheusRule of deploy/
# make console-checks   test the console in Chromium, and list its pages and states in docs/console.md
# make pictures   make the pictures of docs/console.md again, in Chromium
# make examples   record the examples of the OpenAPI document again, from real answers

PYTHON ?= python3
VENV ?= .venv
DATA ?= data
bin = $(VENV)/bin

# Tests start hundreds of processes: without bytecode files, each would compile the
# service again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: serve test costs coverage test-fast test-phoenix faults conformance worst-inputs bench bench-check check format contract monitoring examples console-checks pictures lock clean recordings

serve: $(VENV)/.installed
	$(bin)/agent-runtime serve --data-dir $(DATA) --demo $(if $(PORT),--port $(PORT))

test: $(VENV)/.installed-for-tests
	$(bin)/pytest --numprocesses 3 --no-loadscope-reorder

# Without what takes long to load: Schemathesis, and the cases that it prepares.
test-fast: $(VENV)/.installed-for-tests
	$(bin)/pytest --numprocesses 2 -m fast --hypothesis-profile fast -p no:schemathesis \
		--ignore tests/openapi/test_conformance.py

coverage: $(VENV)/.installed-for-tests
	$(bin)/coverage erase
	$(bin)/coverage run -m pytest --numprocesses 3 --no-loadscope-reorder
	$(bin)/coverage combine --quiet
	$(bin)/coverage report

# Installs Phoenix first, in an environment of its own, unless it is installed.
test-phoenix: $(VENV)/.installed-for-tests
	CI=true $(bin)/pytest tests/phoenix

# The tests replay the recordings, and need none of this.
recordings: $(VENV)/.installed-for-tests
	$(PYTHON) -m venv .instrumentations
	.instrumentations/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/sessions/instrumentations/requirements.txt
	$(bin)/python -m tests.sessions.instrumentations.record .instrumentations/bin/python
	for each in python google3; do \
		$(PYTHON) -m venv .instrumentations/$$each && \
		.instrumentations/$$each/bin/pip install --quiet --disable-pip-version-check --require-hashes -r tests/costs/instrumentations/environments/$$each.txt || exit 1; \
	done
	for each in vercel6 vercel7; do \
		cp -r tests/costs/instrumentations/environments/$$each .instrumentations/ && \
		(cd .instrumentations/$$each && npm ci --ignore-scripts --silent) || exit 1; \
	done
	$(bin)/python -m tests.costs.instrumentations.record .instrumentations

# The short run; the long one is python -m tests.faults, see docs/reliability.md.
faults: $(VENV)/.installed-for-tests
	$(bin)/pytest -m faults

# The suite needs Node.js 22, which comes with it; npm has to be there.
conformance: $(VENV)/.installed-for-tests .conformance/.installed
	$(bin)/pytest -m conformance -rP tests/gateway/conformance

.conformance/.installed: tests/gateway/conformance/package-lock.json
	mkdir -p .conformance
	cp tests/gateway/conformance/package*.json .conformance
	cd .conformance && npm ci --ignore-scripts --silent
	touch $@

# Alone, in one process: it measures CPU time and memory.
worst-inputs: $(VENV)/.installed-for-tests
	$(bin)/pytest -m worst_inputs -rP tests/security/test_worst_inputs.py

bench: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.bench --output bench-results $(BENCH)

# LiteLLM is installed first, in an environment of its own.
costs: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.costs

bench-check: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.bench.instructions --check
	$(bin)/python -m tests.bench --check --rounds 3 --seconds 3

# Runs all, then fails if one has: a change needs one run to be told everything.
check: $(VENV)/.installed-for-tests
	@status=0; \
	for each in "ruff format --check ." "ruff check ." mypy lint-imports; do \
		echo "$(bin)/$$each"; $(bin)/$$each || status=1; \
	done; exit $$status

format: $(VENV)/.installed-for-tests
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

contract: $(VENV)/.installed-for-tests
	$(bin)/python -m projections.event_contract
	$(bin)/python -m client.generator

monitoring: $(VENV)/.installed-for-tests
	$(bin)/python -m deploy.grafana.dashboards

examples: $(VENV)/.installed-for-tests
	RECORD_EXAMPLES=1 $(bin)/pytest --quiet tests/openapi/test_examples.py -k answers_as_described

console-checks: $(VENV)/.installed-for-tests
	RECORD_CONSOLE_CHECKS=1 $(bin)/pytest --quiet tests/console/browser

pictures: $(VENV)/.installed-for-tests
	$(bin)/python -m tests.console.browser.pictures

# Generate the lock files from pyproject.toml.
lock: $(VENV)/.installed-for-tests
	$(bin)/pip-compile $(lock_options) --extra demo --output-file requirements.txt pyproject.toml client/pyproject.toml
	$(bin)/pip-compile $(lock_options) --extra demo --extra dev --output-file requirements-dev.txt pyproject.toml client/pyproject.toml

lock_options = --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

clean:
	rm -rf $(VENV) .conformance build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "This needs Python 3.11 or later; choose it by make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt pyproject.toml client/pyproject.toml | $(VENV)/bin/python
	@echo "Installing packages into $(VENV): silent, about two minutes the first time"
	$(bin)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(bin)/pip install --quiet --disable-pip-version-check --no-deps --editable . --editable client
	touch $@

$(VENV)/.installed-for-tests: requirements-dev.txt $(VENV)/.installed
	@echo "Installing packages for tests into $(VENV): silent, about two minutes the first time"
	$(bin)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	touch $@
