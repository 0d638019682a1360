"""``python -m grader new-item`` and ``items``: writing a question, and looking at all of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grader.project import LANGUAGES, Project

if TYPE_CHECKING:
    from grader.authoring.asking import Asker
    from grader.authoring.new_item import Entry

DRAFT = Path("build/new-item.draft.json")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("new-item", help="write a question: asks for everything, checks it, adds it")
    parser.add_argument("--from", dest="draft", type=Path, metavar="FILE.yaml", help="take it from a file, ask nothing")
    parser.add_argument("--dry-run", action="store_true", help="check and show, write nothing")
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
    """0 written (or fit to be written), 1 not fit or left unfinished."""
    from grader.authoring.new_item import entry_of, read_draft

    project = _project(arguments)
    if arguments.draft:
        entry = entry_of(read_draft(arguments.draft))
        return _finish(project, entry, arguments.dry_run)
    from grader.authoring.asking import Asker

    asker = Asker(project.root / DRAFT)
    try:
        return _interactive(project, asker, arguments.dry_run)
    except (KeyboardInterrupt, EOFError):
        kept = f" What you wrote is kept in {asker.draft}; run new-item again to go on." if asker.answers else ""
        print(f"\nStopped; no question was written.{kept}")
        return 1


def _interactive(project: Project, asker: Asker, dry_run: bool) -> int:
    """Ask until the draft is fit, then write it; the draft file goes when the question stands."""
    from grader.authoring.interview import interview
    from grader.authoring.new_item import entry_of, problems

    if asker.answers and not asker.yes(f"Go on with the draft of {asker.answers.get('id', 'a question')}?"):
        asker.forget()
    while True:
        entry = entry_of(interview(project, asker))
        found = problems(project, entry)
        if not found:
            break
        print("\nNot yet:")
        for sentence in found:
            print(f"  - {sentence}")
        print("Answers so far:", ", ".join(asker.answers))
        names = [one.strip() for one in asker.read("Which to ask again? (names, with commas; Enter: stop here) ").split(",")]
        if not any(names):
            raise EOFError
        if strange := [one for one in names if one and one not in asker.answers]:
            print(f"  There is no answer named {', '.join(strange)}.")
        asker.forget(*filter(None, names))
    status = _finish(project, entry, dry_run, asker.yes)
    if status == 0 and not dry_run:
        asker.forget()
    return status


def _finish(project: Project, entry: Entry, dry_run: bool, sure: Callable[[str], bool] | None = None) -> int:
    from grader.authoring.new_item import hints, problems, text_of, write

    if found := problems(project, entry):
        print(f"{entry.id} is not fit to be written:")
        for sentence in found:
            print(f"  - {sentence}")
        return 1
    print(f"\n{text_of(entry)}")
    for sentence in hints(project, entry):
        print(f"Worth another look: {sentence}")
    if dry_run:
        print(f"{entry.id} is fit to be written; nothing was written.")
        return 0
    if sure is not None and not sure("Write it?"):
        raise EOFError
    for path in write(project, entry):
        print(f"added {entry.id} to {path.relative_to(project.root)}")
    print("Next: name it in the lesson's notebook, grader/lessons/.../lesson.py, then `python -m pytest tests/test_bank.py`.")
    return 0


def run_items(arguments: argparse.Namespace) -> int:
    """Always 0: the page tells what to mend."""
    from grader.authoring.item_page import write_page

    print(write_page(_project(arguments), arguments.to, arguments.keys, arguments.language))
    return 0
