# Two commands do everything on a fresh machine: make lab, make test.
PYTHON ?= python3
PORT ?= 8888
LESSONS ?= en
MENUS ?= en
export LESSONS MENUS
export PYTHONDONTWRITEBYTECODE =# many processes import the same files: compiled once
ENV = $(PYTHON) tools/env.py
RUN = .venv/bin/python
PYTEST = $(RUN) -m pytest -n 2 --dist worksteal

.PHONY: help lab style test test-all test-long test-versions notebooks book bundle pictures demo record bench clean

help:            ## this list
	@awk -F ':.*## *' '/^[a-z-]+:.*##/ {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab:             ## open the course in JupyterLab (LESSONS=zh for Chinese, MENUS=zh for its menus too, PORT=9999)
	@$(ENV) lab --language $(LESSONS) --port $(PORT)

style:
	@$(ENV) ensure dev
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check --quiet .

test: style      ## all quick tests and one of each real thing: a lesson, a card in JupyterLab, a class, the book, an install (3 minutes)
	@$(PYTEST) -m "not long and (not slow or one_of_each)"

test-all: style  ## all of these and the rest: everything that is not long (10 minutes)
	@$(PYTEST) -m "not long"

test-long: PYTEST += -o faulthandler_timeout=3600
test-long:       ## what takes too long for every day: repeated kills, every notebook live and in its other language, the whole book (25 minutes)
	@$(ENV) ensure dev
	@$(PYTEST) -m long

test-versions:   ## the parts that depend on torch, on every torch from 2.9 on: gigabytes, some minutes for each
	@$(ENV) ensure dev
	@$(RUN) tools/versions.py

notebooks:       ## build notebooks/en and notebooks/zh from grader/lessons, and the pages of docs/ that are made from data
	@$(ENV) ensure dev
	@$(RUN) -m grader author notebooks

book:            ## the course as a web site in both languages, with book.zip
	@$(ENV) ensure book
	@$(RUN) -m grader author notebooks
	@$(RUN) -m grader author book

bundle:          ## one ZIP for a class, without keys (DIR=../my_class for its released checkpoints)
	@$(ENV) ensure dev
	@$(RUN) -m grader bundle $(if $(DIR),--dir $(DIR)) $(if $(LANGUAGE),--language $(LANGUAGE))

pictures:        ## the pictures of the README, taken of what runs, into docs/pictures
	@$(ENV) ensure dev
	@COURSE_PICTURES=docs/pictures $(RUN) -m pytest -q -n 0 -m long tests/browser/test_pictures.py

demo:            ## a made-up class of 5, handed in and graded through nbgrader
	@$(ENV) ensure dev
	@$(RUN) -m grader author demo --dir build/demo --language $(LESSONS)

record:          ## run every experiment this machine can run; recordings go to their lessons (TO=FOLDER: there)
	@$(ENV) ensure dev
	@$(RUN) -m course.experiment --record $(if $(TO),"$(TO)" --missing)

bench:           ## counters, timers, switches and grading beside their peers: about 40 minutes (LOOK=1: a look; KEEP=1: into benchmarks/results)
	@$(ENV) ensure dev
	@$(foreach name,flops timing grading try_switches,$(RUN) -m benchmarks.$(name) $(if $(LOOK),--look) $(if $(KEEP),--out benchmarks/results/$(name).md) &&) true

clean:           ## remove what was built, never your answers
	rm -rf build dist .pytest_cache .ruff_cache
