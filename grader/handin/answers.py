"""The items of a checkpoint with their keys."""

from __future__ import annotations

import functools
from typing import Any

from course.questions.items import BankError, Item, every, parse_item, with_key
from course.questions.variants import Paper, alternatives, is_template
from grader import project as files
from grader.project import Infrastructure, Project

Keys = dict[str, dict[str, Any]]


def keyed_items(project: Project, lesson: str, paper: Paper | None = None) -> dict[str, Item]:
    """The items of a checkpoint with their keys. paper: whose variants; None for the standard ones.

    Raises Infrastructure where a key is missing or does not fit.
    """
    items, keys = _read(project, lesson)
    if paper is None:
        return dict(items)
    try:
        return {name: _on_paper(item, keys, paper) if item.varies else item for name, item in items.items()}
    except KeyError as error:
        raise Infrastructure(
            f"item {error} was handed out and has no key in {project.keys(lesson)} any more"
        ) from error
    except BankError as error:
        raise Infrastructure(str(error)) from error


def _on_paper(item: Item, keys: Keys, paper: Paper) -> Item:
    """The variant of an item that was released on this paper; the standard one where it was released without variants."""
    raw = paper.questions.get(item.id, item.template)
    if not is_template(raw):
        return item
    return _keyed(parse_item(raw, item.lesson, checkpoint=True, seed=paper.seed(item.id)), keys)


def every_item(project: Project, lesson: str) -> dict[str, Item]:
    """All questions that a paper of this checkpoint may contain: id of the key -> standard variant. Raises Infrastructure."""
    items, keys = _read(project, lesson)
    return {one.key: _keyed(one, keys) for item in items.values() for one in (every(item) if item.varies else [item])}


def _read(project: Project, lesson: str) -> tuple[dict[str, Item], Keys]:
    """(the standard items with their keys, all keys)."""
    return _read_once(project, lesson, files.as_of(project.checkpoint_items(lesson), project.keys(lesson)))


@functools.lru_cache(maxsize=32)
def _read_once(project: Project, lesson: str, _as_of: tuple[int, ...]) -> tuple[dict[str, Item], Keys]:
    keys, items = files.keys(project, lesson), {}
    for identity, raw in files.checkpoint_items(project, lesson).items():
        for one in alternatives(raw):
            if one["id"] not in keys:
                raise Infrastructure(f"item {one['id']!r} has no key in {project.keys(lesson)}")
        try:
            items[identity] = _keyed(parse_item(raw, f"{lesson}/checkpoint.yaml", checkpoint=True), keys)
        except BankError as error:
            raise Infrastructure(str(error)) from error
    return items, keys


def _keyed(item: Item, keys: Keys) -> Item:
    return with_key(item, keys[item.key])
