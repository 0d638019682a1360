"""The cards outside the notebooks: ``python -m course.cards anki``, ``merge``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from course.core.files import replace_file
from course.core.i18n import LANGUAGES, language, set_language, t
from course.learning.log import answer_log
from course.learning.transfer import TransferError, import_from
from course.questions.bank import load_bank
from course.questions.items import BankError
from course.questions.knowledge import Knowledge, read


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit code: 0 success, 1 a file could not be read or written, 2 wrong arguments."""
    args = _parser().parse_args(argv)
    if args.language:
        set_language(args.language)
    try:
        print(args.run(args))
    except (BankError, TransferError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(
            t(
                f"{error.filename}: {error.strerror}. Check the path and try again.",
                f"{error.filename}：{error.strerror}。请检查路径后再试。",
            ),
            file=sys.stderr,
        )
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course.cards", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    what = "write the questions as a file for Anki's import"
    command = commands.add_parser("anki", help=what, description=what)
    command.add_argument("--to", type=Path, default=Path("deck.txt"), metavar="FILE", help="default deck.txt")
    command.add_argument("--lesson", action="append", metavar="ID", help="only this lesson (repeatable)")
    command.set_defaults(run=_anki)
    command = commands.add_parser("merge", help="add answers given on another machine to yours")
    command.add_argument("file", type=Path, help="a file of answers, such as answers-2026-03-01.jsonl")
    command.set_defaults(run=_merge)
    for command in commands.choices.values():
        command.add_argument("--language", choices=LANGUAGES, help="default: the one chosen last, else English")
    return parser


def _write(path: Path, content: str) -> None:
    try:
        replace_file(path, content.encode())
    except OSError as error:  # names the file asked for, not the unfinished one beside it
        raise OSError(error.errno, error.strerror, str(path)) from None


def _items(args: argparse.Namespace) -> list:
    bank = load_bank()
    wanted = args.lesson or bank.lessons()
    if strange := [one for one in wanted if one not in bank.lessons()]:
        known = ", ".join(bank.lessons())
        raise BankError(
            t(
                f"There is no lesson {', '.join(strange)}; the lessons are {known}.",
                f"没有 {'、'.join(strange)} 这一课；可选的是 {known}。",
            )
        )
    return [item for lesson in wanted for item in bank.items(lesson)]


def _cards(args: argparse.Namespace) -> list[Knowledge]:
    return [card for card in read()[0].values() if not args.lesson or card.lesson in args.lesson]


def _anki(args: argparse.Namespace) -> str:
    from course.cards.anki import export, exportable

    items, cards = _items(args), _cards(args)
    _write(args.to, export(items, language(), cards))
    count = len(exportable(items)) + len(cards)
    return t(
        f"{count} notes in {args.to}. In Anki: File, Import; a newer file updates the notes, never doubles them. "
        f"Left out: {len(items) - len(exportable(items))} bets, which an experiment settles.",
        f"{args.to} 里有 {count} 条笔记。在 Anki 里选“文件、导入”；以后导入新文件只会更新，不会重复。"
        f"未包含 {len(items) - len(exportable(items))} 道下注题，它们要由实验揭晓。",
    )


def _merge(args: argparse.Namespace) -> str:
    log = answer_log()
    merged = import_from(log, args.file)
    return "\n".join([f"{log.path}: {merged}", *log.take_notices()])


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
