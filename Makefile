# Everything that is done with a checkout. Needs Python 3.11 or newer, git and make.
PYTHON ?= python3
VENV := .venv
NOVA_VENV := bench/.venv-nova
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq
PIP_COMPILE := CUSTOM_COMPILE_COMMAND="make requirements" $(BIN)/pip-compile --quiet --generate-hashes --strip-extras \
  --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
# A test run sees the config and the state of no one.
CLEAN_ENV := env -u LANEWAY_CONFIG

.DEFAULT_GOAL := help
.PHONY: help run test test-libvirt test-openstack test-nova test-vm test-wine demo bench lint format requirements clean

help: ## This list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

run: $(VENV)/.runtime ## This machine's PCI devices, whether it is ready to hand them out, and what to do next
	@$(BIN)/laneway devices
	@$(BIN)/laneway check

test: $(VENV)/.dev ## The tests, with coverage
	@$(CLEAN_ENV) $(BIN)/pytest -n auto --cov --cov-report=term
	@printf 'Coverage of domain/, which must be 95 %% or more: '
	@$(BIN)/coverage report --include='*/laneway/domain/*' --fail-under=95 --format=total

test-libvirt: $(VENV)/.dev ## The libvirt driver on a real libvirt, without a daemon; as root it installs the headers
	@$(CLEAN_ENV) tests/with_libvirt/run.sh

test-wine: $(VENV)/.dev ## The tests on a Windows Python, under Wine
	@$(CLEAN_ENV) tests/wine/run.sh

test-nova: $(VENV)/.dev ## What Laneway tells nova and reads of it, with nova's own code
	@$(CLEAN_ENV) tests/with_nova/run.sh

test-openstack: $(VENV)/.dev ## The tests with real services of OpenStack, without Keystone
	@$(CLEAN_ENV) tests/openstack/run.sh

test-vm: $(VENV)/.dev ## The tests on real Linux hosts with an IOMMU, SR-IOV and libvirt, which QEMU emulates
	@tests/vm/run.sh

demo: $(VENV)/.runtime ## The same on example hosts: claims, refusals and reasons without any hardware
	@$(BIN)/laneway demo

bench: $(VENV)/.dev $(NOVA_VENV)/.peer ## The benchmarks, beside the peers they are compared to
	@PYTHONPATH=tests $(BIN)/python -m bench.compare $(NOVA_VENV)/bin/python

lint: $(VENV)/.dev ## Format, style, types, and who may import whom
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/mypy --platform win32 src/laneway/hosts/hyperv tests/wine
	@$(BIN)/lint-imports

format: $(VENV)/.dev ## Puts the code into its format
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

requirements: $(VENV)/.dev ## Pins the newest releases of what pyproject.toml and requirements/*.in name
	@$(PIP_COMPILE) --upgrade --output-file requirements/runtime.txt pyproject.toml
	@$(PIP_COMPILE) --upgrade --output-file requirements/build.txt requirements/build.in
	@$(PIP_COMPILE) --upgrade --extra openstack --output-file requirements/dev.txt requirements/dev.in pyproject.toml
	@$(PIP_COMPILE) --upgrade --output-file tests/openstack/services/placement.txt tests/openstack/services/placement.in
	@$(PIP_COMPILE) --upgrade --output-file tests/openstack/services/neutron.txt tests/openstack/services/neutron.in
	@$(PIP_COMPILE) --upgrade --output-file tests/openstack/services/databases.txt tests/openstack/services/databases.in
	@$(PIP_COMPILE) --upgrade --output-file bench/requirements-nova.txt bench/requirements-nova.in

clean: ## Removes the environment and what the tools left behind
	@rm -rf $(VENV) $(NOVA_VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage

# The environment. A stamp is newer than what it was made from, so that nothing is done twice.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Laneway needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	@echo "Making the environment in $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml requirements/runtime.txt requirements/build.txt | $(VENV)/bin/python
	@$(PIP_INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	@echo "Adding what tests and checks need ..."
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

# What the benchmarks are compared to, apart from what Laneway needs.
$(NOVA_VENV)/.peer: bench/requirements-nova.txt
	@echo "Making the environment of nova in $(NOVA_VENV) (once) ..."
	@$(PYTHON) -m venv --clear $(NOVA_VENV)
	@$(NOVA_VENV)/bin/python -m pip --disable-pip-version-check install -qq --require-hashes -r $<
	@touch $@
