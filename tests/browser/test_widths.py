"""Every lesson on a narrow page, in both themes: 800 pixels wide, and 640, which is also a window of 1280 at 200 %."""

from __future__ import annotations

import pytest

from course.core.catalog import LESSONS
from course.figures.picture import READABLE
from course.learning.log import AnswerLog
from course.learning.marking import Response
from course.learning.session import place_bet
from course.questions.bank import Bank
from tests.browser.conftest import SHOTS

pytestmark = pytest.mark.long
FAULTS = """smallest => {
  const faults = [], notebook = document.querySelector('.jp-Notebook'), cells = [...notebook.querySelectorAll('.jp-Cell')];
  const fault = (what, one, ...more) => faults.push(`cell ${cells.indexOf(one.closest('.jp-Cell'))}: ${what}: ${more.join(' ')}`);
  for (const place of notebook.querySelectorAll('.jp-RenderedMarkdown, .jp-OutputArea-output')) {
    const words = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node; node = words.nextNode();) {
      const holder = node.parentElement;
      if (!node.textContent.trim() || !holder.checkVisibility()) continue;
      if (holder.closest('style, script, svg, mjx-container, button.tbq-opt')) continue;
      range.selectNodeContents(node);
      if (range.getBoundingClientRect().height < 2) continue;  // for screen readers alone
      const size = parseFloat(getComputedStyle(holder).fontSize);
      if (size < smallest) fault('small text', holder, size, node.textContent.trim());
      if (!holder.closest('code, .jp-RenderedText')) continue;
      for (const word of node.textContent.matchAll(/\\w+/g)) {
        range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
        const parts = [...range.getClientRects()].filter(one => one.width > 1);
        const fits = parts.reduce((sum, one) => sum + one.width, 0) < place.clientWidth;
        if (fits && new Set(parts.map(one => Math.round(one.top))).size > 1) fault('broken inside a word', holder, word[0]);
      }
    }
    for (const image of place.querySelectorAll('img')) {
      if (!image.offsetWidth) continue;
      const scale = image.offsetWidth / image.naturalWidth, data = image.src.split('svg+xml;base64,')[1];
      if (!data) {
        if (image.offsetWidth < parseFloat(image.style.minWidth) - 1) fault('small picture', image, image.offsetWidth);
        continue;
      }
      const drawn = new TextDecoder().decode(Uint8Array.from(atob(data), one => one.charCodeAt(0)));
      for (const [, size, text] of drawn.matchAll(/font-size="([\\d.]+)"[^>]*>([^<]*)/g))
        if (size * scale < smallest && !/^\\d+$/.test(text)) fault('small text in a picture', image, size * scale, text);
    }
    if (place.scrollWidth > place.clientWidth + 1) fault('wider than the page', place, place.scrollWidth - place.clientWidth);
  }
  const first = notebook.querySelector('.jp-CodeCell .cm-scroller');
  if (first.scrollWidth > first.clientWidth + 1) fault('a bar in the first cell', first, first.scrollWidth - first.clientWidth);
  return faults;
}"""
"""A picture as PNG says by its min-width how narrow it may become; the digits in the squares of a grid repeat words beside them."""


def with_every_bet(notebook, language: str, lesson: str):
    """The lesson, opened, with every bet placed, so that no cell waits for one, and with recordings in place of runs."""
    book = notebook(language, "lessons", lesson)
    log = AnswerLog(book.lab.folder / "home" / "answers.jsonl")
    for item in Bank().items(lesson):
        if item.kind == "predict":
            number = item.slider and item.slider.stops[2]
            place_bet(item, Response(number=number) if item.slider else Response((item.options[1].id,)), log)
    book.replay()
    return book


@pytest.mark.parametrize(
    ("lesson", "language"), [(one.id, ("en", "zh")[number % 2]) for number, one in enumerate(LESSONS)]
)
def test_a_lesson_can_be_read_on_a_narrow_page(notebook, lesson, language):
    book = with_every_bet(notebook, language, lesson)
    page = book.page
    book.run_all(600)
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    for dark in (False, True):
        book.theme(dark)
        for width in (800, 640):
            page.set_viewport_size({"width": width, "height": 1000})
            page.wait_for_timeout(500)
            assert page.evaluate(FAULTS, READABLE) == [], (width, dark)
            for number, one in enumerate(page.locator(".tbr, .tb-shown").all() if SHOTS else ()):
                if one.is_visible():
                    book.shot(f"{lesson}-{number:02}-{width}-{'dark' if dark else 'light'}", one)
