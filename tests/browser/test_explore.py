"""Protects who moves a picture's controls: its arithmetic is torch's, and every control works by keyboard, light and dark, narrow."""

from __future__ import annotations

import functools
import json
import math
import struct

import pytest
import torch

from course.core.i18n import LANGUAGES, speaking
from course.experiment.explorables import page as explore
from course.experiment.explorables import starts
from course.models.rounding import FORMATS, rounded
from tests.browser.conftest import Notebook, assert_open_to_all


@pytest.fixture
def script(chromium):
    """Evaluate an expression beside the functions of an explorable's script: ``script("floats", "numbers.map(half)", [...])``."""
    page = chromium.new_page()
    yield lambda name, expression, numbers: json.loads(
        page.evaluate(
            f"numbers => {{ {explore.script(name)}\n return JSON.stringify({expression}, (key, value) => "
            "typeof value === 'number' && !Number.isFinite(value) ? String(value) : value); }",
            numbers,
        ),
        parse_constant=float,
    )
    page.close()


def some_floats() -> list[float]:
    """Numbers of every size, halfway cases of every format among them, the largest and the smallest."""
    draw = torch.Generator().manual_seed(0)
    bits = torch.randint(-(2**31), 2**31, (4000,), generator=draw).to(torch.int32)
    ordinary = torch.randn(2000, generator=draw) * 10 ** (torch.rand(2000, generator=draw) * 12 - 8)
    ties = [(1 + (2 * n + 1) * 2.0**-b) * 2.0**e for n in range(4) for b in (8, 11, 12) for e in (-26, -15, -14, 0, 15)]
    edges = [0.0, 65504.0, 65519.99, 65520.0, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 3.4028234e38, 1e-45]
    found = [*bits.view(torch.float32).tolist(), *ordinary.tolist(), *ties, *edges]
    return [one for one in found if math.isfinite(one)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_number_is_rounded_as_torch_rounds_it(script, name):
    numbers, shape = some_floats(), FORMATS[name]
    found = script("floats", f"numbers.map(x => stored(x, [{shape.exponent}, {shape.mantissa}]))", numbers)
    wanted = rounded(torch.tensor(numbers), name).tolist()
    for number, one, other in zip(numbers, found, wanted, strict=True):
        assert (
            struct.pack("f", float(str(one).replace("Infinity", "inf"))) == struct.pack("f", other + 0.0)
            or one == other
        ), number


@pytest.mark.parametrize("power", [0, 4, 8])
def test_a_sum_in_another_order_is_torchs_in_both_formats(script, power):
    draw = torch.Generator().manual_seed(power)
    orders = [torch.randperm(8, generator=draw).tolist() for _ in range(50)]
    lists = [[starts.order_numbers(power)[at] for at in places] for places in orders]
    for name, kind in (("float32", torch.float32), ("float64", torch.float64)):
        found = script("order", f"numbers.map(list => sums(list, ADD.{name}).at(-1))", lists)
        wanted = [
            functools.reduce(torch.add, torch.tensor(one, dtype=kind), torch.zeros((), dtype=kind)).item()
            for one in lists
        ]
        assert found == wanted and (len(set(found)) == 1) == (name == "float64")


def test_a_bill_is_reckoned_batch_by_batch(script):
    search_ms, call_ms, _ = starts.prices()
    numbers = {"search": search_ms, "call": call_ms}
    assert search_ms > 10 * call_ms > 0
    for batches in ([64], [64, 64, 96, 64], list(range(30)), [64] * 500):
        for gain in (-0.05, 0.0, 0.5):
            found = script("shelf", f"reckon({batches}, numbers, {gain})", numbers)
            held, bill = set(), 0.0
            for size in batches:
                bill += call_ms * (1 - gain) + search_ms * (size not in held)
                held.add(size)
            assert found["misses"] == len(held) and found["hits"] == len(batches) - len(held)
            assert found["on"] == pytest.approx(bill) and found["off"] == pytest.approx(len(batches) * call_ms)
            if gain > 0:
                behind = bill - len(batches) * call_ms
                assert (
                    max(0, behind) <= found["missing"] * gain * call_ms + 1e-9 < max(0, behind) + gain * call_ms + 1e-6
                )
            else:
                assert float(found["missing"]) == math.inf


def test_the_stopwatch_reads_what_python_reads(script):
    cases = [
        (one, other, old, kernel) for one in range(5) for other in range(5) for old in (0, 30) for kernel in (5, 20)
    ]
    found = script(
        "stopwatch", f"numbers.map(([a, b, old, kernel]) => run([a, b], old, kernel, {starts.LAUNCH_MS}))", cases
    )
    for (one, other, old, kernel), seen in zip(cases, found, strict=True):
        assert seen["reading"] == pytest.approx(starts.reading_ms((one, other), old, kernel))
        true = seen["stop"] >= seen["done"] and seen["start"] >= old
        assert not true or seen["reading"] == pytest.approx(kernel + starts.LAUNCH_MS)


@pytest.fixture
def open_one(chromium):
    """Show an explorable on an empty page, as a notebook and the book show it; no error may occur."""
    contexts, faults = [], []

    def opened(name, code, dark, width):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        with speaking(code):
            shown = explore.explorable(name)._repr_html_()
        page.set_content(
            f"<!doctype html><html lang='{code}'><title>x</title><body class='tb-page' style='margin:0;background:var(--p-page)'>"
            f"<main><h1>x</h1><h2>x</h2>{shown}</main>"
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", explore.NAMES)
def test_every_control_works_by_keyboard_and_says_what_came(open_one, name, code):
    page = open_one(name, code, code == "zh", 320 if code == "en" else 1000)
    said, stage = page.locator(".tbx-said"), page.locator(".tbx-stage")
    assert page.locator(".tbx-still").count() == 0 and said.get_attribute("role") == "status" and said.inner_text()
    controls = page.locator(".tbx-controls :is(input[type=range], input[type=radio]:checked, button)")
    assert controls.count() >= 2
    for place in range(controls.count()):
        before = stage.inner_html() + said.inner_text()
        controls.nth(place).focus()
        kind = controls.nth(place).evaluate("one => one.value === one.max ? 'full' : one.type")
        page.keyboard.press({"range": "ArrowRight", "full": "ArrowLeft", "radio": "ArrowDown"}.get(kind, "Enter"))
        assert stage.inner_html() + said.inner_text() != before, f"control {place} changes nothing"
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    for svg in page.locator(".tbx-stage svg").all():
        assert svg.get_attribute("role") == "img" and svg.get_attribute("aria-label")
    assert_open_to_all(page, f"{name} {code}")


def test_it_wakes_in_a_notebook_and_again_where_two_stand(page, lab):
    cells = (
        "from course import *\nlanguage('en')",
        *[f"explore('{name}')" for name in (explore.NAMES[0], explore.NAMES[-1], explore.NAMES[0])],
    )
    notebook = Notebook(page, lab, lab.write("explore.ipynb", *cells)).open()
    notebook.run_all()
    live = page.locator(".tbx[data-awake]")
    live.nth(2).wait_for()
    before = live.first.locator(".tbx-said").inner_text(), live.nth(2).locator(".tbx-said").inner_text()
    live.first.locator("input[type=range]").first.press("ArrowRight")
    assert live.first.locator(".tbx-said").inner_text() != before[0]
    assert live.nth(2).locator(".tbx-said").inner_text() == before[1], "each has its own state"
