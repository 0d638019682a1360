"""Writing a question: a template, then checked before a byte is written; and the page of all."""

from __future__ import annotations

import copy
import re
import shutil
from pathlib import Path

import pytest
import yaml

from course.catalog import BY_ID
from course.questions.bank import Bank
from course.questions.items import with_key
from course.questions.schema import KINDS
from grader.authoring.item_list import listing
from grader.authoring.item_text import appended, item_block, key_block, write_all
from grader.authoring.new_item import entry_of, problems, text_of, whole, write
from grader.commands import main
from grader.project import HERE, Project, ProjectError, keys, practice_items
from tests.conftest import ROOT

LESSON = "05_cudnn_benchmark"


@pytest.fixture
def project(tmp_path):
    """A copy of what the commands read and write, with two of the rooms."""
    others = [f"l{one}" for one in BY_ID if one not in (LESSON, "02_timing")]
    for folder in ("course/lessons", "grader/lessons"):
        left = shutil.ignore_patterns("__pycache__", "recordings", *others)
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left)
    return Project(tmp_path)


def unchanged(project, before):
    return snapshot(project) == before


def snapshot(project):
    return {path: path.read_bytes() for path in project.root.rglob("*.yaml")}


# --- from a template ---


@pytest.mark.parametrize(
    ("kind", "more"),
    [(kind, more) for kind in KINDS for more in ([], ["--checkpoint"]) if kind != "predict" or not more],
)  # a bet does not count
def test_a_template_is_a_draft_that_only_waits_for_its_id(project, tmp_path, kind, more, capsys):
    """What the comments say is what the checks take: with an id, a concept and an experiment it is a question."""
    path, before = tmp_path / "draft.yml", snapshot(project)
    arguments = ["new-item", "--root", str(project.root), str(path)]
    assert main(arguments) == 1 and "name its lesson" in capsys.readouterr().out and not path.exists()
    assert main([*arguments, "--lesson", LESSON, "--kind", kind, *more]) == 0
    capsys.readouterr()
    text = path.read_text("utf-8").replace("change-me", f"of-a-template-{kind}")
    path.write_text(text.replace('experiment: "05-..."', 'experiment: "05-toy-race"'), "utf-8")
    assert main([*arguments, "--dry-run"]) == 0, capsys.readouterr().out
    assert unchanged(project, before)
    assert main(arguments) == 0 and not unchanged(project, before)
    identity = f"05-{'c-' if more else ''}of-a-template-{kind}"
    assert Bank(project.learner_rooms)[identity].kind == kind
    if more:
        raw = project.checkpoint_items(LESSON).read_text("utf-8").split(identity)[1]
        assert not re.search(r"\b(correct|value|why|misconception|verify|source|order):", raw)
        assert with_key(Bank(project.learner_rooms)[identity], keys(project, LESSON)[identity]).keyed
        assert project.keys(LESSON).read_bytes().startswith(Project().keys(LESSON).read_bytes())


def test_a_fault_names_its_line(project, tmp_path, capsys):
    path = tmp_path / "draft.yaml"
    arguments = ["new-item", "--root", str(project.root), str(path)]
    main([*arguments, "--lesson", LESSON])
    text = (
        path.read_text("utf-8")
        .replace("change-me", "of-a-template")
        .replace("    correct: true\n", "    corect: true\n")
    )
    path.write_text(text.replace("difficulty: medium", "difficulty: tough"), "utf-8")
    capsys.readouterr()
    assert main(arguments) == 1
    said, lines = capsys.readouterr().out, path.read_text("utf-8").split("\n")
    named = [int(number) for number in re.findall(r"line (\d+):", said)]
    assert any("tough" in lines[number - 1] for number in named) and any(
        "corect" in lines[number - 1] for number in named
    ), said


# --- from a file ---

BOTH = {"en": "A text of some length", "zh": "一段有点长的文字"}
DRAFT = {
    "id": "05-from-file",
    "lesson": LESSON,
    "concept": "benchmark-cache-key",
    "kind": "single",
    "difficulty": "easy",
    "asks": "why",
    "source": "a page",
    "stem": {"en": "Why?", "zh": "为什么？"},
    "options": [
        {
            "id": one,
            "text": {"en": f"text {one}", "zh": f"文字 {one}"},
            "why": BOTH,
            **({"correct": True} if one == "b" else {"misconception": "async-timer"}),
        }
        for one in "abc"
    ],
}


def test_from_a_file_and_dry_run(project, tmp_path, capsys):
    path = tmp_path / "draft.yaml"
    path.write_text(yaml.safe_dump(DRAFT, allow_unicode=True), "utf-8")
    before = snapshot(project)
    arguments = ["new-item", "--root", str(project.root), str(path)]
    assert main([*arguments, "--dry-run"]) == 0 and "nothing was written" in capsys.readouterr().out
    assert unchanged(project, before)
    assert main(arguments) == 0
    assert "05-from-file to course/lessons/l05_cudnn_benchmark/items.yaml" in capsys.readouterr().out
    assert main(arguments) == 1 and "05-from-file is taken" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, rule, named",
    [
        ({"kind": "guess"}, "schema", "field kind"),
        ({"lesson": "06_nothing"}, "schema", "field id"),
        ({"id": "06-x", "lesson": "06_nothing"}, "unknown-lesson", "06_nothing"),
        ({"options": None}, "schema", "field options"),
        ({"experiment": "05-toy-rase"}, "unknown-id", '"05-toy-race"'),
        ({"verify": "while True: pass"}, "verify", "0.3 s"),
        ({"stem": {"en": "Why?", "zh": "Why on earth is that so?"}}, "not-chinese", "stem"),
        ({"source": ""}, "schema", "field source"),
        ({"checkpoint": True}, "schema", "field points"),
        ({"checkpoint": True, "points": 1, "lesson": "00_start", "id": "00-c-x"}, "no-checkpoint", "00_start"),
        ({"new_misconceptions": {"fresh": {"en": "x"}}}, "one-language", "fresh"),
        ({"new_misconceptions": {"async-timer": BOTH}}, "known-misconception", "async-timer"),
    ],
)
def test_a_bad_draft_gets_sentences_and_writes_nothing(project, tmp_path, change, rule, named, monkeypatch):
    monkeypatch.setattr("course.questions.verify.run_verify.__defaults__", (*_defaults()[:-1], 0.3))
    before = snapshot(project)
    entry = entry_of({**copy.deepcopy(DRAFT), **change})
    assert any(one.rule == rule and named in one for one in problems(project, entry))
    with pytest.raises(ProjectError):
        write(project, entry)
    assert unchanged(project, before)


def _defaults():
    from course.questions.verify import run_verify

    return run_verify.__defaults__


@pytest.mark.parametrize("content, words", [("- [", "YAML"), ("just words", "must be one question")])
def test_a_file_that_is_no_draft_gets_a_sentence(project, tmp_path, content, words, capsys):
    path = tmp_path / "draft.yaml"
    path.write_text(content, "utf-8")
    assert main(["new-item", "--root", str(project.root), str(path)]) == 1
    assert words in capsys.readouterr().out


def test_every_question_there_is_survives_being_written_by_us():
    """The emitter gives back exactly what it was given, over the whole bank and its keys."""
    project = Project(HERE)
    for raw in practice_items(project).values():
        assert yaml.safe_load(item_block(raw)) == [raw]
    for path in project.rooms.glob("*/keys.yaml"):
        for identity, key in keys(project, path.parent.name[1:]).items():
            assert yaml.safe_load(key_block(identity, key)) == {identity: key}


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "12",
        "1e3",
        "- x",
        "a: b",
        "#",
        "'",
        '"\\',
        " x ",
        "x\ny",
        "x\n",
        "\n x\n",
        "x \ny\n",
        "a\tb\n",
        "\u2028",
        "\x85",
        "null",
        "x\n\n",
        "中：文",
        "{a}",
        "&a",
        "~",
        "1_000",
        "0x1f",
    ],
)
def test_awkward_texts_survive(text):
    raw = {
        "id": "05-x",
        "source": text,
        "verify": text,
        "kind": text,
        "stem": {"en": text, "zh": text * 40},
        "order": [text],
    }
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
    assert row.used == (LESSON,) and row.beliefs == ("benchmark-always-faster",)
    assert found.tempted_by()["nobody-yet"] == [] and "05-bet-race" in found.tempted_by()["benchmark-always-faster"]
    assert "leave" not in capsys.readouterr().err


def test_the_page_shows_what_is_to_be_mended(project, tmp_path):
    path = project.items(LESSON)
    draft = {
        **DRAFT,
        "options": [{**one, "misconception": "unheard-of"} if one["id"] == "a" else one for one in DRAFT["options"]],
    }
    path.write_bytes(path.read_bytes() + b"\n" + item_block(draft).encode())
    project.keys("02_timing").write_text("{}", "utf-8")
    assert (
        main(["items", "--root", str(project.root), "--to", str(tmp_path / "a.md"), "--keys", "--language", "zh"]) == 0
    )
    page = (tmp_path / "a.md").read_text("utf-8")
    assert "unheard-of" in page and "has no key in grader/lessons/l02_timing/keys.yaml" in page
    assert "# 全部题目" in page and "没有 notebook 用到" in page


def test_a_place_that_cannot_be_written_gets_a_sentence(project, tmp_path, capsys):
    (tmp_path / "file").write_bytes(b"")
    assert main(["items", "--root", str(project.root), "--to", str(Path(tmp_path, "file", "a.html"))]) == 1
    assert "choose another place" in capsys.readouterr().out
