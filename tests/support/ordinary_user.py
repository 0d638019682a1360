"""Commands run as an ordinary user, also where the tests run as root."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

from grader.project import HERE

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
NO_RIGHTS = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
CAN_BE_MADE = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from grader.sandbox import launch
sys.exit(launch.obstacle())
"""


@functools.cache
def prefix() -> tuple[str, ...]:
    """What stands before a command. For root a user without a name or, where such a one may not read this Python, a
    namespace in which root's files are its own and no right is left.
    """
    if os.geteuid() != 0:
        return ()
    tried = subprocess.run([*NOBODY, sys.executable, "-c", CAN_BE_MADE], cwd="/", capture_output=True)
    return NOBODY if tried.returncode == 0 else NO_RIGHTS


def give(folder: Path) -> Path:
    """Make that user the owner of a folder and all in it."""
    if prefix() == NOBODY:
        subprocess.run(["chown", "-R", "65534:65534", str(folder)], check=True)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and "pytest" in str(parent):
                parent.chmod(0o755)
    return folder
