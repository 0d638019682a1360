"""The book's search ranks: what a person types or pastes leads to the section that answers, in both languages."""

from __future__ import annotations

import pytest

from course.cards.knowledge_view import card_html
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.markup import plain
from course.flags import TABLE
from course.questions import glossary, knowledge, messages
from grader.book import find
from tests.conftest import ROOT


def sections(code: str) -> list[list[str]]:
    """[page, title, id, heading, words] of the glossary, the cards, the switches and the messages."""
    with speaking(code):
        rows = [["glossary", one.id, plain(pick(one.term)), pick(one.means)] for one in glossary.read().values()]
        for card in knowledge.read().values():
            html = f'<article role="main">{card_html(card).replace("<details", f"<details id={card.id}", 1)}</article>'
            rows.append(["knowledge", *find.sections(html)[0]])
        rows += [["switches", one.name, one.path, pick(one.text)] for one in TABLE.values()]
        for one in messages.read().values():
            rows.append(["messages", one.id, one.says[0], " ".join([*one.says[1:], *(text for _, text in one.rows())])])
    return [[page, page, *rest] for page, *rest in rows]


@pytest.fixture(scope="module", params=LANGUAGES)
def ranked(chromium, request):
    """query -> {words, others, found, near}, by the book's own script."""
    page = chromium.new_page()
    page.set_content("<p></p>")
    page.add_script_tag(content=find.script(sections(request.param)))
    page.add_script_tag(content=(ROOT / "book/static/rank.js").read_text("utf-8"))
    yield lambda query: page.evaluate("query => ranked(query)", query)
    page.close()


TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    y = model(x)
RuntimeError: cuDNN error: {}
"""


@pytest.mark.parametrize(
    "query, identity",
    [
        ("torch.backends.cudnn.benchmark = True", "cudnn.benchmark"),
        ("should I set benchmark=True", "cudnn.benchmark"),
        ("benchmark my GPU", "cudnn.benchmark"),
        ("4090", "cufft"),
        ("OMP_NUM_THREADS no effect", "env.OMP_NUM_THREADS"),
        ("cufft_plan_cache memory", "cuda.cufft_plan_cache.max_size"),
        (TRACEBACK.format("CUDNN_STATUS_EXECUTION_FAILED"), "cudnn-execution-failed"),
        (TRACEBACK.format("GET was unable to find an engine to execute this computation"), "cudnn-no-engine"),
        ("MPS backend out of memory (MPS allocated: 3.40 GB, other allocations: 1.2 GB)", "mps-memory"),
        ("RNN backward training mode LSTM eval", "cudnn-rnn-eval"),
    ],
)
def test_what_is_typed_or_pasted_leads_to_its_section(ranked, query, identity):
    found = [row[2] for row in ranked(query)["found"]]
    assert identity in found[:5], found[:8]


def test_every_message_pasted_with_a_traceback_comes_first(ranked):
    """Or the second, where another message lies in it."""
    late = {}
    for one in messages.read().values():
        found = [row[2] for row in ranked(TRACEBACK.format(one.says[0].replace(messages.VARIES, "abc")))["found"]]
        if one.id not in found[:2] and messages.VARIES not in one.says[0]:
            late[one.id] = found[:3]
    assert late == {}
