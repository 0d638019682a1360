"""What each command does: the instructor's, then the authors'. What they need is imported when they run: nbgrader takes seconds."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from course.core.i18n import both, pick
from grader.course import Course, command, init
from grader.project import HERE, LANGUAGES, Project, ProjectError


def _opened(arguments: argparse.Namespace) -> Course:
    """The course directory. Raises ProjectError where one of the checkpoints is not released there."""
    from grader.course.marks import require

    course, lessons = Course(arguments.dir), arguments.lesson or []
    require(course, *([lessons] if isinstance(lessons, str) else lessons))
    return course


def run_init(arguments: argparse.Namespace) -> int:
    given = arguments.directory, arguments.language, arguments.course_id, arguments.exchange
    print("\n".join(init(*given, timezone=arguments.timezone)))
    return 0


def run_roster(arguments: argparse.Namespace) -> int:
    """1 if somebody of the roster has no id that can be used. Gives extensions after that."""
    from grader.course.late import extend
    from grader.handin.roster import take

    course, left = Course(arguments.dir), False
    if arguments.file is None and not arguments.extend:
        raise ProjectError("name the file with your class, or give somebody more time: --extend STUDENT LESSON HOURS")
    if arguments.file is not None:
        said, left = take(course, arguments.file)
        print("\n".join(said))
    for student, lesson, hours in arguments.extend:
        try:
            print(extend(course, lesson, student, float(hours)))
        except ValueError:
            raise ProjectError(f"--extend {student} {lesson} {hours}: HOURS is a number, such as 48") from None
    return int(left)


def run_release(arguments: argparse.Namespace) -> int:
    from grader.project.dates import shown, utc
    from grader.release.run import release

    course = Course(arguments.dir)
    due = None if arguments.due is None else utc(arguments.due, course.timezone)
    past = ", WHICH IS PAST" if due and due < datetime.now(timezone.utc).replace(tzinfo=None) else ""
    said = release(course, arguments.lesson, due)
    when = f", due {shown(due, course.timezone)}{past}" if due else ""
    print(f"released {arguments.lesson}{when}", *said, sep="\n")
    return 0


def run_bundle(arguments: argparse.Namespace) -> int:
    from grader.release.bundle import bundle

    course = Course(arguments.dir) if arguments.dir else None
    languages = LANGUAGES if arguments.language == "both" else (arguments.language,)
    target, looked = bundle(Project(), languages, arguments.to or HERE / "build" / "bundle", course)
    print(f"wrote {target} ({target.stat().st_size / 1e6:.1f} MB), the same as a folder beside it")
    print(f"looked through {looked} files, also inside the wheel: no key, no solution, no hidden task, no source")
    if course is None:
        print("without checkpoints: --dir names the course directory that has released some")
    return 0


def run_collect(arguments: argparse.Namespace) -> int:
    from grader.handin.exchange import collect

    found = collect(_opened(arguments), arguments.lesson)
    print(f"{arguments.lesson}: {found} submission{'s' * (found != 1)}")
    return 0


def run_import(arguments: argparse.Namespace) -> int:
    """1 if a hand-in is not in place: it is not clear whose it is, or it cannot be read."""
    from grader.handin.importing import import_submissions, report

    course = Course(arguments.dir)
    imported = import_submissions(course, arguments.file, arguments.lesson)
    print(report(course, imported, arguments.file))
    return int(bool(imported.unclear or imported.kept))


def run_autograde(arguments: argparse.Namespace) -> int:
    """1 if a submission was left without a grade."""
    from grader.marking import pool

    jobs = max(arguments.jobs, 0) or pool.at_once()
    if arguments.cluster is None:
        pool.prepare(jobs)
    from grader.marking.autograde import How, autograde
    from grader.reporting.summary import stale, summary

    course, lesson = _opened(arguments), arguments.lesson
    how = How(jobs, arguments.cluster, arguments.again, frozenset(arguments.accept))
    found = autograde(course, lesson, arguments.student, how)
    print(f"\n{lesson}\n{summary(found)}", *stale(course, lesson, found), sep="\n")
    return int(any(outcome.reason == "no-grade" for outcome in found))


def run_feedback(arguments: argparse.Namespace) -> int:
    """1 if the feedback of a submission could not be made, or it is too early for it."""
    from grader.course.late import open_until
    from grader.reporting.give_out import feedback

    course, lesson = _opened(arguments), arguments.lesson
    if not arguments.early and (until := open_until(course, lesson)):
        raise ProjectError(
            f"{lesson}: nothing was handed out: feedback shows the right answers, and there is time to hand in until {until} (due date "
            "and extensions). Run it again then, or say --early"
        )
    return int(bool(feedback(course, lesson)))


def run_give_back(arguments: argparse.Namespace) -> int:
    from grader.reporting.give_out import give_back

    to, lacking = give_back(_opened(arguments), arguments.lesson)
    print(f"wrote {to}")
    if lacking:
        left = f"no feedback since the last marking, so left out: {', '.join(lacking)}"
        print(f"{left}; autograde and feedback come first")
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """1 if somebody with a grade is not in the platform's file."""
    from grader.course.marks import released
    from grader.reporting.export import export, fill
    from grader.reporting.summary import ungraded

    course = _opened(arguments)
    lessons, said, missing = arguments.lesson or released(course), [], []
    if arguments.into is None:
        to = arguments.to or course.root / "grades.csv"
        export(course, to, lessons=arguments.lesson)
    elif len(lessons) != 1:
        raise ProjectError(f"--into fills one column: say which checkpoint with --lesson ({', '.join(lessons)})")
    else:
        to = arguments.to or course.root / f"grades-{arguments.into.name}"
        said, missing = fill(course, lessons[0], arguments.into, to, arguments.column)
    print(f"wrote {to}", *(one for lesson in lessons for one in ungraded(course, lesson)), *said, sep="\n")
    return int(bool(missing))


def run_report(arguments: argparse.Namespace) -> int:
    from grader.reporting.report import write_report

    print(f"wrote {write_report(_opened(arguments), arguments.lesson)}")
    return 0


# --- python -m grader author ... ---


def run_notebooks(arguments: argparse.Namespace) -> int:
    """Build the notebooks and the pages of docs/ that are made from data, check the sources, look for leaks. Prints a sentence for every
    problem; 1 if there is one.
    """
    from grader.authoring import reference
    from grader.authoring.leaks import leaks
    from grader.authoring.lint import lint
    from grader.project.build import build_all, leftovers, write

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
    from grader.authoring.question_check import check, places

    project, found = Project(), 0
    for place in places(project, arguments.file):
        for finding in check(project, *place, run=True):
            print(finding.removeprefix(f"{Path.cwd()}/"), flush=True)
            found += 1
    print(f"{found} finding{'s' * (found != 1)}" if found else "nothing to mend")
    return int(found > 0)


def run_new_checkpoint(arguments: argparse.Namespace) -> int:
    """1 if there is something to mend; lines in the template's words alone can be marked as they are."""
    from grader.authoring.scaffold import new_checkpoint

    course = Course(arguments.dir)
    folder, problems = new_checkpoint(course.project, arguments.name, course.language)
    files = "checkpoint.md (what students see), checkpoint.yaml (questions), keys.yaml, tasks.py and tasks.yaml (hidden tests)"
    print(f"{folder}: {files}", *problems, sep="\n")
    if problems:
        again = command(f"author new-checkpoint {arguments.name}", course.root)
        print(f"change these lines before you release it, then run {again}")
    else:
        print(f"nothing to mend; hand it out with {command(f'release {arguments.name}', course.root)}")
    return int(any(one.rule != "template-words" for one in problems))


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

    pool.prepare(pool.at_once())
    from grader.cli.made_up import demo

    differences = demo(arguments.dir, arguments.language, lessons=arguments.lesson)
    same = both("OK: each of them got exactly the points that were planned", "OK：每个人得的分都和事先定好的一样")
    last = both(f"{len(differences)} differences", f"{len(differences)} 处不同") if differences else same
    print(*differences, pick(last, arguments.language), sep="\n")
    return int(bool(differences))
