"""Hand-ins out of a platform's archive: whose each is, which one counts, what is said of the others; and the feedback back."""

from __future__ import annotations

import io
import json
import random
import re
import shlex
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from grader.cli import main
from grader.course import Course
from grader.handin.archive import Entry, opened
from grader.handin.importing import Imported, _hand_ins, _unclear, import_submissions, record
from grader.handin.owners import Owners
from grader.handin.roster import Roster, roster
from grader.marking.autograde import How, autograde
from grader.marking.outcomes import outcomes
from grader.project import ProjectError
from grader.reporting.give_out import feedback
from grader.reporting.summary import summary
from tests.support.grading_fixtures import LESSON, NOTEBOOK
from tests.support.hand_ins import zipped

ROSTER = """student_id;First name;Last name;Email address;Identifier;Full name;Section
ada;Ada;Lovelace;ada.l@x.org;Participant 4711;Ada Lovelace;A
kim;Kim;Lee;kim@x.org;Participant 4715;Kim Lee;A
kim2;Kim;Lee;kl@x.org;Participant 4716;Kim Lee;A
bm;Björn;Müller;bmueller@x.org;Participant 4717;Björn Müller;B
lilei;雷;李;lilei@x.org;Participant 12;雷 李;B
ana;Ana;de la Cruz;ana@x.org;Participant 4719;Ana de la Cruz;B
max;Max;Moore;mm@x.org;Participant 5001;Max Moore;C
cyd;Cyd;O'Neil-Ng;;Participant 4721;Cyd O'Neil-Ng;A
ada;;;;;;;adalovelace42
max;;;;;;;5001002
"""
PATHS = [  # a path as some platform writes it, whose it is ("": nobody's, or not clear)
    ("雷 李_12_assignsubmission_file/x/y.ipynb", "lilei"),
    ("李雷/y.ipynb", "lilei"),
    ("delacruzana_7_8_9.ipynb", "ana"),
    ("Ex 5/Lovelace_Ada_ada_4711/20261123225900_L.ipynb", "ada"),
    ("12-34 - Ada Lovelace - Nov 23, 2026 1059 PM/L.ipynb", "ada"),
    (f"{LESSON} - Ada Lovelace.ipynb", "ada"),
    ("05-checkpoint-adalovelace42/L.ipynb", "ada"),
    ("ADA.L@X.ORG/a.ipynb", "ada"),
    ("Cyd+O%27Neil+Ng/L.ipynb", "cyd"),
    ("Cyd_ONeil_Ng/L.ipynb", "cyd"),
    ("Bjoern Mueller/L.ipynb", "bm"),
    ("Bj%C3%B6rn+M%C3%BCller/L.ipynb", "bm"),
    ("s5001002/L.ipynb", "max"),
    (unicodedata.normalize("NFD", "Björn Müller") + "/L.ipynb", "bm"),
    ("Björn Müller".encode().decode("cp437") + "/L.ipynb", "bm"),
    ("Björn Müller".encode().decode("cp1252") + "/L.ipynb", "bm"),
    ("Björn Müller".encode("cp1252").decode("cp437") + "/L.ipynb", "bm"),
    ("Bj_rn M_ller/L.ipynb", "bm"),
    ("Kim Lee_4716_assignsubmission_file_/L.ipynb", ""),
    ("Kim Lee (kim)/L.ipynb", "kim"),
    ("Kim Lee/L.ipynb", ""),
    ("Kim Lee/kl@x.org/L.ipynb", "kim2"),
    ("Participant_4719_assignsubmission_file_/L.ipynb", "ana"),
    ("Adam L/a.ipynb", ""),
    (f"{LESSON}.ipynb", ""),
    ("submission_4567890/L.ipynb", ""),
    ("Ada Lovelace_4711_assignsubmission_file_/max_pool.py", "ada"),
    ("ada/max pool/L.ipynb", "ada"),
    ("Section A/ada/L.ipynb", "ada"),
    # a folder inside a hand-in is the student's own: nobody becomes somebody else by naming it so
    ("ada/max/L.ipynb", "ada"),
    ("Ada Lovelace_1_assignsubmission_file_/Max Moore_2_assignsubmission_file_/L.ipynb", ""),
    ("HW/Lovelace, Ada(ada)/Submission attachment(s)/HW/Moore, Max(max)/L.ipynb", ""),
]


def entry(path: str, data: bytes = b"{}", when: str = "") -> Entry:
    return Entry(PurePosixPath(path), len(data), lambda most: data[:most], when)


def owners_of(entries, known, together=None) -> Owners:
    """Of an archive in which every notebook is of the checkpoint."""
    return Owners([*entries], known, together or {}, lambda one: one.inside.suffix == ".ipynb")


class Known:
    """Stands in for a course folder where only the roster is asked for."""

    def __init__(self, root: Path) -> None:
        self.root, self.gradebook, self.students = root, self, ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def known(tmp_path) -> Roster:
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return roster(Known(tmp_path))


@pytest.mark.parametrize(("path", "student"), PATHS)
def test_whoever_a_path_names_owns_it(known, path, student):
    found, _ = owners_of([entry(path)], known).of(PurePosixPath(path))
    assert found == {student} if student else len(found) != 1, found


def test_a_folder_around_several_people_is_nobodys_and_one_with_nobody_in_it_is_not_one_persons(known):
    paths = ["max/ada/L.ipynb", "max/bm/L.ipynb", "max/bm/helpers.py", "max/kim/L.ipynb"]
    owners = owners_of(map(entry, paths), known)
    assert [min(owners.of(PurePosixPath(path))[0]) for path in paths] == ["ada", "bm", "bm", "kim"]
    flat = ["Ada Lovelace's group/kim.ipynb", "Ada Lovelace's group/kim2.ipynb", "Ada Lovelace's group/bm.ipynb"]
    owners = owners_of(map(entry, flat), known)
    assert [min(owners.of(PurePosixPath(path))[0]) for path in flat] == ["kim", "kim2", "bm"]
    owners = owners_of(map(entry, ["class/x/L.ipynb", "class/y/L.ipynb"]), known)
    assert not owners.of(PurePosixPath("class/x/L.ipynb"))[0]


@pytest.mark.parametrize(
    "paths",
    [
        ["Max pooling/x/L.ipynb", "Max pooling/y/M.ipynb", "ada/L.ipynb"],
        ["Max pooling/submission_1/L.ipynb", "Max pooling/submission_2/L.ipynb", "ada/L.ipynb"],
        ["Max pooling/x.ipynb", "Max pooling/y.ipynb"],
    ],
)
def test_a_folder_with_several_hand_ins_is_not_one_persons_also_where_it_holds_a_name(known, paths):
    owners = owners_of(map(entry, paths), known)
    assert [owners.of(PurePosixPath(path))[0] for path in paths[:2]] == [frozenset()] * 2


@pytest.mark.parametrize(
    ("names", "owner"), [("ab.ipynb work.zip", {"ada"}), ("x.zip y.zip", set()), ("ada/L.ipynb helpers.py", {"ada"})]
)
def test_what_lies_in_a_persons_folder_is_one_hand_in_and_two_zips_are_two(known, names, owner):
    paths = [f"Ada Lovelace_1_assignsubmission_file_/{name}" for name in names.split()]
    owners = Owners([*map(entry, paths)], known, {}, lambda one: True)
    found = [owners.of(PurePosixPath(path)) for path in paths]
    assert [students for students, _ in found] == [owner] * 2
    assert not owner or found[0] == found[1]


@pytest.mark.parametrize(
    ("paths", "named", "lines"),
    [
        (["class/x/L.ipynb", "class/y/L.ipynb", "ada/L.ipynb"], ["class/x", "class/y"], 2),
        (["A/x/L.ipynb", "A/y/L.ipynb", "B/z/L.ipynb"], ["A/x", "A/y", "B"], 3),
        (["class/x.ipynb", "class/y.ipynb", "ada/L.ipynb", "class/notes.txt"], ["class/x.ipynb", "class/y.ipynb"], 2),
        (["No Body_6_x_/L.ipynb", "No Body_6_x_/helpers.py", "readme.txt"], ["No Body_6_x_"], 1),
        (["A/1/L.ipynb", "A/2/L.ipynb", "B/1/L.ipynb"], ["A/1", "A/2", "B"], 2),
        ([f"{NOTEBOOK}.ipynb"], [f"{NOTEBOOK}.ipynb"], 0),
    ],
)
def test_what_is_not_taken_is_named_hand_in_by_hand_in_and_no_line_names_two(known, paths, named, lines):
    imported, entries = Imported(LESSON), [entry(path) for path in paths]
    owners = owners_of(entries, known)
    found = {one.inside: owners.of(one.inside)[0] for one in entries}
    owned = [inside for inside, whose in found.items() if whose]
    _unclear({inside: whose for inside, whose in found.items() if not whose}, owned, owners, imported)
    assert sorted(imported.unclear) == named and len(imported.unclear) - len(imported.alike) == lines


def test_a_list_beside_folders_says_whose_they_are_and_a_group_hands_in_once(known):
    listed = (
        b"---\nsubmission_7:\n  :submitters:\n  - :name: Ada Lovelace\n    :email: ada.l@x.org\n  - :name: Max Moore\n"
        b"  :created_at: 2026-11-23 22:59:00.5001 Z\nsubmission_8:\n  :submitters:\n  - :email: ana@x.org\n"
    )
    mean = b"submission_7: max@x.org\n"  # inside a hand-in it says nothing
    entries = [
        entry("e/meta.yml", listed),
        entry("e/submission_7/L.ipynb"),
        entry("e/submission_8/L.ipynb"),
        entry("e/submission_8/m.yml", mean),
    ]
    seven, eight = PurePosixPath("e/submission_7/L.ipynb"), PurePosixPath("e/submission_8/L.ipynb")
    owners = owners_of(entries, known)
    assert owners.of(seven)[0] == {"ada", "max"} and owners.of(eight)[0] == {"ana"}
    together = dict.fromkeys(("ada", "max"), ("max", "ada"))
    assert owners_of(entries, known, together).of(seven)[0] == {"max"}


@pytest.mark.parametrize(
    ("paths", "last"),
    [
        (["Submitted files/ada/HW/Version 2/L.ipynb", "Submitted files/ada/HW/Version 10/L.ipynb"], 1),
        ([f"HW_ada_attempt_2026-{month}-01-22-59-00_L.ipynb" for month in ("09", "11", "10")], 1),
        (["1-2 - Ada Lovelace - Nov 30/L.ipynb", "1-3 - Ada Lovelace - Dec 1/L.ipynb"], 1),
        (["Working files/ada/L.ipynb", "Submitted files/ada/L.ipynb"], 0),
    ],
)
def test_of_several_hand_ins_of_one_person_the_last_comes_first(known, paths, last):
    """By the time in the name, else that of the file in the archive, else the number."""
    alike = "Version" in paths[0] or "attempt" in paths[0]
    entries = [entry(path, when="" if alike else f"202611302259{50 + (n == last)}") for n, path in enumerate(paths)]
    owners = owners_of(entries, known)
    found = _hand_ins([(owners.of(one.inside)[1], one) for one in entries])
    assert len(found) == len(paths) and [one for _, one in found[0][1]] == [entries[last]]


def test_files_without_folders_get_their_own_names_back_and_stay_together(known):
    paths = ["lovelaceada_101_50011_L.ipynb", "lovelaceada_101_50012_helpers.py", "lovelaceada_101_50013_data_2.csv"]
    ((_, files),) = _hand_ins([(PurePosixPath(path), entry(path)) for path in paths])
    assert [name for name, _ in files] == ["L.ipynb", "helpers.py", "data_2.csv"]
    ((_, files),) = _hand_ins([(PurePosixPath("ada"), entry(f"ada/my_{name}")) for name in ("L.ipynb", "helpers.py")])
    assert [name for name, _ in files] == ["my_L.ipynb", "my_helpers.py"], "in a folder they have them"


NAMES = "Ann Li,Li Ann,Ann-Li Ng,Max Data,Jörg Weiß,Jörg Weiss,Zoë O'Hara,李 雷,王 雷,Ana de la Cruz,Ana Cruz,Søren Ærø".split(
    ","
)
MANGLES = [  # what programs make of a name
    str,
    lambda path: unicodedata.normalize("NFD", path),
    lambda path: path.replace(" ", "+"),
    lambda path: path.replace(" ", "_"),
    lambda path: path.encode().decode("cp437"),
    lambda path: path.encode("cp1252", "replace").decode("cp437"),
]
FORMS = [  # of a path: name, login, number of a participant
    "{name}_{n}_assignsubmission_file_/{file}",
    "{last}, {first}({login})/x/{file}",
    "x/{name}/HW 5/Version 1/{file}",
    "HW_{login}_attempt_2026-11-23-22-59-00_{file}",
    "{joined}_{n}_5001_{file}",
    "{login}/{file}",
    "{name}.ipynb",
    "m{n}@x.org/{file}",
    "week 5/{last}, {first}/{file}",
]


@pytest.mark.parametrize("seed", range(40))
def test_nobody_ever_gets_somebody_elses_hand_in(tmp_path, seed):
    """Names that are alike, that programs mangle, and files named after others: found or named as unclear, never given to another."""
    rng, people, found = random.Random(seed), [], 0
    table = ["Username,First name,Last name,Email address,Identifier"]
    for n, name in enumerate(rng.sample(NAMES, 9), start=4700):
        first, last = name.split(" ", 1)
        start = "".join(sign for sign in unicodedata.normalize("NFKD", first)[:3].lower() if sign.isascii())
        login = rng.choice([f"s{n - 4700}00{n - 4700}", f"{start or 's'}{n - 4700}", f"user.{n - 4700}"])
        joined = f"{last}{first}".replace(" ", "").lower()
        people.append({"name": name, "first": first, "last": last, "joined": joined, "login": login, "n": n})
        table.append(f"{login},{first},{last},m{n}@x.org,Participant {n}")
    (tmp_path / "roster.csv").write_text("\n".join(table), encoding="utf-8")
    known = roster(Known(tmp_path))
    for form in FORMS:
        mangle, files = rng.choice(MANGLES), ["L.ipynb", "max.ipynb", "ann/L.ipynb"]
        paths = {mangle(form.format(**one, file=rng.choice(files))): one["login"] for one in people}
        if len(paths) < len(people):
            continue
        owners = owners_of(map(entry, paths), known)
        for path, student in paths.items():
            students, _ = owners.of(PurePosixPath(path))
            assert len(students) != 1 or students == {student}, (form, path, students)
            found += students == {student}
    assert found > 50, "nearly all of them are found"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name,age\nada,3\n", "column"),
        (b"", "column"),
        (b"student_id,x\nada,bob\nada,cyd\n", "'ada' twice"),
        ("student_id\nJürgen\n".encode("latin-1"), "UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_faults_of_a_roster_are_said(tmp_path, data, words):
    if data is not None:
        (tmp_path / "table.csv").write_bytes(data)
    with pytest.raises(ProjectError, match=words):
        roster(Known(tmp_path), tmp_path / "table.csv")


def test_canvas_own_rows_are_nobodys(tmp_path):
    own = ',,Manual Posting\n    Points Possible,,10\n"Student, Test",f3,\n'
    (tmp_path / "roster.csv").write_text(f'Student,SIS Login ID,HW\n{own}"Lovelace, Ada",ada,\n', "utf-8")
    made = roster(Known(tmp_path))
    assert made.listed == {"ada"} and made.nameless == []


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


def test_a_file_of_the_platform_can_only_lie_inside(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil/a.ipynb", "{}")
        archive.writestr("__MACOSX/._a", "x")
        archive.writestr("/b", "y")
        archive.writestr("ada/.~L.ipynb", "z")
    with opened(path) as entries:
        assert [str(one.inside) for one in entries] == ["ada/.~L.ipynb", "b", "evil/a.ipynb"]
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ProjectError, match="ZIP"), opened(path):
        pass


@pytest.mark.slow
def test_a_roster_goes_into_the_gradebook_and_who_hands_in_nothing_is_named(root, tmp_path, capsys):
    table = tmp_path / "table.csv"

    def students() -> dict:
        with Course(root).gradebook as gradebook:
            return {one.id: (one.first_name, one.last_name, one.email) for one in gradebook.students}

    with Course(root).gradebook as gradebook:
        gradebook.update_or_create_student("bob", last_name="Byron")
    before = students()
    table.write_text(
        "student_id,First name,Last name,Email address\nbob,Bob,Ross,bob@x.org\nkay,Kay,Mc,kay@x.org\n"
        "lou,Lou,Few,lou@x.org\n=lou,x,y,z@x.org",
        "utf-8",
    )
    assert main(["roster", str(table), "--dir", str(root)]) == 1
    assert "'=lou' of the roster cannot be" in capsys.readouterr().out
    new = {"bob": ("Bob", "Byron", "bob@x.org"), "kay": ("Kay", "Mc", "kay@x.org"), "lou": ("Lou", "Few", "lou@x.org")}
    assert students() == {**before, **new}, "nobody goes, and a name that is there stays"
    with (root / "roster.csv").open("a", encoding="utf-8") as file:
        file.write("kay,,,,kay-on-github\n")
    table.write_text("Identifier,Full name,Email address\nParticipant 7,Kay Mc,Kay@x.org\n", "utf-8")
    assert main(["roster", str(table), "--dir", str(root)]) == 0
    assert students() == {**before, **new}, "another roster, the same people"
    (tmp_path / "in").mkdir()
    named = {
        "cells": [],
        "metadata": {"course": {"lesson": LESSON, "kind": "checkpoint"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "in" / f"kay-on-github-{LESSON}.ipynb").write_text(json.dumps(named))
    assert main(["import", str(tmp_path / "in"), "--lesson", LESSON, "--dir", str(root)]) == 0, (
        "a line of a name outlives another roster"
    )
    found = {one.student: one for one in outcomes(Course(root), LESSON)}
    assert found["lou"].reason == "absent" and "handed in nothing: lou" in summary([*found.values()])


@pytest.mark.slow
def test_a_class_out_of_an_archive_is_marked_and_gets_its_feedback_back(root, tmp_path, capsys):
    sound = (root / "submitted" / "ada" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes()

    def by(name: str) -> bytes:
        """The same work, written by somebody else."""
        return sound.replace(b"def contrast", f"# {name[::-1]}\\ndef contrast".encode())

    file = tmp_path / "all.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("Eve One_1_assignsubmission_file_/my copy.ipynb", by("eve"))
        gil = {".~L.ipynb": by("gil"), "L.ipynb": b""}
        section = {f"Gil Six_3_assignsubmission_file_/{name}": data for name, data in gil.items()}
        archive.writestr("Section B.zip", zipped({**section, "twoida_77_88_L.ipynb": by("ida")}))
        archive.writestr("index.html", b"of the platform")
        archive.writestr("No Body_6_assignsubmission_file_/L.ipynb", by("nobo"))
        archive.writestr("readme.txt", b"of the platform")
    (root / "roster.csv").write_text(
        "Username;First name;Last name\neve;Eve;One\ngil;Gil;Six\nida;Ida;Two\nnobo;Ned;Boe\n", encoding="utf-8"
    )
    words = ["import", str(file), "--lesson", LESSON, "--dir", str(root)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "3 new" in said and "NOT TAKEN: No Body_6_assignsubmission_file_: neither it nor" in said
    assert "of nobody, left out: readme.txt" in said and "of nobody, left out: index.html" in said
    (again,) = re.findall("run `python -m grader (.+)` again", said)
    (line,) = [one for one in said.splitlines() if one.startswith("STUDENT;")]
    with (root / "roster.csv").open("a", encoding="utf-8") as roster_csv:
        roster_csv.write(line.replace("STUDENT", "nobo") + "\n")
    assert main(shlex.split(again)) == 0, "what was printed can be run"
    assert "1 new, 0 replaced (what was there is in earlier/), 3 as before" in capsys.readouterr().out
    found = {one.student: one for one in autograde(Course(root), LESSON, how=How(jobs=1), say=lambda line: None)}
    assert {name: found[name].points for name in ("eve", "gil", "ida", "nobo")} == dict.fromkeys(
        ("eve", "gil", "ida", "nobo"), 13
    )
    assert feedback(Course(root), LESSON, lambda line: None) == []
    assert main(["give-back", LESSON, "--dir", str(root)]) == 0
    with zipfile.ZipFile(root / f"feedback-{LESSON}.zip") as archive:
        assert sorted(archive.namelist()) == [
            f"Eve One_1_assignsubmission_file_/{NOTEBOOK}.html",
            f"No Body_6_assignsubmission_file_/{NOTEBOOK}.html",
            f"Section B.zip/Gil Six_3_assignsubmission_file_/{NOTEBOOK}.html",
            "Section B.zip/twoida_77_88_L.html",
        ]
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("Eve One_1_assignsubmission_file_/more.txt", b"more")
    assert main(words) == 0 and "1 replaced" in capsys.readouterr().out
    assert (root / "earlier" / "eve" / LESSON / "1" / "my copy.ipynb").read_bytes() == by("eve")
    autograde(Course(root), LESSON, how=How(jobs=1), say=lambda line: None)
    assert main(["give-back", LESSON, "--dir", str(root)]) == 0
    assert "left out: eve; autograde and feedback come first" in capsys.readouterr().out
    with zipfile.ZipFile(root / f"feedback-{LESSON}.zip") as archive:
        assert len(archive.namelist()) == 3, "a page of before the last marking is not handed out"


@pytest.mark.slow
def test_one_fact_about_a_file_is_told_alike_at_every_step(root, tmp_path, capsys):
    locked = bytearray(whole_zip := zipped({"L.ipynb": b"x"}))
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[whole_zip.index(sign) + place] |= 1
    sent = {
        "huge": ("L.ipynb", bytes(21 << 20), "too large to be read"),
        "lock": ("L.zip", bytes(locked), "locked with a password"),
        "torn": ("L.zip", whole_zip[:-9], "a ZIP that cannot be read"),
        "lfs": ("L.ipynb", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS"),
        "rtf": ("L.ipynb.rtf", b"{\\rtf1\\ansi", "a text document (RTF)"),
        "icloud": (".L.ipynb.icloud", b"bplist00\xd2", "a placeholder of iCloud"),
    }
    file = tmp_path / "all.zip"
    file.write_bytes(zipped({f"{name}/{path}": data for name, (path, data, _) in sent.items()}))
    (root / "roster.csv").write_text("student_id\n" + "\n".join(sent), encoding="utf-8")
    assert main(["import", str(file), "--lesson", LESSON, "--dir", str(root)]) == 0
    steps = [capsys.readouterr().out]
    found = {one.student: one for one in autograde(Course(root), LESSON, how=How(jobs=1), say=lambda line: None)}
    steps.append("\n".join(f"{name}: {' '.join(one.problems)}" for name, one in found.items()))
    feedback(Course(root), LESSON, lambda line: None)
    assert main(["export", "--lesson", LESSON, "--dir", str(root)]) == 0
    steps.append(capsys.readouterr().out)
    for name, (_, _, words) in sent.items():
        page = (root / "feedback" / name / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
        assert found[name].reason == "held" and words in page.replace("&#39;", "'"), name
        assert all(any(name in line and words in line for line in step.splitlines()) for step in steps), (name, steps)


@pytest.mark.slow
def test_of_several_hand_ins_the_last_with_work_is_taken(root, tmp_path):
    file = tmp_path / "all.zip"
    sound = (root / "submitted" / "ada" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes()
    untouched = (root / "release" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes()
    versions = enumerate((sound + b" ", sound + b"  ", untouched), start=1)
    file.write_bytes(zipped({f"ada/Version {number}/L.ipynb": data for number, data in versions}))
    stamp = root / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_text("2026-04-01 10:00:00 UTC")
    done = import_submissions(Course(root), file, LESSON)
    assert done.replaced == ["ada"] and "3 hand-ins" in done.said[0]
    assert (root / "submitted" / "ada" / LESSON / "L.ipynb").read_bytes() == sound + b"  "
    assert stamp.read_text() == "2026-04-01 10:00:00 UTC", "a time given by hand stays"
    assert record(root, LESSON) == {"ada": "ada/Version 2/"}
