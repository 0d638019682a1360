"""The verbs of progress: show it, write it into a file, add the file of another machine."""

from __future__ import annotations

from pathlib import Path

from course.core.i18n import t
from course.learning.transfer import TransferError, export_to, import_from
from course.verbs import state
from course.verbs.say import in_words, put, say
from course.verbs.writing import warn_where_it_goes


@in_words
def progress() -> None:
    """Show what is done and due in each lesson, for which checkpoint you are ready, and which false beliefs you still hold."""
    from course.cards.progress_view import progress_html
    from course.learning.progress import summary
    from course.verbs.reviewing import of_games

    found = summary(state.now.log.entries(), state.now.bank, games=of_games())
    put(progress_html(found, str(state.now.log.path)))
    for notice in state.now.log.take_notices():
        say(notice)


@in_words
def export_progress(path: str | Path | None = None) -> None:
    """Write everything you did into one file (default: torch-backends-progress.jsonl here) to take along."""
    try:
        target, lines = export_to(state.now.log, path)
    except TransferError as error:
        say(str(error))
        return
    say(
        t(
            f'Wrote {lines} answers and results to `{target}`. On the other machine: `import_progress("{target.name}")`. '
            f"Nothing was sent anywhere.",
            f'已把 {lines} 条记录写入 `{target}`。在另一台机器上运行 `import_progress("{target.name}")` 即可；'
            f"没有发送到任何地方。",
        )
    )
    warn_where_it_goes(target)


@in_words
def import_progress(path: str | Path) -> None:
    """Add the progress of another machine to this one's; nothing is lost."""
    try:
        merged = import_from(state.now.log, path)
    except TransferError as error:
        say(str(error))
        return
    say(t(f"Imported {path}: ", f"已导入 {path}：") + str(merged), *state.now.log.take_notices())
