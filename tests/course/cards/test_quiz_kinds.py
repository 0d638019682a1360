"""The next experiment, the empty answer, lines in pairs: the card and its text twin."""

from __future__ import annotations

import copy

import pytest

from course.cards.anki import front
from course.cards.cards import card as practice
from course.cards.offline import item_data
from course.cards.render import body_html
from course.cards.text import answer
from course.core.i18n import pick, set_language
from course.core.markup import plain
from course.core.text import text_of
from course.questions.bank import Bank
from course.questions.wording import pairs
from tests.support import quiz_items as q


@pytest.fixture
def bank(tmp_path):
    wrong_way = copy.deepcopy(q.SINGLE) | {"id": "05-led"}
    wrong_way["options"][0]["experiment"] = "05-other"
    return Bank(q.write_bank(tmp_path / "bank", [q.PREDICT, q.SINGLE, q.ORDER, q.NUMBER, wrong_way]))


pytestmark = pytest.mark.usefixtures("quick_hands")


def build(kind, item_id, bank, log, **more):
    return kind(item_id, bank=bank, log=log, text=False, **more)


def test_the_experiment_named_after_a_wrong_choice_is_that_of_the_choice(bank, log):
    card = build(practice, "05-led", bank, log)
    for option, named in (
        ("a", "05-other"),
        ("c", "05-run"),
        ("b", ""),
    ):  # c has none of its own: the item's; b is right
        card.input.rows[option].button.click()
        card.buttons[2].click()
        assert f"observe(&quot;{named}" in card.say.value if named else "observe(" not in card.say.value
        card.buttons[2].click()


@pytest.mark.parametrize(("code", "words"), [("en", "Not answered yet."), ("zh", "还没有作答。")])
def test_an_empty_answer_has_its_own_verdict_and_no_entry(bank, log, capsys, code, words):
    set_language(code)
    for item_id in ("05-one", "05-wager", "05-lines", "05-count"):
        card = build(practice, item_id, bank, log)
        card.buttons[1].click()
        assert words in card.say.value and 'role="status"' in card.say.value
        answer(item_id, "", bank=bank, log=log)
        assert words in capsys.readouterr().out
    assert log.entries() == []


def test_a_distractor_stands_beside_the_line_it_tempts_for(bank, log):
    assert pairs(bank["05-lines"]) == [("a", "b"), ("c",), ("d",)]
    card = build(practice, "05-lines", bank, log)
    lines = card.input.widget.children[0]
    assert [box for box in lines.children if "tbq-pair" in box._dom_classes]
    assert list(card.input.rows) == ["a", "b", "c", "d"]
    assert len(card.input.order.children) == 1 + 3  # a note, and as many places as can be filled


def test_every_face_says_which_two_lines_exclude_each_other(bank):
    item = bank[q.ORDER["id"]]
    group = next(group for group in pairs(item) if len(group) == 2)
    shown = text_of(body_html(item))
    first, second = (f"{one}) {plain(pick(item.option(one).text))}" for one in group)
    assert f"Only one of these two:\n{first}\n{second}\n" in shown + "\n"
    assert "Only one of these two:" in front(item) and front(item).count("<ul") == 1
    assert group in item_data(item)["groups"]
