"""Writing a question: by interview over stdin, from a file, checked before a byte is written; and the page of all."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from course.quiz import Bank, with_key
from grader.authoring.item_list import listing
from grader.authoring.item_text import appended, item_block, key_block, write_all
from grader.authoring.new_item import entry_of, problems, text_of, whole, write
from grader.commands import main
from grader.project import HERE, Project, ProjectError, keys, practice_items
from tests.conftest import ROOT

LESSON = "05_cudnn_benchmark"


@pytest.fixture
def project(tmp_path):
    """A copy of what the commands read and write."""
    for folder in ("course/lessons", "grader/lessons"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(tmp_path)


def new_item(project, lines, process=False):
    """Run the command with ``lines`` on its standard input; where they end is where the author leaves."""
    typed, arguments = "\n".join(lines) + "\n", ["new-item", "--root", str(project.root)]
    if process:
        return subprocess.run([sys.executable, "-m", "grader", *arguments], cwd=ROOT, input=typed, capture_output=True,
                              text=True, timeout=120)
    said, before = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(typed)
    try:
        with contextlib.redirect_stdout(said):
            status = main(arguments)
    finally:
        sys.stdin = before
    return subprocess.CompletedProcess(arguments, status, said.getvalue(), "")


def texts(name):
    return [f"{name} in English", f"{name}的中文"]


def option(letter, right, belief="async-timer"):
    typed = [*texts(f"Text {letter}"), "y" if right else "n", *texts(f"Why {letter}")]
    return typed if right else [*typed, belief]


SINGLE = ["05", "p", "single", "spare-plan", "benchmark-cache-key", "easy", "why", "", "a page of the documentation",
          "What is kept?", "留下的是什么？", "x = 1", "y = 2", ".",
          *option("a", False), *option("b", True), *option("c", False, "search-is-free"), "", "result = ['b']", ".", "y"]


def unchanged(project, before):
    return {path: path.read_bytes() for path in project.root.rglob("*.yaml")} == before


def snapshot(project):
    return {path: path.read_bytes() for path in project.root.rglob("*.yaml")}


def test_a_practice_question_typed_in_lands_at_the_end_of_its_file(project):
    path = project.items(LESSON)
    before = path.read_bytes()
    done = new_item(project, SINGLE, process=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_bytes().startswith(before) and b"# Practice items of lesson 05" in path.read_bytes()
    item = Bank(project.learner_rooms)["05-spare-plan"]
    assert item.correct == ("b",) and item.option("c").misconception == "search-is-free"
    assert item.stem == {"en": "What is kept?", "zh": "留下的是什么？"} and item.code == "x = 1\ny = 2\n"
    assert item.verify == "result = ['b']\n" and item.experiment is None
    assert not (project.root / "build/new-item.draft.json").exists()


def test_bad_input_is_asked_again_with_a_sentence(project):
    lines = ["99", "05", "x", "practice", "sinlge", "single", "Spare Plan", "revisit", "spare-plan", "Key", "benchmark-cache-key",
             "tough", "easy", "how", "why", "05-toy-rase", "", "", "a page", "", "What is kept?", "留下的是什么？", "",
             *option("a", False)[:-1], "async-timr", "async-timer", *option("b", True), *option("c", False), "", "", "y"]
    done = new_item(project, lines)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("There is no lesson '99'", "Choose one of practice, checkpoint", "Choose one of single",
                  "small letters, digits and hyphens", "05-revisit is taken", "Choose one of easy",
                  'There is no experiment \'05-toy-rase\'. Did you mean "05-toy-race"', "Write something here",
                  'async-timr is not in the list. Did you mean "async-timer"'):
        assert words in done.stdout, words
    assert Bank(project.learner_rooms)["05-spare-plan"].kind == "single"


def test_a_checkpoint_question_is_parted_from_its_key(project):
    lines = ["05", "checkpoint", "number", "spare-count", "benchmark-cache-key", "medium", "what", "3", "", "a page",
             *texts("How many"), "", "4", "x0.5", "3..5", "searches", "次搜索", *texts("Because of"), "400",
             *texts("It tempts"), "search-is-free", "", "result = 4", ".", "y"]
    done = new_item(project, lines)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "at least 1" in done.stdout
    item = Bank(project.learner_rooms)["05-c-spare-count"]
    assert item.points == 3 and not item.keyed
    raw = project.checkpoint_items(LESSON).read_text("utf-8").split("05-c-spare-count")[1]
    assert not re.search(r"value|why|misconception|verify|source", raw)
    keyed = with_key(item, keys(project, LESSON)["05-c-spare-count"])
    assert (keyed.number.value, keyed.number.low, keyed.number.high) == (4, 3, 5)
    assert keyed.number.traps[0].low == 400 and keyed.verify == "result = 4\n"
    assert project.keys(LESSON).read_bytes().startswith(Project().keys(LESSON).read_bytes())


def test_an_order_question_mixes_its_lines_and_takes_a_new_misconception(project):
    lines = ["05", "p", "order", "spare-steps", "new-concept", "hard", "what", "", "a page", *texts("Sort"), "",
             *option("first", True), *option("second", True), *option("third", True),
             *option("stray", False, "a-belief-of-our-own"), *texts("I believe it"), "", "", "y"]
    done = new_item(project, lines)
    assert done.returncode == 0, done.stdout + done.stderr
    item = Bank(project.learner_rooms)["05-spare-steps"]
    assert [item.option(one).text["en"] for one in item.order] == [f"Text {n} in English" for n in ("first", "second", "third")]
    assert tuple(one.id for one in item.options if one.id in item.order) != item.order
    assert Bank(project.learner_rooms).misconceptions()["a-belief-of-our-own"]["zh"] == "I believe it的中文"


def test_a_fault_seen_at_the_end_is_asked_again_and_nothing_else(project):
    typed = list(SINGLE)
    typed[typed.index("result = ['b']")] = "result = ['a']"
    typed[-1:] = ["verify", "result = ['b']", ".", "y"]
    done = new_item(project, typed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the snippet computed ['a'], the key says ['b']" in done.stdout
    assert Bank(project.learner_rooms)["05-spare-plan"].verify == "result = ['b']\n"


def test_two_right_options_of_a_single_question_are_noticed_at_once(project):
    typed = [*SINGLE[:14], *option("a", True), *option("b", True), "n", "async-timer", *option("c", False), "", "", "y"]
    done = new_item(project, typed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "second right option" in done.stdout and Bank(project.learner_rooms)["05-spare-plan"].correct == ("a",)


def test_leaving_in_the_middle_keeps_a_draft_to_go_on_with(project):
    before = snapshot(project)
    first = new_item(project, SINGLE[:17])
    assert first.returncode == 1 and "run new-item again to go on" in first.stdout and "Traceback" not in first.stderr
    assert unchanged(project, before)
    second = new_item(project, ["y", *SINGLE[17:]])
    assert second.returncode == 0, second.stdout + second.stderr
    assert Bank(project.learner_rooms)["05-spare-plan"].correct == ("b",)


def test_a_draft_can_be_dropped(project):
    new_item(project, SINGLE[:5])
    done = new_item(project, ["n", *SINGLE])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_loses_nothing(project):
    child = subprocess.Popen([sys.executable, "-m", "grader", "new-item", "--root", str(project.root)], cwd=ROOT, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdin.write("\n".join(SINGLE[:9]) + "\n")
    child.stdin.flush()
    draft = project.root / "build/new-item.draft.json"
    for _ in range(300):
        if draft.exists() and "source" in draft.read_text("utf-8"):
            break
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    said, errors = child.communicate(timeout=30)
    assert child.returncode == 1 and "run new-item again to go on" in said and "Traceback" not in errors
    assert json.loads(draft.read_text("utf-8"))["source"] == "a page of the documentation"
    assert new_item(project, ["y", *SINGLE[9:]]).returncode == 0


# --- from a file ---

BOTH = {"en": "A text of some length", "zh": "一段有点长的文字"}
DRAFT = {
    "id": "05-from-file", "lesson": LESSON, "concept": "benchmark-cache-key", "kind": "single", "difficulty": "easy",
    "asks": "why", "source": "a page", "stem": {"en": "Why?", "zh": "为什么？"},
    "options": [{"id": one, "text": {"en": f"text {one}", "zh": f"文字 {one}"}, "why": BOTH,
                 **({"correct": True} if one == "b" else {"misconception": "async-timer"})} for one in "abc"]}


def test_from_a_file_and_dry_run(project, tmp_path, capsys):
    path = tmp_path / "draft.yaml"
    path.write_text(yaml.safe_dump(DRAFT, allow_unicode=True), "utf-8")
    before = snapshot(project)
    arguments = ["new-item", "--root", str(project.root), "--from", str(path)]
    assert main([*arguments, "--dry-run"]) == 0 and "nothing was written" in capsys.readouterr().out
    assert unchanged(project, before)
    assert main(arguments) == 0
    assert "added 05-from-file to course/lessons/l05_cudnn_benchmark/items.yaml" in capsys.readouterr().out
    assert main(arguments) == 1 and "05-from-file is taken" in capsys.readouterr().out


@pytest.mark.parametrize("change, words", [
    ({"kind": "guess"}, "must be one of single"), ({"lesson": "06_nothing"}, "number of its lesson"),
    ({"id": "06-x", "lesson": "06_nothing"}, "there is no lesson 06_nothing"), ({"options": None}, "must be of type array"),
    ({"experiment": "05-toy-rase"}, 'Did you mean "05-toy-race"'), ({"verify": "while True: pass"}, "was cut"),
    ({"stem": {"en": "Why?", "zh": "Why on earth is that so?"}}, "is not Chinese"), ({"source": ""}, "is empty"),
    ({"checkpoint": True}, "points: is missing"), ({"checkpoint": True, "points": 1, "lesson": "00_start", "id": "00-c-x"},
                                                  "has no checkpoint"),
    ({"new_misconceptions": {"fresh": {"en": "x"}}}, "both languages"),
    ({"new_misconceptions": {"async-timer": BOTH}}, "in the list already")])
def test_a_bad_draft_gets_sentences_and_writes_nothing(project, tmp_path, change, words, monkeypatch):
    monkeypatch.setattr("course.quiz.verify.run_verify.__defaults__", (*_defaults()[:-1], 0.3))
    before = snapshot(project)
    entry = entry_of({**copy.deepcopy(DRAFT), **change})
    assert words in "\n".join(problems(project, entry))
    with pytest.raises(ProjectError):
        write(project, entry)
    assert unchanged(project, before)


def _defaults():
    from course.quiz.verify import run_verify

    return run_verify.__defaults__


@pytest.mark.parametrize("content, words", [(None, "no such file"), ("- [", "not valid YAML"), ("just words", "must be one question")])
def test_a_file_that_is_no_draft_gets_a_sentence(project, tmp_path, content, words, capsys):
    path = tmp_path / "draft.yaml"
    if content is not None:
        path.write_text(content, "utf-8")
    assert main(["new-item", "--root", str(project.root), "--from", str(path)]) == 1
    assert words in capsys.readouterr().out


def test_every_question_there_is_survives_being_written_by_us():
    """The emitter gives back exactly what it was given, over the whole bank and its keys."""
    project = Project(HERE)
    for raw in practice_items(project).values():
        assert yaml.safe_load(item_block(raw)) == [raw]
    for path in project.rooms.glob("*/keys.yaml"):
        for identity, key in keys(project, path.stem).items():
            assert yaml.safe_load(key_block(identity, key)) == {identity: key}


@pytest.mark.parametrize("text", ["yes", "12", "1e3", "- x", "a: b", "#", "'", '"\\', " x ", "x\ny", "x\n", "\n x\n", "x \ny\n",
                                  "a\tb\n", "\u2028", "\x85", "null", "x\n\n", "中：文", "{a}", "&a", "~", "1_000", "0x1f"])
def test_awkward_texts_survive(text):
    raw = {"id": "05-x", "source": text, "verify": text, "kind": text, "stem": {"en": text, "zh": text * 40}, "order": [text]}
    assert yaml.safe_load(item_block(raw)) == [raw]


def test_files_keep_their_bytes_comments_and_line_ends(tmp_path):
    entry, block = {"id": "05-x", "kind": "single"}, item_block({"id": "05-x", "kind": "single"})
    for before in (b"# head\r\n- id: a\r\n  b: 1   # why\r\n", b"- id: a", b"", b"# only a comment\n"):
        path = tmp_path / "items.yaml"
        path.write_bytes(before)
        after = appended(path, block, entry)
        assert after.startswith(before) and yaml.safe_load(after)[-1] == entry
    for broken in (b"[]\n", b"a: 1\n", b"- [\n", b"- {id: a}\n...\n"):
        path.write_bytes(broken)
        with pytest.raises(ProjectError):
            appended(path, block, entry)


def test_all_files_are_written_or_none(tmp_path):
    first = tmp_path / "first.yaml"
    first.write_bytes(b"old")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ProjectError, match="nothing was changed"):
        write_all({first: b"new", tmp_path / "fresh.yaml": b"new", tmp_path / "file" / "below.yaml": b"new"})
    assert first.read_bytes() == b"old" and not (tmp_path / "fresh.yaml").exists()


def test_a_checkpoint_entry_reads_back_whole():
    entry = entry_of({**DRAFT, "id": "05-c-from-file", "checkpoint": True, "points": 2})
    assert whole(entry).correct == ("b",) and "correct: [b]" in text_of(entry)
    assert "misconception" not in item_block(entry.item)


# --- the page ---


def test_the_page_lists_everything_and_holds_no_key_unless_asked(project, tmp_path, capsys):
    secret = keys(project, LESSON)["05-c-two-shapes"]["why"]["b"]["en"]
    with (project.learner_rooms / "misconceptions.yaml").open("a", encoding="utf-8") as file:
        file.write('nobody-yet: {en: "A belief without a question.", zh: "还没有题目的误解。"}\n')
    for name, arguments in (("plain", []), ("keys", ["--keys"])):
        assert main(["items", "--root", str(project.root), "--to", str(tmp_path / f"{name}.html"), *arguments]) == 0
    plain, full = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("plain", "keys"))
    assert "05-revisit" in plain and "05-c-two-shapes" in plain and "To mend" not in plain
    assert secret not in plain and secret in full and "For instructors" in full and "For instructors" not in plain
    found = listing(project)
    assert all(not row.item.keyed for row in found.checkpoints) and not any(row.beliefs for row in found.checkpoints)
    [row] = [row for row in found.practice if row.item.id == "05-bet-race"]
    assert row.used == (LESSON,) and row.beliefs == ("benchmark-always-faster", "search-is-free")
    assert found.tempted_by()["nobody-yet"] == [] and "05-bet-race" in found.tempted_by()["search-is-free"]
    assert "leave" not in capsys.readouterr().err


def test_the_page_shows_what_is_to_be_mended(project, tmp_path):
    path = project.items(LESSON)
    draft = {**DRAFT, "options": [{**one, "misconception": "unheard-of"} if one["id"] == "a" else one for one in DRAFT["options"]]}
    path.write_bytes(path.read_bytes() + b"\n" + item_block(draft).encode())
    project.keys("02_timing").write_text("{}", "utf-8")
    assert main(["items", "--root", str(project.root), "--to", str(tmp_path / "a.md"), "--keys", "--language", "zh"]) == 0
    page = (tmp_path / "a.md").read_text("utf-8")
    assert "unheard-of is not in misconceptions.yaml" in page and "has no key in grader/lessons/l02_timing/keys.yaml" in page
    assert "# 全部题目" in page and "没有笔记本用到" in page


def test_a_place_that_cannot_be_written_gets_a_sentence(project, tmp_path, capsys):
    (tmp_path / "file").write_bytes(b"")
    assert main(["items", "--root", str(project.root), "--to", str(Path(tmp_path, "file", "a.html"))]) == 1
    assert "choose another place" in capsys.readouterr().out
