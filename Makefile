# `make exam` runs a small version of every exam; `make test` runs everything there is to check.
# Both set up what they need in .venv on their first run.

PYTHON ?= python3
RUN = .venv/bin/

.PHONY: exam test lint types tests clean
exam: .venv/exam
	$(RUN)snellen demo --into runs/demo

test: .venv/test lint types tests

lint:
	$(RUN)ruff check .
	$(RUN)ruff format --check .

types:
	$(RUN)mypy

tests:
	$(RUN)python -m pytest $(PYTEST)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Snellen needs Python 3.11 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/exam: .venv/bin/python pyproject.toml
	$(RUN)python -m pip install --quiet --editable '.[torch,svrt]'
	touch $@

.venv/test: .venv/bin/python pyproject.toml
	$(RUN)python -m pip install --quiet --editable '.[torch,onnx,keras,hf,sklearn,dask,svrt,synthesis,codecs,masks,rl,study,postgres,dev]'
	touch $@ .venv/exam

clean:
	rm -rf .venv runs
