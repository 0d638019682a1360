"""Submissions out of a platform's file: whose each is, which notebook counts, where the answers are; and the feedback back."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path, PurePosixPath

import nbformat
import pytest
from nbformat.v4 import new_output

from course.learning.harvesting import MIME
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet
from grader.archive import Entry, opened
from grader.autograding import How, autograde
from grader.commands import main
from grader.course import Course
from grader.importing.names import Sender, candidates, people, platform, sent
from grader.importing.parcels import parcels, several
from grader.importing.times import moment_of
from grader.importing.who import joined, told
from grader.pipeline import feedback, outcomes, summary
from grader.project import ProjectError
from grader.reporting.collect import gather
from tests.graded_class import make_class
from tests.grading_class import copy_of
from tests.grading_corpus.base import ANSWERS, RIGHT, dumped, sheet
from tests.grading_fixtures import LESSON, NOTEBOOK

MOODLE = [
    ("Ada Lovelace_4711_assignsubmission_file_/L.ipynb", "4711", "L.ipynb"),
    ("李 雷_12_assignsubmission_file/x/y.ipynb", "12", "x/y.ipynb"),
    ("Ada Lovelace_4711_assignsubmission_file_my_notes_2.ipynb", "4711", "my_notes_2.ipynb"),
    ("class/Jo_Ann Li_7_assignsubmission_file_/a.ipynb", "7", "a.ipynb"),
    ("Ada_1_assignsubmission_onlinetext_/o.html", None, ""),
    ("readme.txt", None, ""),
]
CANVAS = [
    ("lovelaceada_101_5001_L.ipynb", "101", "L.ipynb"),
    ("lovelaceada_LATE_101_5001_my_L_2.ipynb", "101", "my_L_2.ipynb"),
    ("de_la_cruzana_7_8_9.ipynb", "7", "9.ipynb"),
    ("notes.ipynb", None, ""),
]


OTHERS = {  # a path as the platform writes it: (name, number, login), the file's own path, version, time
    "sakai": (
        "HW (1)/Lovelace, Ada(ada)/Submission attachment(s)/L.ipynb",
        ("Lovelace, Ada", "", "ada"),
        "L.ipynb",
        0,
        "",
    ),
    "ilias": (
        "Ex 5/Lovelace_Ada_ada_4711/20261123225900_L.ipynb",
        ("Lovelace Ada", "", "ada"),
        "L.ipynb",
        0,
        "20261123225900",
    ),
    "gradescope": ("assignment_1_export/submission_4711/x/L.ipynb", ("", "4711", ""), "x/L.ipynb", 0, ""),
    "blackboard": (
        "HW 5_ada_attempt_2026-11-23-22-59-00_L.ipynb",
        ("", "", "ada"),
        "L.ipynb",
        0,
        "2026-11-23-22-59-00",
    ),
    "brightspace": (
        "12-34 - Ada Lovelace - Nov 23, 2026 1059 PM/L.ipynb",
        ("Ada Lovelace", "", ""),
        "L.ipynb",
        0,
        "Nov 23, 2026 1059 PM",
    ),
    "teams": ("Submitted files/Ada Lovelace/HW 5/Version 2/L.ipynb", ("Ada Lovelace", "", ""), "L.ipynb", 2, ""),
}


@pytest.mark.parametrize("lms", OTHERS)
def test_names_of_the_other_platforms_say_who_what_and_when(lms):
    path, who, own, version, when = OTHERS[lms]
    found = sent(PurePosixPath(path), lms, LESSON)
    one = found.sender
    assert ((one.name, one.number, one.login), found.path, found.version, found.when) == (who, own, version, when)
    assert platform([PurePosixPath(path)]) == lms
    everybody = people([{"Username": "ada", "First name": "Ada", "Last name": "Lovelace"}])
    assert lms == "gradescope" or [person.student for person in candidates(one, everybody, lms)] == ["ada"]
    if when:
        assert str(moment_of(when, "UTC")) == "2026-11-23 22:59:00"


def test_the_platform_is_told_by_the_names():
    assert platform([PurePosixPath(MOODLE[0][0])]) == "moodle" and platform([PurePosixPath(CANVAS[0][0])]) == "canvas"
    assert platform([PurePosixPath("ada/a.ipynb")]) == "plain" == platform([])


def test_nobody_becomes_somebody_else_by_naming_a_folder_so():
    """Folders inside a hand-in are the student's own; only the platform's own level of the path says whose it is."""
    for lms, path in (
        ("moodle", "Ada_1_assignsubmission_file_/Bob_2_assignsubmission_file_/L.ipynb"),
        ("ilias", "Lovelace_Ada_ada_1/Ross_Bob_bob_2/L.ipynb"),
        ("brightspace", "1-2 - Ada - Nov 23, 2026 1059 PM/3-4 - Bob - Nov 23, 2026 1059 PM/L.ipynb"),
        ("gradescope", "submission_1/submission_2/L.ipynb"),
        ("sakai", "HW/Lovelace, Ada(ada)/Submission attachment(s)/HW/Ross, Bob(bob)/L.ipynb"),
        ("teams", "Ada/HW/Version 1/Bob/HW/Version 2/L.ipynb"),
    ):
        one = sent(PurePosixPath(path), lms, LESSON).sender
        assert "bob" not in f"{one.name} {one.login}".lower() and one.number != "2", path


@pytest.mark.parametrize(
    "said",
    [
        "Monday, 23 November 2026, 11:59 PM",
        "Montag, 23. November 2026, 23:59",
        "2026年11月23日 星期一 23:59",
        "2026年11月23日 星期一 下午 11:59",
        "23. November 2026, 23.59 Uhr",
        "23. Nov. 2026, 23.59",
        "23.11.2026 23:59",
        "Nov 23, 2026 1159 PM",
        "2026-11-23-23-59-00",
        "20261123235900",
        "20261123235900123",
    ],
)
def test_times_of_the_platforms(said):
    assert str(moment_of(said, "Europe/Berlin")) == "2026-11-23 22:59:00"


def test_a_day_that_is_another_one_in_another_country_is_not_guessed():
    assert str(moment_of("01.12.2026 23:59", "UTC")) == "2026-12-01 23:59:00"
    assert str(moment_of("11/23/2026 23:59", "UTC")) == "2026-11-23 23:59:00"
    assert moment_of("01/12/2026 23:59", "UTC") is None


def test_gradescope_says_whose_in_a_list_and_the_newest_attempt_comes_first():
    listed = (
        b"submission_7:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: ada\n    :email: ada@x.org\n"
        b"  :created_at: 2026-11-23 22:59:00.000000000 Z\n"
    )
    files = {"e/submission_metadata.yml": listed, "e/submission_7/L.ipynb": b"{}"}
    entries = [Entry(PurePosixPath(name), 0, lambda most, data=data: data) for name, data in files.items()]
    found, strange = parcels(entries, "gradescope", LESSON)
    ((one, parcel),) = found.items()
    assert (one.name, one.login, strange) == ("Ada Lovelace", "ada@x.org", [])
    ((own, when),) = parcel.newest
    assert own[0][0] == "L.ipynb" and str(moment_of(when, None)) == "2026-11-23 22:59:00"
    names = [f"HW_ada_attempt_2026-{month}-01-22-59-00_L.ipynb" for month in ("11", "09", "10")]
    found, _ = parcels([Entry(PurePosixPath(name), 0, lambda most: b"") for name in names], "blackboard", LESSON)
    assert [when[5:7] for _, when in next(iter(found.values())).newest] == ["11", "10", "09"]


def test_one_folder_around_everything_is_nobody_and_a_folder_of_several_people_is_not_one_persons():
    known = people([{"student_id": name} for name in ("ada", "bob")])
    names = ["class/ada/L.ipynb", "class/bob/L.ipynb", "class/bob/helpers.py"]
    entries = [Entry(PurePosixPath(name), 0, lambda most: b"") for name in names]
    found, _ = parcels(entries, "plain", LESSON, known)
    assert [one.name for one in found] == ["ada", "bob"]
    (alone,) = parcels(entries, "plain", LESSON)[0].values()
    assert several(alone, LESSON, known) == ["ada", "bob"]
    flat = [Entry(PurePosixPath(f"class/{name}.ipynb"), 0, lambda most: b"") for name in ("ada", "bob")]
    (alone,) = parcels(flat, "plain", LESSON)[0].values()
    assert several(alone, LESSON, known) == ["ada", "bob"]
    (ada,) = parcels([Entry(PurePosixPath("ada/src/L.ipynb"), 0, lambda most: b"")], "plain", LESSON, known)[0].items()
    assert ada[0].name == "ada" and several(ada[1], LESSON, known) == []


def test_names_that_windows_packed(tmp_path):
    """Without a flag for UTF-8 a ZIP's names are in the code page of its country: umlauts, or Chinese."""
    for code, name in (("cp437", "Jörg Müßig/L.ipynb"), ("gbk", "李雷/测验.ipynb"), ("utf-8", "Zoë/L.ipynb")):
        plain = "".join(f"{'A' * len(sign.encode(code))}" if not sign.isascii() else sign for sign in name)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr(plain, "{}")
        path = tmp_path / f"{code}.zip"
        path.write_bytes(made.getvalue().replace(plain.encode(), name.encode(code)))
        with opened(path) as entries:
            assert [str(one.inside) for one in entries] == [name]


@pytest.mark.parametrize(("lms", "cases"), [("moodle", MOODLE), ("canvas", CANVAS)])
def test_names_of_the_platforms(lms, cases):
    for path, number, rest in cases:
        found = sent(PurePosixPath(path), lms, LESSON)
        assert (found and (found.sender.number, found.path)) == (number and (number, rest)), path
    assert sent(PurePosixPath(CANVAS[1][0]), "canvas", LESSON).sender.late


@pytest.mark.parametrize(
    ("path", "name", "rest"),
    [
        ("ada/sub/x.ipynb", "ada", "sub/x.ipynb"),
        (f"ada_{LESSON}.ipynb", "ada", f"ada_{LESSON}.ipynb"),
        (f"{LESSON} - Ada Lovelace.ipynb", "Ada Lovelace", f"{LESSON} - Ada Lovelace.ipynb"),
        (f"ada-{LESSON}.answers.json", "ada", f"{LESSON}.answers.json"),
        (f"{LESSON}.ipynb", None, ""),
    ],
)
def test_plain_files_are_named_by_what_is_left_beside_the_checkpoint(path, name, rest):
    found = sent(PurePosixPath(path), "plain", LESSON)
    assert (found and (found.sender.name, found.path)) == (name and (name, rest))


def test_nobody_is_guessed():
    everybody = people(
        [
            {"Student": "Lovelace, Ada", "ID": "101", "SIS Login ID": "ada"},
            {"First name": "Ada", "Last name": "Lovelace", "Username": "ada2", "Identifier": "Participant 4711"},
            {"First name": "雷", "Last name": "李", "Email address": "lilei@x.org"},
        ]
    )

    def found(path, lms):
        return [person.student for person in candidates(sent(PurePosixPath(path), lms, LESSON).sender, everybody, lms)]

    assert found(CANVAS[0][0], "canvas") == ["ada"] and found(MOODLE[0][0], "moodle") == ["ada2"]
    assert found(MOODLE[1][0], "moodle") == ["lilei@x.org"] and found("LILEI@x.org/a.ipynb", "plain") == ["lilei@x.org"]
    assert found("Ada Lovelace/a.ipynb", "plain") == ["ada", "ada2"] and found("Ada L/a.ipynb", "plain") == []


def test_a_file_of_the_platform_can_only_lie_inside(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil/a.ipynb", "{}")
        archive.writestr("__MACOSX/._a", "x")
        archive.writestr("/b", "y")
    with opened(path) as entries:
        assert [str(one.inside) for one in entries] == ["b", "evil/a.ipynb"]
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ProjectError, match="ZIP"), opened(path):
        pass


def test_what_as_says_is_checked_on_both_sides():
    kims = [Sender("Kim Lee", "4715"), Sender("Kim Lee", "4716"), Sender("Ada Lovelace", "4711")]
    known = joined([], people([{"student_id": "kim"}, {"student_id": "ada"}]), {})
    found = told({"Kim Lee (4715)": "KIM", "4711": "ada", "Nemo": "ada"}, {}, kims, known)
    assert found.students == {kims[0]: "kim", kims[2]: "ada"} and found.unmatched == ["Nemo"]
    assert found.to_save == {"Kim Lee (4715)": "kim", "Ada Lovelace": "ada"}, "the number where two have the name"
    assert told({}, found.to_save, kims, known).students == found.students, "it holds for the next import"
    for said, words in (
        ({"Kim Lee": "kim"}, "2 hand-ins are called so; say which: Kim Lee .4715., Kim Lee .4716."),
        ({"Ada Lovelace": "adda"}, "no student 'adda'; did you mean ada"),
    ):
        with pytest.raises(ProjectError, match=words):
            told(said, {}, kims, known)


def test_a_roster_is_put_to_the_gradebook_by_id_mail_and_name():
    there = people(
        [
            {"student_id": "ada", "First name": "Ada", "Last name": "Lovelace", "Email address": "ada@x.org"},
            {"student_id": "kim", "First name": "Kim", "Last name": "Lee"},
        ]
    )
    rows = [
        {"Identifier": "Participant 7", "Full name": "A. Lovelace", "Email address": "ADA@x.org"},
        {"Identifier": "Participant 8", "Full name": "Kim Lee", "Email address": "kl@x.org"},
        {"Identifier": "Participant 9", "Full name": "No Id"},
        {"Identifier": "Participant 10", "Full name": "No Body", "Email address": "nb@x.org"},
    ]
    found = joined(people(rows), there, {"No Body (10)": "nobo"})
    assert [one.student for one in found.listed] == ["ada", "kim", "nobo"] and found.without_id == ["No Id"]


def notebook(lesson=LESSON, said=True, cells=()) -> bytes:
    made = nbformat.v4.new_notebook(metadata={"course": {"lesson": lesson, "kind": "checkpoint"}} if said else {})
    made.cells = [nbformat.v4.new_code_cell("x", id=one) for one in cells]
    return json.dumps(made).encode()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("import"))[1]


def cleared(path: Path, change=lambda cell: None) -> bytes:
    made = nbformat.read(path, as_version=4)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            change(cell)
    return nbformat.writes(made).encode()


@pytest.mark.slow
def test_a_roster_goes_into_the_gradebook_and_who_hands_in_nothing_is_named(whole, tmp_path, capsys):
    root = copy_of(whole.root, tmp_path / "class")

    def students() -> dict:
        with Course(root).gradebook as gradebook:
            return {one.id: (one.first_name, one.last_name, one.email) for one in gradebook.students}

    def bring(roster: str) -> str:
        (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
        words = ["import", str(tmp_path / "in"), "--lms", "plain", "--roster", str(tmp_path / "roster.csv")]
        assert main([*words, "--dir", str(root)]) == 0
        return capsys.readouterr().out

    with Course(root).gradebook as gradebook:
        gradebook.update_or_create_student("bob", last_name="Byron")
    before = students()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"kay-{LESSON}.ipynb").write_bytes(notebook())
    listed = ["student_id,First name,Last name,Email address", "bob,Bob,Ross,bob@x.org", "kay,Kay,Mc,kay@x.org"]
    said = bring("\n".join([*listed, "lou,Lou,Few,lou@x.org", "=lou,x,y,z@x.org"]))
    new = {"bob": ("Bob", "Byron", "bob@x.org"), "kay": ("Kay", "Mc", "kay@x.org"), "lou": ("Lou", "Few", "lou@x.org")}
    assert students() == {**before, **new}, "nobody goes, and a name that is there stays"
    assert "handed in nothing: 1 (lou)" in said and "new in the gradebook, from the roster: 2 (kay, lou)" in said
    assert "bob has last_name 'Byron', in the roster 'Ross'" in said and "'=lou' of the roster cannot be" in said
    said = bring(
        "Identifier,Full name,Email address\nParticipant 7,Kay Mc,Kay@x.org\nParticipant 8,Lou Few,lou@x.org\n"
    )
    assert students() == {**before, **new}, "another roster, the same people"
    assert (
        "lou@x.org of the roster is lou there" in said and "1 as before" in said and "new in the gradebook" not in said
    )
    found = {one.student: one for one in outcomes(Course(root), LESSON)}
    assert found["lou"].reason == "absent" and "handed in nothing: lou" in summary([*found.values()])
    assert main(["report", LESSON, "--names", "--dir", str(root), "--to", str(tmp_path / "report.html")]) == 0
    assert "handed in nothing: 1 ·" in (tmp_path / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["give-back", LESSON, "--dir", str(root)]) == 0
    assert "handed in nothing: lou\n" in capsys.readouterr().out


@pytest.mark.slow
def test_a_class_from_moodle_is_marked_and_gets_its_feedback_back(whole, tmp_path, capsys):
    root = whole.root
    ada = root / "submitted" / "ada" / LESSON
    sound = (ada / f"{NOTEBOOK}.ipynb").read_bytes()

    def listed(cell):
        if cell.get("id") == "bootstrap":
            made = AnswerSheet(LESSON, ["90-c-single"], tmp_path)
            made.record("90-c-single", Response(("b",)))
            cell.outputs = [new_output("display_data", data={k: v for k, v in made.bundle().items() if k != MIME})]

    old = nbformat.read(ada / f"{NOTEBOOK}.ipynb", as_version=4)
    for cell in old.cells:
        cell.pop("id", None)
    old.nbformat_minor = 0

    def by(name: str, data: bytes = sound) -> bytes:
        """The same work, written by somebody else."""
        return data.replace(b"def contrast", f"# {name}\\ndef contrast".encode())

    own = {
        "Eve One_1_assignsubmission_file_/my copy.ipynb": by("eve"),
        "Eve One_1_assignsubmission_file_/scratch.ipynb": notebook(said=False),
        "Eve One_1_assignsubmission_file_/my copy (1).ipynb": by("eve", cleared(ada / f"{NOTEBOOK}.ipynb")),
        "Fay Two_2_assignsubmission_file_/L.ipynb": cleared(ada / f"{NOTEBOOK}.ipynb"),
        "Gil Six_3_assignsubmission_file_/L.ipynb": cleared(ada / f"{NOTEBOOK}.ipynb"),
        f"Gil Six_3_assignsubmission_file_/{ANSWERS}": dumped(sheet(*RIGHT)),
        "Hal Ten_4_assignsubmission_file_/L.ipynb": cleared(ada / f"{NOTEBOOK}.ipynb", listed),
        "Ida Old_5_assignsubmission_file_/L.ipynb": by("ida", json.dumps(old).encode()),
        "No Body_6_assignsubmission_file_/L.ipynb": by("nobo"),
    }
    file, roster = tmp_path / "all.zip", tmp_path / "roster.csv"
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in own.items():
            archive.writestr(name, data)
    roster.write_text(
        "Identifier,Full name,Email address\n"
        + "".join(
            f"Participant {n},{name},{name[:3].lower()}@x.org\n"
            for n, name in enumerate(("Eve One", "Fay Two", "Gil Six", "Hal Ten", "Ida Old"), 1)
        ),
        encoding="utf-8",
    )
    words = ["import", str(file), "--lms", "moodle", "--roster", str(roster), "--dir", str(root)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "5 new" in said and "No Body (6)" in said
    assert "handed in nothing" not in said
    assert main([*words, "--as", "No Body=nobbo"]) == 1
    assert "no student 'nobbo'" in capsys.readouterr().out and not (root / "submitted" / "nobbo").exists()
    with Course(root).gradebook as gradebook:
        gradebook.update_or_create_student("nobo")
    assert main([*words, "--as", "No Body=nobo", "--as", "Nemo=nobo"]) == 1
    said = capsys.readouterr().out
    assert "1 new, 0 replaced" in said and '--as "Nemo=...": no hand-in' in said
    found = autograde(Course(root), LESSON, how=How(jobs=1), say=lambda line: None)
    by = {one.student: one for one in found}
    assert {name: by[f"{name}@x.org"].points for name in ("eve", "fay", "gil", "hal", "ida")} == {
        "eve": 13,
        "fay": 6,
        "gil": 13,
        "hal": 8,
        "ida": 13,
    } and by["nobo"].points == 13
    assert {name: by[f"{name}@x.org"].verdict for name in ("eve", "fay", "gil", "hal", "ida")} == {
        "eve": "ok",
        "fay": "answers",
        "gil": "ok",
        "hal": "ok",
        "ida": "ok",
    }
    problems = {name: " ".join(by[f"{name}@x.org"].problems) for name in ("eve", "fay", "hal")}
    assert (
        "my copy.ipynb; it was read" in problems["eve"] and "another copy of it, my copy (1).ipynb" in problems["eve"]
    )
    assert "4 questions" in problems["fay"] and "Unconfirmed: 1 answer was" in problems["hal"]
    assert "fay@x.org" in summary(found)
    (fay,) = [one for one in gather(Course(root), LESSON)["students"] if one["name"] == "fay@x.org"]
    assert not [cell for cell in fay["asked"] if "-c-" in cell], "nobody knows what she answered"
    graded = nbformat.read(
        root / "autograded" / "ida@x.org" / LESSON / f"{NOTEBOOK}.ipynb", as_version=nbformat.NO_CONVERT
    )
    nbformat.validate(graded)
    assert feedback(Course(root), LESSON, lambda line: None) == []
    assert main(["give-back", LESSON, "--dir", str(root)]) == 0
    with zipfile.ZipFile(root / f"feedback-{LESSON}-moodle.zip") as archive:
        names = archive.namelist()
        assert f"Eve One_1_assignsubmission_file_/{NOTEBOOK}.html" in names and len(names) == 6
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("Fay Two_2_assignsubmission_file_/more.ipynb", sound)
    assert main(words) == 0 and "1 replaced" in capsys.readouterr().out, "what --as said holds from then on"
    assert (root / "earlier" / "fay@x.org" / LESSON / "1" / "L.ipynb").read_bytes() == own[
        "Fay Two_2_assignsubmission_file_/L.ipynb"
    ]
    autograde(Course(root), LESSON, how=How(jobs=1), say=lambda line: None)
    assert main(["give-back", LESSON, "--dir", str(root)]) == 0
    assert "left out: fay@x.org; autograde and feedback come first" in capsys.readouterr().out
    with zipfile.ZipFile(root / f"feedback-{LESSON}-moodle.zip") as archive:
        assert len(archive.namelist()) == 5, "a page of before the last marking is not handed out"
    shutil.rmtree(root / "earlier")
