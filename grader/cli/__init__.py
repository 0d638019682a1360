"""The commands of ``python -m grader``: of classes, and of authors."""

from __future__ import annotations

import argparse
import os
import sys

from grader.project import Infrastructure, ProjectError

GO_ON = "What is marked is kept; run the same command again to go on."
LIST = """
once, and when the class changes
  init        make a course folder                                    建立课程文件夹
  roster      who is in the class, the id of each, more time          名单，每人的 id，个人延期
every week
  release     hand out a checkpoint                                   发布测验
  bundle      one ZIP for the class, without keys                     给班级的 ZIP，不含答案
  collect     bring in what came through nbgrader's exchange          收取通过 exchange 交来的作业
  import      bring in what a platform or a folder holds              读入平台导出的或文件夹里的作业
  autograde   mark every submission                                   批改所有作业
  feedback    make and hand out the feedback pages                    生成并发放反馈页面
  give-back   one ZIP of the feedback pages, for the platform         把反馈页面打包，供平台上传
  export      the marks as CSV, or into the platform's own file       导出成绩，或填进平台自己的表
  report      what to teach again                                     哪些内容要再讲
for authors
  author      notebooks, items, new-checkpoint, book, demo            课程作者用的命令

What a command takes: python -m grader COMMAND --help               某个命令的用法：python -m grader 命令 --help
"""


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, return the exit status; a problem of the files, the disk or the gradebook is one sentence."""
    from grader.cli import authors, classes

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m grader", description=LIST, formatter_class=raw)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    classes.add(commands)
    authors.add(commands.add_parser("author").add_subparsers(metavar="COMMAND", required=True))
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except (ProjectError, Infrastructure) as error:
        print(error)
    except KeyboardInterrupt:
        print(f"\nStopped. {GO_ON}")
        return 130
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        wrong_name = isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError))
        next_step = "Name a place that exists and that you may write to." if wrong_name else GO_ON
        print(f"{error.filename or 'reading or writing'}: {error.strerror or error}. {next_step}")
    except Exception as error:
        if (said := _of_gradebook(error)) is None:
            raise
        print(said)
    return 1


def _of_gradebook(error: Exception) -> str | None:
    """What the database said, as a sentence with the next step; None for an error of another kind."""
    if isinstance(error, ModuleNotFoundError):  # the driver that c.CourseDirectory.db_url names
        return f"A package is missing: pip install {error.name}"
    database = sys.modules.get("sqlalchemy.exc")
    if database is None or not isinstance(error, (database.DBAPIError, database.ArgumentError)):
        return None
    what = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    if "is locked" in what:
        return f"The gradebook is locked by another program (formgrader, a backup). {GO_ON}"
    return f"The gradebook cannot be used: {what}. Look at the disk and at c.CourseDirectory.db_url, or put gradebook.db back. {GO_ON}"
