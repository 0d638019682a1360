"""The Anki file: what Anki's own importer makes of it, first and second time."""

from __future__ import annotations

import dataclasses
import html
import importlib.util
import re
from collections import Counter

import pytest

from course.cards.__main__ import main
from course.cards.anki import back, export, exportable, front, guid
from course.cards.offline import showable
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.markup import plain
from course.questions.bank import Bank, load_bank
from tests.conftest import missing
from tests.support import quiz_items as q


@pytest.fixture(scope="module")
def items():
    return load_bank().items()


@pytest.fixture
def collection(tmp_path):
    if importlib.util.find_spec("anki") is None:
        missing("the anki package", "python -m pip install anki -c constraints.txt")
    from anki.collection import Collection

    opened = Collection(str(tmp_path / "collection.anki2"))
    yield opened
    opened.close()


def bring_in(collection, text, tmp_path):
    """What a click on File, Import does with Anki's own defaults; returns the import log."""
    from anki.collection import ImportCsvRequest

    path = tmp_path / "deck.txt"
    path.write_text(text, "utf-8")
    metadata = collection.get_csv_metadata(path=str(path), delimiter=None)
    return collection.import_csv(ImportCsvRequest(path=str(path), metadata=metadata)).log


def notes(collection):
    return {note.guid: note for note in map(collection.get_note, collection.find_notes(""))}


def text_of(field):
    """The words of a field, line breaks of code kept."""
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<br>", "\n", field)))


@pytest.mark.parametrize("code", LANGUAGES)
def test_anki_reads_every_note_with_its_fields_deck_and_tags(collection, items, tmp_path, code):
    log = bring_in(collection, export(items, code), tmp_path)
    cards = exportable(items)
    assert len(cards) == sum(item.kind != "predict" for item in items)
    assert len(log.new) == len(cards) == collection.note_count() and not log.updated
    found = notes(collection)
    for item in cards:
        note = found[guid(item, code)]
        with speaking(code):
            assert note.fields == [front(item), back(item)]
        asked, explained = map(text_of, note.fields)
        assert plain(pick(item.stem, code)).split("\n")[0] in asked
        if item.code:
            assert pick(item.code, code).strip("\n").expandtabs(4) in asked
        for one in item.options:
            assert plain(pick(one.text, code)) in asked and plain(pick(one.why, code)) in explained
        if item.number:
            assert plain(pick(item.number.why, code)) in explained
            assert all(plain(pick(trap.why, code)) in explained for trap in item.number.traps)
        assert {f"lesson::{item.lesson}", f"concept::{item.concept}"} < set(note.tags)
        deck = collection.decks.name(note.cards()[0].did)
        assert deck.split("::")[1].startswith(item.lesson.replace("_", " "))
    decks = Counter(collection.decks.name(note.cards()[0].did) for note in found.values())
    assert len(decks) == len({item.lesson for item in cards})


def test_a_newer_file_updates_notes_and_doubles_none(collection, items, tmp_path):
    bring_in(collection, export(items, "en"), tmp_path)
    first = exportable(items)[0]
    card = notes(collection)[guid(first, "en")].cards()[0]
    card.ivl, card.reps = 30, 5
    collection.update_card(card)
    changed = dataclasses.replace(first, stem={"en": "A better question?", "zh": "更好的问题？"})
    log = bring_in(collection, export([changed, *items[1:]], "en"), tmp_path)
    assert len(log.new) == 0 and len(log.updated) == 1
    assert collection.note_count() == len(exportable(items))
    note = notes(collection)[guid(first, "en")]
    assert "A better question?" in note.fields[0]
    assert (note.cards()[0].ivl, note.cards()[0].reps) == (30, 5)
    bring_in(collection, export(items, "zh"), tmp_path)
    assert collection.note_count() == 2 * len(exportable(items))


def test_angle_brackets_quotes_tabs_and_semicolons_survive(collection, tmp_path):
    source = 'if a < b && "x" in c:\n\tprint(\'<b>&amp;</b>; #not a header\')\n\n\n    return "\\t"'
    raw = {**q.SINGLE, "code": source, "stem": q.both('# 1 < 2 & "quoted" `<pre>` **bold**')}
    bank = Bank(q.write_bank(tmp_path / "bank", [raw, *q.PRACTICE[1:]]))
    bring_in(collection, export(bank.items("05_x"), "en"), tmp_path)
    assert collection.note_count() == 4
    field = notes(collection)["torch-backends-en-05-one"].fields[0]
    assert "# 1 &lt; 2 &amp; &quot;quoted&quot; <code>&lt;pre&gt;</code> <strong>bold</strong>" in field
    assert source.expandtabs(4) in text_of(field)


def test_no_checkpoint_question_leaves_the_course(items):
    graded = load_bank().items(checkpoint=True)
    assert graded and exportable(graded) == [] == showable(graded)


def test_the_command_writes_the_file_and_says_what_to_do(tmp_path, capsys):
    target = tmp_path / "deck.txt"
    assert main(["anki", "--language", "zh", "--to", str(target), "--lesson", "00_start"]) == 0
    said, lines = capsys.readouterr().out, target.read_text("utf-8").splitlines()
    notes_written = sum(not line.startswith("#") for line in lines)
    bets = sum(item.kind == "predict" for item in load_bank().items("00_start"))
    assert lines[0] == "#separator:Tab" and f"里有 {notes_written} 条笔记" in said and f"未包含 {bets} 道下注题" in said
    assert main(["anki", "--language", "en", "--to", str(tmp_path / "nowhere" / "deck.txt")]) == 1
    assert "deck.txt: No such file or directory" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["anki", "--lesson", "99_none"])
    assert "99_none" in capsys.readouterr().err


@pytest.mark.parametrize("code", LANGUAGES)
def test_knowledge_cards_are_notes_of_their_lesson(items, collection, tmp_path, code):
    from course.questions.knowledge import read

    cards = read()
    bring_in(collection, export(items[:3], code, cards.values()), tmp_path)
    found = {identity: note for identity, note in notes(collection).items() if "-keep-" in identity}
    assert set(found) == {f"torch-backends-{code}-keep-{one}" for one in cards}
    note = found[f"torch-backends-{code}-keep-cudnn.benchmark"]
    front_side, back_side = note.fields[:2]
    assert "🎴" in front_side and "drop_last=True" in back_side
    assert plain(pick(cards["cudnn.benchmark"].asks, code))[:10] in front_side
