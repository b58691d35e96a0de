# One command per task; `make help` lists them. Everything they need goes into .venv and .cache.
PYTHON ?=
PY := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench interop soak fuzz picture doc clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1|/' | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

setup: .venv/.stamp .cache/peers/.stamp ## bring all that development needs into .venv and .cache (once; needs the network)
	@:

.venv/.stamp: pyproject.toml
	@ACP_NVIM_PYTHON="$(PYTHON)" sh tests/tools/setup.sh

.cache/peers/.stamp: tests/peers/package.json tests/peers/package-lock.json | .venv/.stamp
	@sh tests/tools/setup_peers.sh

.cache/stylua/stylua: tests/tools/setup_stylua.sh | .venv/.stamp .cache/peers/.stamp
	@sh tests/tools/setup_stylua.sh

demo: .venv/.stamp ## talk to the bundled demo agent in a throw-away directory
	@$(PY) tests/tools/demo.py

test: setup ## every test that needs no third-party agent
	@$(PY) -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

check: setup .cache/stylua/stylua ## style, types, shape, of Python and Lua
	@sh tests/tools/check.sh

format: setup .cache/stylua/stylua ## format Python and Lua
	@sh tests/tools/format.sh

bench: setup ## measure
	@if [ -d tests/bench ]; then $(PY) -m tests.bench; else echo "no tests/bench here"; exit 1; fi

interop: setup ## real agents (brought from registries) with a scripted model: the table doc/interop.md (AGENTS="gemini": just these)
	@if [ -d tests/interop ]; then $(PY) -m tests.interop.installing && $(PY) -m pytest tests/interop $(PYTEST_ARGS); \
	else echo "no tests/interop here"; exit 1; fi

soak: setup ## long runs
	@if [ -d tests/soak ]; then $(PY) -m pytest tests/soak; else echo "no tests/soak here"; exit 1; fi

fuzz: .venv/.stamp ## any bytes at all against the wire layer, for a minute (FUZZ_SECONDS=600: longer); brings a fuzzer the first time
	@sh tests/fuzz/setup.sh && $(PY) -m tests.fuzz

picture: setup ## make the pictures of the README again
	@$(PY) -m tests.tools.picture

doc: setup ## write the generated parts of the help again, and Lua's list of agents
	@$(PY) -m tests.tools.agent_catalogue
	@nvim=$$($(PY) tests/support/find_nvim.py) && "$$nvim" --clean --headless -l doc/generate.lua

clean: ## remove all that make brought
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build ./*.egg-info
