"""Put a bundle together: a folder and a ZIP that start on a machine which has never seen this checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import nbformat

from course.i18n import pick
from grader.authoring.build import lesson_notebook
from grader.authoring.publish import text_of
from grader.bundling.scan import scan
from grader.bundling.single import pack, single
from grader.bundling.texts import EXCHANGE, LAB_BAT, LAB_SH, README
from grader.course import Course
from grader.project import HERE, Project, ProjectError
from grader.releasing import decisions
from grader.student_config import student_config

NAME = "torch-backends-class"
RUN = (".sh", ".command")
WHEN = (2020, 1, 1, 0, 0, 0)  # in the ZIP: the same content gives the same bytes


def bundle(project: Project, languages: Iterable[str], to: Path, course: Course | None = None) -> tuple[Path, int]:
    """Write ``to/torch-backends-class`` and the ZIP of it; (the ZIP, how many files were looked through for keys).

    course: whose released checkpoints go in, as they were released. Raises ProjectError where a key would go out: then
    nothing is written.
    """
    files = contents(project, list(languages), course)
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
            mode = 0o755 if name.endswith(RUN) else 0o644
            path.chmod(mode)
            entry = zipfile.ZipInfo(f"{NAME}/{name}", WHEN)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target, looked


def contents(project: Project, languages: list[str], course: Course | None) -> dict[str, bytes]:
    """Every file of the bundle by its path."""
    name, wheel = wheel_of(project)
    packed = pack(wheel)
    texts = {
        "README.md": "\n".join(pick(README, language) for language in languages),
        "lab.sh": LAB_SH.format(language=languages[0]),
        "lab.command": LAB_SH.format(language=languages[0]),
        "lab.bat": LAB_BAT.format(language=languages[0]).replace("\n", "\r\n"),
        "lab.py": (HERE / "tools" / "env.py").read_text(encoding="utf-8"),
        "constraints.txt": (HERE / "constraints.txt").read_text(encoding="utf-8"),
    }
    for language in languages:
        for lesson in project.lessons():
            notebook = lesson_notebook(project, lesson, language)
            texts[f"notebooks/{language}/lessons/{lesson}.ipynb"] = text_of(notebook)
            texts[f"colab/{language}/{lesson}.ipynb"] = text_of(single(notebook, name, packed, language))
    if course is not None:
        texts["nbgrader_config.py"] = EXCHANGE + student_config(course)
        held = decisions.held(course.root)
        for path in sorted((course.root / "release").glob("*/*.ipynb")):
            if path.stem in held:  # an exam that is prepared, and not released yet
                continue
            said = nbformat.read(path, as_version=4)
            language = said.metadata.get("course", {}).get("language", course.language)
            texts[f"notebooks/{language}/checkpoints/{path.name}"] = path.read_text(encoding="utf-8")
            texts[f"colab/{language}/checkpoint-{path.name}"] = text_of(single(said, name, packed, language))
    return {**{name: text.encode() for name, text in texts.items()}, name: wheel}


def wheel_of(project: Project) -> tuple[str, bytes]:
    """(file name, bytes) of the wheel of ``course``, built from a copy: a build leaves traces, and picks up earlier ones."""
    with tempfile.TemporaryDirectory(prefix="course-wheel-") as room:
        copy, made = Path(room) / "copy", Path(room) / "made"
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
