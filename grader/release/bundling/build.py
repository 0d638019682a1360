"""Put a bundle together: a folder and a ZIP that start on a machine which has never seen this checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.core.catalog import checkpoint_names
from course.core.i18n import Text, both, pick
from grader.course import Course
from grader.handin.papers import released_salt
from grader.project import HERE, Project, ProjectError
from grader.project.build import checkpoint_notebook, practice_notebook
from grader.project.dates import shown
from grader.project.publish import text_of
from grader.release.bundling.scan import scan
from grader.release.bundling.single import TEXTS, pack, single
from grader.release.run import student_config

NAME = "torch-backends-class"
WHEN = (2020, 1, 1, 0, 0, 0)  # in the ZIP: the same content gives the same bytes


def bundle(
    project: Project,
    languages: Iterable[str],
    to: Path,
    course: Course | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[Path, int]:
    """Write ``to/torch-backends-class`` and the ZIP of it; (the ZIP, how many files were looked through for keys). say: hears
    what is done.

    course: whose released checkpoints go in, as they were released. Raises ProjectError where a key would go out: then
    nothing is written.
    """
    files = contents(project, list(languages), course, say)
    say(f"looking through {len(files)} files for keys and solutions")
    looked, problems = scan(course.project if course else project, files)
    if problems:
        raise ProjectError("\n".join(["this must not go to a class, so nothing was written:", *problems]))
    folder = to / NAME
    if folder.exists():
        shutil.rmtree(folder)
    target = to / f"{NAME}.zip"
    to.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            entry = zipfile.ZipInfo(f"{NAME}/{name}", WHEN)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target, looked


def contents(
    project: Project, languages: list[str], course: Course | None, say: Callable[[str], None] = lambda line: None
) -> dict[str, bytes]:
    """Every file of the bundle by its path."""
    say("building the wheel of the course")
    name, wheel = wheel_of(project)
    packed = pack(wheel)
    said = [] if course is None else handing_in(course)
    texts = {
        "README.md": "\n".join(pick(text, language) for language in languages for text in (TEXTS["readme"], *said)),
        "lab.py": (HERE / "tools" / "env.py").read_text(encoding="utf-8"),
        "constraints.txt": (HERE / "constraints.txt").read_text(encoding="utf-8"),
    }
    practice = [*(("lesson", one) for one in project.lessons()), *(("project", one) for one in project.projects())]
    for language in languages:
        for number, (kind, lesson) in enumerate(practice, 1):
            say(f"lessons in {language}: {number} of {len(practice)}")
            notebook = practice_notebook(project, lesson, language, kind)
            texts[f"notebooks/{language}/{kind}s/{lesson}.ipynb"] = text_of(notebook)
            texts[f"colab/{language}/{lesson}.ipynb"] = text_of(single(notebook, name, packed, language))
    if course is not None:
        texts["nbgrader_config.py"] = TEXTS["exchange"] + student_config(course)
        for path in sorted((course.root / "release").glob("*/*.ipynb")):
            say(f"checkpoint {path.parent.name}")
            for language, notebook, text in in_languages(course, path, languages, say):
                texts[f"notebooks/{language}/checkpoints/{path.name}"] = text
                texts[f"colab/{language}/{checkpoint_names(path.parent.name)[0]}.ipynb"] = text_of(
                    single(notebook, name, packed, language)
                )
    return {**{name: text.encode() for name, text in texts.items()}, name: wheel}


def in_languages(
    course: Course, path: Path, languages: list[str], say: Callable[[str], None]
) -> Iterator[tuple[str, NotebookNode, str]]:
    """(language, notebook, its text) of a released checkpoint: as it was released, and the same in the other languages of the
    class, where it has been written in them and its questions are still those that were released.
    """
    released, lesson = nbformat.read(path, as_version=4), path.parent.name
    said = released.metadata.get("course", {})
    own = said.get("language", course.language)
    yield own, released, path.read_text(encoding="utf-8")
    for language in (one for one in languages if one != own):
        other = checkpoint_notebook(course.project, lesson, language, _points(released), released_salt(released))
        if other.metadata.course.language != language:
            say(f"{lesson}: there is none in {language}")
        elif other.metadata.course.questions != said.get("questions"):
            say(f"{lesson}: its questions have changed since the release; release it again for a copy in {language}")
        else:
            yield language, other, text_of(other)


def _points(released: NotebookNode) -> dict[str, float]:
    cells = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    return {cell["grade_id"]: float(cell["points"]) for cell in cells if cell.get("grade")}


def handing_in(course: Course) -> list[Text]:
    """What a class is told about handing in: what is out, until when, and which id to type."""
    with course.gradebook as gradebook:
        due = {one.name: one.duedate for one in gradebook.assignments}
    out = sorted(path.parent.name for path in (course.root / "release").glob("*/*.ipynb"))
    rows = [(lesson, shown(due[lesson], course.timezone) if due.get(lesson) else "") for lesson in out]
    listed = [
        both(
            f"- {lesson}: {f'due {when}' if when else 'no due date'}",
            f"- {lesson}：{f'截止 {when}' if when else '没有截止时间'}",
        )
        for lesson, when in rows
    ]
    return [TEXTS["hand_in"], *listed] if out else []


def wheel_of(project: Project) -> tuple[str, bytes]:
    """(file name, bytes) of the wheel of ``course``, built from a copy: a build leaves traces, and picks up earlier ones."""
    with tempfile.TemporaryDirectory(prefix="course-wheel-") as folder:
        copy, made = Path(folder) / "copy", Path(folder) / "made"
        shutil.copytree(project.root / "course", copy / "course", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(HERE / name, copy)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *_isolation(), "-w", str(made), str(copy)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        wheels = list(made.glob("*.whl"))
        if done.returncode or not wheels:
            raise ProjectError(
                "the wheel of the course could not be built: "
                + ((done.stderr or done.stdout).strip().splitlines() or ["no reason was given"])[-1]
            )
        return wheels[0].name, wheels[0].read_bytes()


def _isolation() -> list[str]:
    """With a setuptools that is new enough for pyproject.toml nothing has to be downloaded for the build."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ["--no-build-isolation"] if int(version("setuptools").split(".")[0]) >= 77 else []
    except PackageNotFoundError:
        return []
