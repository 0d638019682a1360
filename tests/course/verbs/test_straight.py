"""`observe` in a straight line: how many functions of ours a replay runs, in how many files, and through how many at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

MOST_FUNCTIONS, MOST_FILES, MOST_STOPS = 120, 30, 8
COUNT = """
import contextlib, io, json, sys
from pathlib import Path
import course

root, ran, ours, importing, longest = str(Path(course.__file__).parent), set(), [], 0, []

def seen(frame, event, argument):
    global importing, longest
    code = frame.f_code
    if code.co_filename.startswith("<frozen importlib") and code.co_name == "_find_and_load":
        importing += {"call": 1, "return": -1}.get(event, 0)
    if importing or not code.co_filename.startswith(root) or code.co_name.startswith("<"):
        return
    if event == "call":
        ran.add((code.co_filename, code.co_name, code.co_firstlineno))
        ours.append(code.co_filename[len(root) + 1 :])
        longest = max(longest, list(dict.fromkeys(ours)), key=len)
    elif event == "return":
        ours.pop()

with contextlib.redirect_stdout(io.StringIO()) as shown:
    sys.setprofile(seen)
    course.observe("05-pays-cuda", replay=True)
    sys.setprofile(None)
lessons = {name.split(".")[2] for name in sys.modules if name.startswith("course.lessons.l")}
print(json.dumps([len(ran), len({one[0] for one in ran}), longest, sorted(lessons), shown.getvalue()]))
"""


def test_a_replay_imports_its_own_lesson_and_is_a_short_way(tmp_path):
    about = os.environ | {"COURSE_HOME": str(tmp_path), "COURSE_TEXT": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", COUNT], env=about, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    functions, files, stops, lessons, shown = json.loads(done.stdout)
    print(f"{functions} functions in {files} files; the longest way in has {len(stops)} stops: {' > '.join(stops)}")
    assert lessons == ["l05_cudnn_benchmark"] and "05-pays-cuda" in shown
    assert functions <= MOST_FUNCTIONS and files <= MOST_FILES and len(stops) <= MOST_STOPS
