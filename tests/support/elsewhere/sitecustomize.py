"""Windows as the course meets it, in every process that has this folder on its path: Python imports this file when it starts.

Hidden from the files of the course alone are the modules and functions that Python has on Linux and not on Windows; the rest of
Python and torch know that they run on Linux and see everything. For all of them a file needs a name that Windows allows, an open
file can be neither replaced nor removed, and a child process is a new Python. A text file without an encoding is an error.
"""

from __future__ import annotations

import _signal
import builtins
import mmap
import multiprocessing
import os
import posix
import select
import signal
import sys
import time
import types
import warnings

from windows_names import refused

COURSE = os.path.join(os.path.abspath(__file__).rsplit(os.sep, 4)[0], "course", "")
ABSENT = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
IN_NT = """abort access chdir chmod close closerange cpu_count device_encoding dup dup2 environ error execv execve fspath fstat
 fsync ftruncate get_handle_inheritable get_inheritable get_terminal_size getcwd getcwdb getlogin getpid getppid isatty kill link
 listdir lseek lstat mkdir open pipe putenv read readlink remove rename replace rmdir scandir set_handle_inheritable
 set_inheritable spawnv spawnve startfile stat stat_result statvfs_result strerror symlink system terminal_size times
 times_result truncate umask uname_result unlink unsetenv urandom utime waitpid waitstatus_to_exitcode write DirEntry F_OK R_OK
 W_OK X_OK TMP_MAX O_APPEND O_CREAT O_EXCL O_RDONLY O_RDWR O_TRUNC O_WRONLY P_NOWAIT P_WAIT""".split()
OF_SIGNALS = """SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_IGN NSIG default_int_handler getsignal raise_signal
 set_wakeup_fd signal strsignal valid_signals""".split()
ONLY_HERE = {
    os: {name for name in dir(posix) if not name.startswith("_")} - {*IN_NT},
    signal: {name for name in dir(_signal) if not name.startswith("_")} - {*OF_SIGNALS},
    time: {name for name in dir(time) if name.startswith(("CLOCK_", "clock_", "pthread_")) or name == "tzset"},
    mmap: {name for name in dir(mmap) if name.startswith(("MAP_", "PROT_", "MADV_"))},
    select: {name for name in dir(select) if "poll" in name.lower()},
}


def asked_by_the_course() -> bool:
    """Whether the code two calls up stands in a file of the course."""
    return sys._getframe(2).f_code.co_filename.startswith(COURSE)


class AsOnWindows(types.ModuleType):
    """A module of Python of which the course sees only what is there on Windows, too."""

    def __getattribute__(self, name):
        if name in _hidden[id(self)] and asked_by_the_course():
            raise AttributeError(f"Windows has no {super().__getattribute__('__name__')}.{name}")
        return super().__getattribute__(name)


_hidden = {id(module): names for module, names in ONLY_HERE.items()}
for module in ONLY_HERE:
    module.__class__ = AsOnWindows


_import = builtins.__import__


def import_as_on_windows(name, *more, **named):
    if name in ABSENT and asked_by_the_course():
        raise ModuleNotFoundError(f"Windows has no module {name}", name=name)
    return _import(name, *more, **named)


builtins.__import__ = import_as_on_windows

OUTSIDE = ("/dev/", "/proc/", "/sys/")


def text_of(path) -> str:
    return os.path.abspath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else "/dev/"


def is_open(path: str) -> bool:
    """Whether this process has the file open."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == path:
                return True
        except OSError:  # the one that listed the folder
            continue
    return False


def watch(event: str, told: tuple) -> None:
    """Refuse what Windows refuses. told: what Python says of an event that changes files."""
    if event == "open" and (told[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or event == "os.mkdir":
        named = told[:1]
    elif event == "os.rename":
        named = told[1:2]
    else:
        named = ()
    for path in map(text_of, named):
        if not path.startswith(OUTSIDE) and any(map(refused, path.split("/"))):
            raise OSError(22, "Windows allows no such name", path)
    if event in ("os.rename", "os.remove") and told[-1] == -1:
        for path in map(text_of, told[: 1 + (event == "os.rename")]):
            if is_open(path) and sys._getframe(1).f_code.co_name != "TemporaryFile":  # there without a name of its own
                raise PermissionError(13, "another process has this file open", path)


sys.addaudithook(watch)
warnings.filterwarnings("ignore", category=EncodingWarning)  # of others
warnings.filterwarnings("error", category=EncodingWarning, module=r"course\b")
multiprocessing.set_start_method("spawn")
for method in ("fork", "forkserver"):
    multiprocessing.context._concrete_contexts.pop(method)
multiprocessing.get_all_start_methods = lambda: ["spawn"]
