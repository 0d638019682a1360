"""The questions and knowledge cards as a file for Anki: ``python -m course.cards anki``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from course.cards.anki import export, exportable
from course.core.home import replace_file
from course.core.i18n import LANGUAGES, language, set_language, t
from course.questions.bank import Bank
from course.questions.knowledge import read


def main(argv: list[str] | None = None) -> int:
    """Write the file; returns the exit code: 0 success, 1 it could not be written, 2 wrong arguments."""
    bank = Bank()
    parser = argparse.ArgumentParser(prog="python -m course.cards", description=__doc__)
    parser.add_argument("what", choices=["anki"])
    parser.add_argument("--to", type=Path, default=Path("deck.txt"), metavar="FILE", help="default deck.txt")
    known = bank.lessons()
    parser.add_argument("--lesson", action="append", choices=known, metavar="ID", help="only this lesson (repeatable)")
    parser.add_argument("--language", choices=LANGUAGES, help="default: the one chosen last, else English")
    args = parser.parse_args(argv)
    if args.language:
        set_language(args.language)
    wanted = args.lesson or known
    items = [item for lesson in wanted for item in bank.items(lesson)]
    cards = [card for card in read().values() if not args.lesson or card.lesson in wanted]
    try:
        replace_file(args.to, export(items, language(), cards).encode())
    except OSError as error:
        print(f"{args.to}: {error.strerror}. {t('Choose another file.', '请换一个文件。')}", file=sys.stderr)
        return 1
    count, bets = len(exportable(items)) + len(cards), len(items) - len(exportable(items))
    print(
        t(
            f"{count} notes in {args.to}. In Anki: File, Import; a newer file updates the notes, never doubles them. "
            f"Left out: {bets} bets, which an experiment settles.",
            f"{args.to} 里有 {count} 条笔记。在 Anki 里选“文件、导入”；以后导入新文件只会更新，不会重复。"
            f"未包含 {bets} 道下注题，它们要由实验揭晓。",
        )
    )
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    sys.exit(main())
