"""Asking an author one thing at a time: bad input is asked again with a sentence, every answer is kept at once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

END = "."


class Refused(ValueError):
    """An answer that cannot be taken; the message says what is wanted instead."""


class Asker:
    """Questions with answers kept in a draft file: asked again after a break, they answer themselves.

    read: gives one line typed (raises EOFError or KeyboardInterrupt when the author leaves). write: says a line.
    """

    def __init__(self, draft: Path, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> None:
        self.draft, self.read, self.write = draft, read, write
        self.answers: dict[str, Any] = self._kept()

    def _kept(self) -> dict[str, Any]:
        try:
            found = json.loads(self.draft.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _keep(self) -> None:
        self.draft.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.draft.with_suffix(".new")
        fresh.write_text(json.dumps(self.answers, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(fresh, self.draft)

    def forget(self, *names: str) -> None:
        """Drop answers (all without names), so that they are asked anew."""
        self.answers = {k: v for k, v in self.answers.items() if names and k not in names}
        self._keep() if self.answers else self.draft.unlink(missing_ok=True)

    def ask(self, name: str, prompt: str, check: Callable[[str], Any] = str, default: str | None = None) -> Any:
        """One line. check turns what was typed into the answer, or raises Refused with the sentence to say."""
        if name in self.answers:
            try:
                return check(self.answers[name])
            except Refused:
                self.forget(name)
        while True:
            typed = self.read(f"{prompt}{f' [{default}]' if default else ''}: ").strip()
            typed = typed or (default or "")
            try:
                answer = check(typed)
            except Refused as error:
                self.write(f"  {error}")
                continue
            self.answers[name] = typed
            self._keep()
            return answer

    def block(self, name: str, prompt: str) -> str:
        """Several lines, ended by a line with a single point; nothing for an empty first line."""
        if name in self.answers:
            return self.answers[name]
        self.write(f"{prompt} (end with a line that holds a single point; Enter for none)")
        lines: list[str] = []
        while (line := self.read("  | ")).rstrip() != END and not (not lines and not line.strip()):
            lines.append(line.rstrip())
        self.answers[name] = "\n".join(lines) + "\n" if lines else ""
        self._keep()
        return self.answers[name]

    def yes(self, prompt: str) -> bool:
        """A question that is not kept; Enter is yes."""
        while (typed := self.read(f"{prompt} [Y/n]: ").strip().lower()) not in ("", "y", "yes", "n", "no"):
            self.write("  Answer y or n.")
        return typed in ("", "y", "yes")
