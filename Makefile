# make demo       learn, play and rate on the smallest game, in a few minutes
# make test       the tests, but for the slow ones: some ten minutes on two cores
# make test-slow  those that need 3 s of CPU or more: as long again
# make quick      what is cheap of them, in a minute; ROOM=search for those of one room
# make bench      how fast the engine is here
# make bench-gpu  the same of networks, on a GPU
# make dev        what all need, in .venv (PYTHON=python3.12 chooses the interpreter)
# make verify     the learner against the truth, where it is known: one seed of everything, up to 45 minutes
# make sanitize   the engine's tests, with the C engine under address and thread sanitizers
# make man        the manual's pages of file formats, from formats/
# make page       the module of pages without a server, by clang 14 and lld 14
# make site       all pages with a search, in site/ (needs mandoc)
# make lint       ruff and mypy
# make build      sdist and wheel, in dist/
# make clean      removes what was built
# make fuzz       random bytes for the C engine, a minute long (FUZZ_SECONDS=10 for each entry)

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
C_FILES := $(wildcard cengine/*.[ch] cengine/*/*.[ch] cengine/*.py) setup.py

.PHONY: help dev test test-slow quick demo bench bench-gpu verify fuzz sanitize man page site lint build clean

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

dev: $(VENV)/.installed $(VENV)/.engine man/stratkit-formats.5
ifneq (,$(filter dev,$(MAKECMDGOALS)))
	@echo 'The commands are in bin/: export PATH="$(CURDIR)/bin:$$PATH"'
endif

# torch comes first and by its exact pin: it is by far the largest, and the rest must fit it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" sh .ci/prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q "$$(grep ^torch== constraints.txt)" -c constraints.txt
	$(BIN)/pip install -q setuptools cffi -c constraints.txt
	$(BIN)/pip install -q --no-build-isolation -e '.[learn,play,plot,tensorboard,pettingzoo,dev]' -c constraints.txt
	@touch $@ $(VENV)/.engine

# An editable install does not notice that a C file changed.
$(VENV)/.engine: $(C_FILES) | $(VENV)/.installed
	@PYTHON="$(PYTHON)" sh .ci/prerequisites
	rm -f stratkit/engine/_engine.*so
	$(BIN)/python setup.py -q build_ext --inplace
	@touch $@

# One page stands for all pages of formats.
man/stratkit-formats.5: man/make.py $(wildcard formats/*.md) pyproject.toml | $(VENV)/.installed
	$(BIN)/python man/make.py

test: only = not slow
test-slow: only = slow
test test-slow: dev
	$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "$(only)"

quick: dev
	$(BIN)/python -m pytest -q -n auto -m "not dear and not slow" tests/$(ROOM)

demo: dev
	PATH="$(CURDIR)/bin:$$PATH" ./examples/demo.sh

page:
	$(PYTHON) cengine/page/build.py stratkit/humans/standalone/engine.wasm

bench: dev
	$(BIN)/python cengine/bench/bench.py

bench-gpu: dev
	@PYTHON=$(CURDIR)/$(BIN)/python bench/gpu.sh

verify: dev
	rm -rf verify
	$(BIN)/python examples/figure3.py
	$(BIN)/python examples/cycling.py
	PATH="$(CURDIR)/bin:$$PATH" $(BIN)/python examples/verify.py verify

fuzz: dev
	@$(MAKE) --no-print-directory -C cengine/fuzz PYTHON=$(CURDIR)/$(BIN)/python

sanitize: dev
	.ci/sanitize address
	.ci/sanitize thread tests/engine/test_threads.py tests/engine/test_batch.py

man: | $(VENV)/.installed
	$(BIN)/python man/make.py

site: dev
	$(BIN)/python docs/make.py
	$(BIN)/mkdocs build -q --strict

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

build: dev
	$(BIN)/python -m build --no-isolation

clean:
	rm -rf build dist site demo verify *.egg-info cengine/*.o stratkit/engine/_engine.c stratkit/engine/_engine.*so
	rm -f $(VENV)/.engine man/*.5
