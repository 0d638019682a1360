"""``python -m grader author ...``: notebooks, questions, checkpoints of one's own, the web site, the made-up class."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.course import Course, command
from grader.project import Project

LESSONS = ("01_map", "05_cudnn_benchmark")  # of the made-up class


def run_notebooks(arguments: argparse.Namespace) -> int:
    """Build the notebooks and the pages of docs/ that are made from data, check the sources, look for leaks. Prints a sentence for every
    problem; 1 if there is one.
    """
    from grader.authoring import reference
    from grader.authoring.leaks import leaks
    from grader.authoring.lint import lint
    from grader.project.publish import build_all, leftovers, write

    project = Project()
    made, problems = build_all(project)
    problems += [one for one in lint(project) if one.text not in "\n".join(problems)]
    problems += leaks(project, made)
    for path in write(made | reference.pages(project)):
        print(f"wrote {path.relative_to(project.root)}")
    for path in leftovers(project, made):
        path.unlink()
        print(f"removed {path.relative_to(project.root)}: it has no source any more")
    for sentence in problems:
        print(sentence.removeprefix(f"{Path.cwd()}/"))
    print(f"{len(made)} notebooks built, {len(problems)} problem{'s' * (len(problems) != 1)}")
    return 1 if problems else 0


def run_items(arguments: argparse.Namespace) -> int:
    """Print every finding, also of the verify snippets; 1 where something is to be mended."""
    from grader.authoring.question_check import check, files_of

    project, found = Project(), 0
    for files in files_of(project, arguments.file):
        for finding in check(project, files, run=True):
            print(finding.removeprefix(f"{Path.cwd()}/"), flush=True)
            found += 1
    print(f"{found} finding{'s' * (found != 1)}" if found else "nothing to mend")
    return int(found > 0)


def run_new_checkpoint(arguments: argparse.Namespace) -> int:
    """1 if there is something to mend."""
    from grader.authoring.scaffold import left_over, new_checkpoint

    course = Course(arguments.dir)
    folder, problems = new_checkpoint(course.project, arguments.name, course.language)
    unchanged = left_over(course.project, arguments.name)
    files = "checkpoint.md (what students see), checkpoint.yaml (questions), keys.yaml, tasks.py and tasks.yaml (hidden tests)"
    print(f"{folder}: {files}", *problems, *unchanged, sep="\n")
    if not problems and unchanged:
        again = command(f"author new-checkpoint {arguments.name}", course.root)
        print(f"it can be marked as it is; change these lines before you release it, then run {again}")
    elif not problems:
        print(f"nothing to mend; hand it out with {command(f'release {arguments.name}', course.root)}")
    return int(bool(problems))


def run_book(arguments: argparse.Namespace) -> int:
    """Print where the site stands."""
    from grader.book import site

    project = Project()
    made = site.build(project, arguments.to.resolve(), project.lessons())
    print(made / "index.html")
    return 0


def run_demo(arguments: argparse.Namespace) -> int:
    """1 if a student did not get what was deserved; the last line says which."""
    from grader.marking import pool

    pool.prepare(pool.at_once(), sandbox=True)
    from grader.cli.made_up import demo

    differences = demo(arguments.dir, arguments.language, lessons=arguments.lesson or LESSONS)
    for sentence in differences:
        print(sentence)
    if arguments.language == "zh":
        print(f"{len(differences)} 处不同" if differences else "OK：每个学生都拿到了应得的分")
    else:
        print(f"{len(differences)} differences" if differences else "OK: every student got what was deserved")
    return int(bool(differences))
