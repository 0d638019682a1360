"""The sandbox itself: what the filter lets through, what is seen from inside, and what a killed one leaves."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from grader.project import HERE, Infrastructure
from grader.sandbox import groups, launch
from grader.sandbox import warm as warm_process
from grader.sandbox.inside import seccomp, wire
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Warm
from tests.conftest import missing
from tests.support import ordinary_user

MACHINES = ("x86_64", "aarch64")
ORDINARY = {  # read, write, mmap, execve, exit, kill, futex, openat, getrandom, connect, rt_sigreturn, prctl, seccomp
    "x86_64": (0, 1, 9, 59, 60, 62, 202, 257, 318, 42, 15, 157, 317),
    "aarch64": (63, 64, 222, 221, 93, 129, 98, 56, 278, 203, 139, 167, 277),
}
REFUSED, NOT_HERE = seccomp.refuse(errno.EPERM), seccomp.refuse(errno.ENOSYS)
SMALL = Limits(cell_s=20, memory_mb=300, disk_mb=8, open_files=64, processes=12, output_chars=10_000)


# --- the filter, for both machines, without a kernel ---


@pytest.fixture(params=MACHINES)
def machine(request) -> str:
    return request.param


def filtered(program: bytes, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """The verdict of ``program`` on one call, as classic BPF over ``struct seccomp_data`` (Linux net/core/filter.c).

    Raises ValueError for a program the kernel would not take.
    """
    data = struct.pack("=IIQ6Q", number, audit, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    code = list(struct.iter_unpack("=HBBI", program))
    if not 0 < len(code) <= 4096:
        raise ValueError("too long")
    place, accumulator = 0, 0
    while place < len(code):
        operation, right, wrong, value = code[place]
        place += 1
        if operation == 0x20:  # ld [value]
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x06:  # ret value
            return value
        elif operation in (0x15, 0x35, 0x45):  # jeq, jge, jset
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[operation]
            place += right if holds else wrong
        else:
            raise ValueError(f"operation {operation:#x}")
    raise ValueError("runs off the end")


def decide(machine: str, number: int, *arguments: int, processes: bool = True) -> int:
    return filtered(seccomp.program(machine, processes), seccomp.ARCHITECTURES[machine], number, arguments)


def test_ordinary_calls_pass_and_every_listed_one_is_refused(machine):
    for processes in (True, False):
        assert {decide(machine, number, processes=processes) for number in ORDINARY[machine]} == {seccomp.ALLOW}
        assert {decide(machine, n, processes=processes) for n in seccomp.REFUSED[machine].values()} == {REFUSED}
    assert len(set(seccomp.REFUSED[machine].values())) == len(seccomp.REFUSED[machine])
    assert not set(seccomp.REFUSED[machine].values()) & set(ORDINARY[machine])


def test_calls_of_another_machine_end_the_process_and_x32_numbers_are_no_way_round(machine):
    other = next(name for name in MACHINES if name != machine)
    program = seccomp.program(machine)
    for audit in (seccomp.ARCHITECTURES[other], 0x40000003, 0):  # 0x40000003: 32-bit x86
        assert filtered(program, audit, ORDINARY[machine][0]) == seccomp.KILL
    if machine == "x86_64":
        assert {decide(machine, 0x40000000 + number) for number in range(0, 600)} == {REFUSED}


def test_only_harmless_kinds_of_sockets_can_be_made(machine):
    *_, socket, pair = seccomp.NUMBERS[machine]
    for number in (socket, pair):
        allowed = {family for family in range(0, 100) if decide(machine, number, family) == seccomp.ALLOW}
        assert allowed == {1, 2, 10}  # of the machine, IPv4, IPv6
        assert decide(machine, number, 16) == seccomp.refuse(errno.EAFNOSUPPORT)  # netlink
        assert decide(machine, number, 1 | 1 << 32) == seccomp.ALLOW  # the kernel, too, reads the lower half


def test_nothing_can_be_typed_into_a_terminal(machine):
    ioctl = seccomp.NUMBERS[machine][2]
    assert decide(machine, ioctl, 0, seccomp.TIOCSTI) == REFUSED
    assert decide(machine, ioctl, 0, seccomp.TIOCSTI | 1 << 32) == REFUSED
    assert decide(machine, ioctl, seccomp.TIOCSTI, 0x5401) == seccomp.ALLOW


def test_nobody_else_can_be_made_to_wait_for_a_file(machine):
    fcntl = seccomp.NUMBERS[machine][3]
    for command in (seccomp.SETLEASE, seccomp.SETDELEG, seccomp.SETLEASE | 1 << 32):
        assert decide(machine, fcntl, 5, command) == REFUSED
    allowed = set(range(1050)) - {seccomp.SETLEASE, seccomp.SETDELEG}
    assert {decide(machine, fcntl, seccomp.SETLEASE, command) for command in allowed} == {seccomp.ALLOW}


def test_processes_and_threads_but_no_new_namespaces(machine):
    clone, clone3 = seccomp.NUMBERS[machine][:2]
    thread, fork = 0x3D0F00, 0x01200011  # what the C library asks for
    assert decide(machine, clone3) == NOT_HERE
    for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        for processes in (True, False):
            assert decide(machine, clone, fork | flag, processes=processes) == REFUSED
            assert decide(machine, clone, thread | flag, processes=processes) == REFUSED
    assert decide(machine, clone, fork) == decide(machine, clone, thread) == seccomp.ALLOW
    assert decide(machine, clone, thread, processes=False) == seccomp.ALLOW
    again = seccomp.refuse(errno.EAGAIN)
    assert decide(machine, clone, fork, processes=False) == again
    if machine == "x86_64":
        assert {decide(machine, number, processes=False) for number in (57, 58)} == {again}  # fork, vfork
        assert {decide(machine, number) for number in (57, 58)} == {seccomp.ALLOW}


# --- frames ---


def test_frames_are_cut_right_however_the_bytes_come():
    messages = [{"a": 1}, {}, {"text": "é" * 5000}, {"deep": [[1, {"x": None}]]}]
    data = b"".join(wire.HEAD.pack(len(text)) + text for text in (json.dumps(one).encode() for one in messages))
    for size in (1, 2, 3, 7, 1000, len(data)):
        frames = wire.Frames()
        for start in range(0, len(data), size):
            frames.feed(data[start : start + size])
        assert frames.ready == messages


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        wire.HEAD.pack(wire.LARGEST + 1),
        wire.HEAD.pack(4) + b"oops",
        wire.HEAD.pack(2) + b"[]",
        wire.HEAD.pack(3_900_010) + b'{"a": [' + b"{}," * 1_300_000 + b"0]}",
        wire.HEAD.pack(2) + b"\xff\xfe",
        wire.HEAD.pack(4) + b"null",
        wire.HEAD.pack(100_000) + b"[" * 100_000,
    ],
)
def test_what_is_no_frame_closes_the_connection(data):
    with pytest.raises(wire.Closed):
        wire.Frames().feed(data)


# --- from inside ---


@pytest.fixture(scope="module")
def warm():
    if reason := launch.obstacle():
        missing("the sandbox", reason)
    with contextlib.closing(Warm()) as process:
        process.start()
        yield process
        below = below_and(process)
    assert not psutil.wait_procs(below, timeout=10)[1]


def below_and(warm) -> list[psutil.Process]:
    process = psutil.Process(warm._process.pid)
    return [process, *process.children(recursive=True)]


@pytest.fixture
def kernel(warm):
    with warm.kernel(SMALL) as fresh:
        yield fresh


def said(kernel, source: str):
    """What a cell printed, read as Python data."""
    import ast

    ran = kernel.run(source)
    assert ran.error is None and not ran.ended, ran
    return ast.literal_eval("".join(output["text"] for output in ran.outputs if output.get("name") == "stdout"))


CALL = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.mark.slow
def test_each_refused_call_fails_from_inside(kernel):
    numbers = seccomp.REFUSED[platform.machine()]
    source = CALL + (
        f"found = {{}}\nfor name, number in {numbers}.items():\n    ctypes.set_errno(0)\n"
        "    found[name] = libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()\nprint(found)"
    )
    assert said(kernel, source) == dict.fromkeys(numbers, (-1, errno.EPERM))


@pytest.mark.slow
def test_no_privilege_is_left_and_none_can_come_back(kernel):
    found = said(
        kernel,
        CALL + "header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n"
        "libc.capget(header, data)\n"
        "print(list(data), [n for n in range(64) if libc.prctl(23, n, 0, 0, 0) == 1], libc.prctl(39, 0, 0, 0, 0),"
        " libc.prctl(21, 0, 0, 0, 0), sep=', ')",
    )
    assert found == ([0] * 6, [], 1, 2)  # capabilities, bounding set, no_new_privs, seccomp in filter mode
    status = dict(re.findall(r"^(\w+):\s+(\S+)", status_of(kernel), re.M))
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def pid_of(kernel) -> int:
    return int(
        re.search(r"^Pid:\s+(\d+)", Path(f"/proc/self/fdinfo/{kernel._handle}").read_text(encoding="utf-8"), re.M)[1]
    )


def status_of(kernel) -> str:
    return Path(f"/proc/{pid_of(kernel)}/status").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_submission_has_namespaces_and_a_process_group_of_its_own(warm):
    kinds, seen = ("user", "mnt", "pid", "net", "ipc", "uts"), []
    with warm.kernel(SMALL) as first, warm.kernel(SMALL) as second:
        for kernel in (first, second):
            pid = pid_of(kernel)
            seen.append([os.readlink(f"/proc/{pid}/ns/{kind}") for kind in kinds])
            assert os.getpgid(pid) == pid and os.getsid(pid) == pid
            assert said(kernel, "import os\nprint([os.getpid(), os.getppid()])") == [1, 0]
    seen.append([os.readlink(f"/proc/self/ns/{kind}") for kind in kinds])
    for kind, *links in zip(kinds, *seen, strict=True):
        assert len(set(links)) == 3, kind


@pytest.fixture
def ungrouped(monkeypatch):
    """As an ordinary user meets it on most machines: no control groups."""
    monkeypatch.setattr(groups, "possible", lambda: False)
    monkeypatch.setattr(groups, "make", lambda limits, pid: None)
    monkeypatch.setattr(warm_process.os, "geteuid", lambda: 1000)


@pytest.mark.slow
def test_busy_neighbours_cost_no_honest_cell_its_time_and_a_busy_family_pays_for_all_its_members(warm, ungrouped):
    work = "import time\nbegan = time.process_time()\nwhile time.process_time() - began < 0.3: pass"
    busy = (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass\n"
        "time.sleep(60)"
    )
    hogs = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"], start_new_session=True) for _ in range(16)
    ]
    try:
        with warm.kernel(SMALL) as kernel:
            with contextlib.suppress(Infrastructure):  # a machine far too busy says so, and costs nobody a point
                ran = kernel.run(work, 0.8)  # one of 17: more than two seconds of wall time on two processors
                assert ran.seconds < 0.8 and not ran.late  # its own 0.3 are
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    with warm.kernel(SMALL) as kernel:
        ran = kernel.run(busy, 0.5)
        assert ran.late and kernel._meter.cpu_s >= 0.25
    with warm.kernel(SMALL) as kernel:
        kernel._meter.disturbed = lambda limit: limit == 0.3  # as on a machine that let it run for a part of the time
        with pytest.raises(Infrastructure, match="too busy"):
            kernel.run("while True: pass", 0.3)


@pytest.mark.slow
def test_memory_is_summed_over_all_processes_and_shared_pages_count_once(warm, ungrouped):
    limits = replace(SMALL, memory_mb=300, disk_mb=8)
    shared = (
        "import os, time\nhog = bytearray(os.urandom(1 << 20)) * 200\nmade = []\nfor _ in range(4):\n    pid = os.fork()\n"
        "    if pid == 0:\n        time.sleep(1)\n        os._exit(0)\n    made.append(pid)\nfor pid in made: os.waitpid(pid, 0)"
    )
    own = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        hog = bytearray(os.urandom(1 << 20)) * 150\n        time.sleep(60)\nfor _ in range(6): os.wait()"
    )
    with warm.kernel(limits) as kernel:
        ran = kernel.run(shared)  # five processes of 450 MB, 200 of them one and the same
        assert not ran.ended and ran.error is None, ran
    with warm.kernel(limits) as kernel:
        ran = kernel.run(own)
        assert ran.ended == "memory"


@pytest.mark.slow
def test_no_process_hides_what_it_takes_and_none_inherits_the_connection(kernel):
    # set, get dumpable
    assert said(kernel, CALL + "print([libc.prctl(4, 0, 0, 0, 0), libc.prctl(3, 0, 0, 0, 0)])") == [-1, 1]
    source = (
        "import os, subprocess, sys\ncode = 'import os\\nfor n in range(3, 64):\\n  try: os.fstat(n); print(n)"
        "\\n  except OSError: pass'\n"
    )
    assert (
        said(
            kernel,
            source + "print(subprocess.run([sys.executable, '-S', '-c', code], close_fds=False, capture_output=True, "
            "text=True).stdout.split())",
        )
        == []
    )


def test_each_submission_gets_a_group_below_the_nearest_parent_that_delegates(tmp_path, monkeypatch):
    """On a made-up tree: control groups of version 2 are not writable on every machine that runs the tests."""
    slice_ = tmp_path / "user.slice"
    own = slice_ / "run.scope"
    own.mkdir(parents=True)
    (tmp_path / "cgroup.controllers").write_text("memory pids cpu")
    mkdir = Path.mkdir

    def as_the_kernel(folder: Path, **options) -> None:
        mkdir(folder, **options)
        for name in ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs"):
            if folder.parent == own:  # it has processes of its own, so it delegates nothing
                mkdir(folder / name)
            else:
                (folder / name).write_text("")

    monkeypatch.setattr(Path, "mkdir", as_the_kernel)
    monkeypatch.setattr(groups, "ROOT", tmp_path)
    monkeypatch.setattr(groups, "_own", lambda pid="self": own)
    [made] = groups.make(SMALL, 4711).folders
    assert made.parent == slice_
    assert (made / "memory.max").read_text() == str(SMALL.tree_bytes) and (made / "pids.max").read_text() == "13"
    groups.Group([made]).add(4711)
    assert (made / "cgroup.procs").read_text() == "4711"


def test_a_folder_that_submissions_could_read_is_refused(tmp_path, monkeypatch):
    launch.out_of_sight(tmp_path)
    for folder in (Path("/usr/src/app"), Path(sys.prefix) / "course"):
        with pytest.raises(Infrastructure, match="elsewhere"):
            launch.out_of_sight(folder)
    monkeypatch.setattr(launch, "HERE", Path("/usr/src/app"))
    assert "/usr/src/app" in launch.obstacle.__wrapped__()


@pytest.mark.slow
def test_folders_are_private_bounded_and_gone_with_the_kernel(warm):
    write = (
        "import os\nfor folder in ('/tmp', '/dev/shm', '/home/student'):\n    open(folder + '/trace', 'w').close()\n"
        "try:\n    open('/tmp/big', 'wb').write(b'x' * (9 << 20))\n    print([])\nexcept OSError as error:\n    print([error.errno])"
    )
    look = "import os\nprint([os.listdir(folder) for folder in ('/tmp', '/dev/shm', '/home/student')])"
    with warm.kernel(SMALL) as first, warm.kernel(SMALL, {"a/b.txt": b"mine"}) as second:
        assert said(first, write)[0] in (errno.EFBIG, errno.ENOSPC)
        assert said(second, look) == [[], [], ["a"]]
        assert said(second, "print([open('a/b.txt').read()])") == ["mine"]
    with warm.kernel(SMALL) as third:
        assert said(third, look) == [[], [], []]
        wide = (
            "import os\nfound = []\nfor folder in ('/', '/dev', '/etc', '/opt', '/opt/course', '/opt/python', '/usr', '/proc'):\n"
            "    try: open(folder + '/trace', 'w').close(); found.append(folder)\n    except OSError: pass\nprint(found)"
        )
        assert said(third, wide) == []
        assert sorted(said(third, "import os\nprint(os.listdir('/proc'))")) == ["cpuinfo", "meminfo"]
        assert sorted(said(third, "import os\nprint(os.listdir('/opt/course'))")) == ["course", "inside"]


@pytest.mark.slow
def test_no_descriptor_of_ours_is_open_but_the_connection(kernel):
    found = said(
        kernel,
        "import os, stat\nkinds = {}\nfor number in range(64):\n    try: mode = os.fstat(number).st_mode\n"
        "    except OSError: continue\n    kinds.setdefault(stat.S_IFMT(mode), []).append(number)\nprint(kinds)",
    )
    # one socket; /dev/null, its own files
    assert len(found.pop(0o140000)) == 1 and found == {0o020000: [0], 0o100000: [1, 2]}
    listing = "import os, subprocess\nprint(subprocess.run(['ls', '-1', '/dev/fd/'], capture_output=True, text=True).stdout.split())"
    # 3: the folder itself; nothing where /proc is out of sight
    assert said(kernel, listing) in (["0", "1", "2", "3"], [])


@pytest.mark.slow
def test_limits_hold_and_are_said(warm):
    with warm.kernel(SMALL) as kernel:
        assert kernel.run("x = bytearray(1 << 30)").error == "MemoryError"
        assert kernel.run("import os\nfiles = [open('/dev/null') for _ in range(200)]").error == "OSError"
        ran = kernel.run("print('x' * 50_000)")
        assert ran.cut and len(str(ran.outputs)) < 12_000
        ran = kernel.run("display({'text/html': 'x' * 17_000_000}, raw=True)\nprint('too late')")  # one frame too large
        assert ran.cut and not ran.ended and not ran.outputs
        assert kernel.run("import time\ntime.sleep(60)", seconds=0.3).late
        assert said(kernel, "print([1])") == [1]
    with warm.kernel(replace(SMALL, cell_s=0.2)) as kernel:
        ran = kernel.run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
        assert ran.ended == kernel.run("1").ended == "stuck"
    with warm.kernel(replace(SMALL, processes=0)) as kernel:
        assert kernel.run("import os\nos.fork()").error == "BlockingIOError"
        assert (
            kernel.run("import threading\none = threading.Thread(target=print)\none.start()\none.join()").error is None
        )
    if groups.possible():
        with warm.kernel(SMALL) as kernel:
            source = (
                "import os, time\nmade = []\ntry:\n    while len(made) < 500:\n        pid = os.fork()\n        if pid == 0:\n"
                "            time.sleep(60)\n        made.append(pid)\nexcept OSError: pass\nprint([len(made)])"
            )
            assert said(kernel, source)[0] < 200


@pytest.mark.slow
def test_an_interrupt_that_comes_too_late_stops_neither_the_kernel_nor_the_next_cell(warm):
    with warm.kernel(SMALL) as kernel:
        assert kernel.run("import time\nx = 1").error is None
        for _ in range(20):
            kernel._signal(signal.SIGINT)
            assert said(kernel, "time.sleep(0.005)\nprint([x])") == [1]


@pytest.mark.slow
def test_groups_are_taken_away(warm):
    with warm.kernel(SMALL) as kernel:
        group = kernel._group
        if group is None:
            assert groups.make(SMALL, os.getpid()) is None  # this machine lets us make none
            return
        assert all(folder.is_dir() for folder in group.folders)
    assert not any(folder.exists() for folder in group.folders)


@pytest.mark.slow
def test_a_killed_warm_process_is_started_again_and_leaves_nobody(warm):
    with warm.kernel(SMALL) as kernel:
        below = below_and(warm)[1:]
        warm._process.send_signal(signal.SIGKILL)
        left = psutil.wait_procs(below, timeout=10)[1]
        with pytest.raises(Infrastructure):  # nobody's fault who wrote the cell
            kernel.run("1")
    assert len(below) >= 2 and not left
    with warm.kernel(SMALL) as kernel:
        assert said(kernel, "print([1])") == [1]  # when it is closed, the fixture looks who is left


@pytest.mark.slow
def test_a_warm_process_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(launch, "_bubblewrap", lambda: ["/bin/sh", "-c", "echo no room >&2; exit 1", "--"])
    monkeypatch.setattr(launch, "obstacle", lambda: None)
    with pytest.raises(Infrastructure, match="no room"), contextlib.closing(Warm()) as warm:
        warm.start()
    monkeypatch.undo()
    launch.obstacle.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "apt install bubblewrap" in launch.obstacle()
    launch.obstacle.cache_clear()


ROOTLESS = f"""
import os, sys
from contextlib import closing
sys.path.insert(0, {str(HERE)!r})
from grader.sandbox import groups
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Warm
assert os.geteuid() != 0
assert not int([line for line in open('/proc/self/status') if line.startswith('CapEff')][0].split()[1], 16)
groups.make = lambda limits, pid: None
with closing(Warm()) as warm:
    with warm.kernel(Limits(memory_mb=200, disk_mb=4)) as kernel:
        for source in ("import os; print(os.getpid(), os.listdir('/proc'))",
                       "try: open('/tmp/x', 'wb').write(b'x' * (5 << 20))\\nexcept OSError: print('full')",
                       "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))", "x = bytearray(1 << 30)"):
            ran = kernel.run(source)
            print(ran.error, [output.get('text') for output in ran.outputs])
"""


@pytest.mark.slow
def test_it_needs_no_root(tmp_path):
    if reason := launch.obstacle():
        missing("the sandbox", reason)
    command = [*ordinary_user.prefix(), sys.executable, "-c", ROOTLESS]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("None") and "1 [" in lines[0] and "cpuinfo" in lines[0]
    assert lines[1:3] == ["None ['full\\n']", "None ['-1\\n']"] and lines[3].startswith("MemoryError")
