"""``python -m grader new-item`` and ``items``: writing a question, and looking at all of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from course.catalog import BY_ID
from course.questions.schema import KINDS
from course.suggest import did_you_mean
from grader.project import LANGUAGES, Project


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("new-item", help="write a question: a template first, then checked and added")
    parser.add_argument(
        "draft", type=Path, metavar="FILE.yaml", help="made as a commented template where it does not exist yet"
    )
    parser.add_argument("--lesson", metavar="LESSON", help="of the template, such as 05_cudnn_benchmark")
    parser.add_argument("--kind", choices=KINDS, default="single", help="of the template")
    parser.add_argument("--checkpoint", action="store_true", help="a template for a question that counts")
    parser.add_argument("--dry-run", action="store_true", help="check and show, add nothing")
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    parser.set_defaults(run=run_new)
    parser = commands.add_parser("items", help="a page with all questions, where they are used, and what to mend")
    parser.add_argument("--to", type=Path, default=Path("build/items.html"), metavar="FILE", help=".html or .md")
    parser.add_argument("--keys", action="store_true", help="also the keys of checkpoint questions: for instructors")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of the headings; texts come in both")
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    parser.set_defaults(run=run_items)


def _project(arguments: argparse.Namespace) -> Project:
    return Project(arguments.root) if arguments.root else Project()


def run_new(arguments: argparse.Namespace) -> int:
    """0 a template made, or the question added (or fit to be added); 1 not yet."""
    return _add(arguments) if arguments.draft.exists() else _begin(arguments)


def _begin(arguments: argparse.Namespace) -> int:
    from grader.authoring.item_template import template

    lesson = arguments.lesson
    if lesson not in BY_ID:
        print(
            f"{arguments.draft} does not exist yet. To begin it, name its lesson: --lesson {'|'.join(BY_ID)}."
            + (did_you_mean(lesson, BY_ID) if lesson else "")
        )
        return 1
    arguments.draft.parent.mkdir(parents=True, exist_ok=True)
    arguments.draft.write_text(template(lesson, arguments.kind, arguments.checkpoint), encoding="utf-8")
    print(
        f"{arguments.draft} is a template, explained line by line. Fill it in, then run:\npython -m grader new-item {arguments.draft}"
    )
    return 0


def _add(arguments: argparse.Namespace) -> int:
    from grader.authoring.item_template import placed
    from grader.authoring.new_item import entry_of, hints, problems, read_draft, text_of, write

    project = _project(arguments)
    entry = entry_of(read_draft(arguments.draft))
    if found := problems(project, entry):
        text = arguments.draft.read_text(encoding="utf-8")
        print(f"{arguments.draft} is not fit to be added yet:")
        for sentence in found:
            print(f"  - {placed(text, sentence)}")
        return 1
    print(f"\n{text_of(entry)}")
    for sentence in hints(project, entry):
        print(f"Worth another look: {sentence}")
    if arguments.dry_run:
        print(f"{entry.id} is fit to be added; nothing was written.")
        return 0
    for path in write(project, entry):
        print(f"added {entry.id} to {path.relative_to(project.root)}")
    source = "checkpoint" if entry.key else "lesson"
    print(
        f"Next: name it in grader/lessons/l{entry.item['lesson']}/{source}.py, then `python -m pytest tests/test_bank.py`."
    )
    return 0


def run_items(arguments: argparse.Namespace) -> int:
    """Always 0: the page tells what to mend."""
    from grader.authoring.item_page import write_page

    print(write_page(_project(arguments), arguments.to, arguments.keys, arguments.language))
    return 0
