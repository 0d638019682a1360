"""How the warm process is started: under bubblewrap, which shows it few files."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from grader.project import HERE, Infrastructure
from grader.sandbox import groups
from grader.sandbox.limits import Limits

INSIDE = Path(__file__).resolve().parent / "inside"
SYSTEM = tuple(
    "/usr /bin /sbin /lib /lib32 /lib64 /etc/ld.so.cache /etc/alternatives /etc/fonts /etc/localtime /etc/ssl/certs "
    "/sys/devices/system/cpu".split()
)
PLACE, PYTHON = "/opt/course", "/opt/python"
HOME = "/home/student"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": HOME,
    "USER": "student",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "PYTHONPATH": PLACE,
    "COURSE_HOME": f"{HOME}/.course",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "NBGRADER_EXECUTION": "autograde",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
}
NEXT = "mark on another machine, or in the container of docs/instructors.md"
LINUX_ALONE = (
    "marking needs Linux, and this is {}; the container of docs/instructors.md marks on macOS and Windows, too"
)
WATCHED = (
    "NOT ENFORCED HERE: no control group can be made, so the grader looks 10 to 30 times a second how much memory a submission takes, "
    "instead of the system limiting it: gigabytes taken at once can make this machine swap or end other programs. "
    "Marks stay fair: only a submission's own processor time counts, and one that was kept from running gets no mark. "
    "To have it enforced, put `systemd-run --user --scope` in front of the same command. In the container of docs/instructors.md one "
    "limit holds for all submissions together."
)
NO_PROCESSES = (
    "NOT ALLOWED HERE: root without control groups. Submissions get no new processes: `!command` and DataLoader with workers fail in "
    "them, which can cost points. Mark as an ordinary user."
)
SEEN = "submissions can read all of {place}, and {folder} lies in there; move it elsewhere"


@functools.cache
def obstacle() -> str | None:
    """Make a sandbox and isolate a process in it once, as for a submission. Returns None if that works, else a sentence
    that says why not.
    """
    if sys.platform != "linux":
        return LINUX_ALONE.format(platform.system())
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"the sandbox has no list of system calls for {platform.machine()}; {NEXT}"
    if not Path("/proc/self/schedstat").exists():
        return f"this kernel does not tell how long a program waits for a processor, so a busy machine would cost points; {NEXT}"
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap); {NEXT}"
    if (place := visible(HERE)) is not None:
        return SEEN.format(place=place, folder=HERE)
    trial = TRY.format(limits=Limits().plain())
    tried = subprocess.run([*_bubblewrap(), "-c", trial], capture_output=True, encoding="utf-8", timeout=60)
    if tried.returncode == 0:
        return None
    said = (tried.stderr.strip().splitlines() or ["no reason was given"])[-1]
    return (
        f"no sandbox could be made ({said}); the machine may forbid user namespaces (kernel.unprivileged_userns_clone, "
        f"kernel.apparmor_restrict_unprivileged_userns, a container); {NEXT}"
    )


def visible(folder: Path) -> str | None:
    """The folder of those shown to submissions that contains ``folder``; None where submissions cannot see it."""
    shown = [*SYSTEM, sys.prefix, *([sys.base_prefix] if _own_base() else [])]
    return next((place for place in shown if folder.resolve().is_relative_to(Path(place).resolve())), None)


def out_of_sight(*folders: Path) -> None:
    """Check that a submission in the sandbox cannot read any of the folders. Raises Infrastructure if it could."""
    for folder in folders:
        if (place := visible(folder)) is not None:
            raise Infrastructure(SEEN.format(place=place, folder=folder))


def unenforced() -> list[str]:
    """A sentence for each limit that cannot be enforced on this machine, with its effect on marks; empty if all can."""
    if groups.possible():
        return []
    return [WATCHED, *([NO_PROCESSES] if os.geteuid() == 0 else [])]


def _own_base() -> bool:
    """Whether Python's standard library lies outside both sys.prefix and the system's folders."""
    return sys.base_prefix != sys.prefix and not sys.base_prefix.startswith("/usr")


TRY = """
import os
from inside import isolate
isolate.note_memory()
isolate.enter_namespaces()
child = os.fork()
if child == 0:
    isolate.lock_down({limits})
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
"""


def command(connection: int) -> list[str]:
    """The command line of the warm process. connection: a file descriptor that it inherits.

    Raises Infrastructure where no sandbox can be made.
    """
    if reason := obstacle():
        raise Infrastructure(reason)
    return [*_bubblewrap(), "-s", "-m", "inside", str(connection)]


def _bubblewrap() -> list[str]:
    """The bwrap command up to Python: no network, a read-only view of the system's programs, of Python and of ``course``. The package
    ``grader`` is not visible.
    """
    options = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        options += ["--setenv", name, value]
    for path in SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        else:
            options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", HOME]
    if _own_base():
        options += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    for path, place in ((sys.prefix, PYTHON), (HERE / "course", f"{PLACE}/course"), (INSIDE, f"{PLACE}/inside")):
        options += ["--ro-bind", str(path), place]
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    return [*options, f"{PYTHON}/bin/{Path(sys.executable).name}"]
