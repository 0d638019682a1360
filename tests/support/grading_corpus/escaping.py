"""Attempts to see, reach or leave something outside. Whatever succeeds prints ESCAPED, which no output may hold."""

from __future__ import annotations

from tests.support.grading_corpus.base import Hostile

OUT = "ESC' 'APED"  # so that the source does not hold the word

READ = f"""
import os
names = ['/etc/passwd', '/etc/shadow', '/root/.ssh', '/root/.bashrc', '/home/*', 'COURSE_ROOT', 'COURSE_ROOT/marking_secret',
         'COURSE_ROOT/gradebook.db', 'COURSE_ROOT/source', 'COURSE_ROOT/submitted', 'CHECKOUT_ROOT/grader', '/proc/self/environ',
         '/proc/1/environ', '/proc/self/maps', '/proc/net/unix', '/sys/fs/cgroup', '/sys/class/net', '/run', '/var', '/mnt',
         '/dev/sda', '/dev/mem', '/dev/kmsg', '/dev/fuse', '/dev/kvm', '/dev/net/tun', '/opt/course/grader']
for name in names:
    if os.path.exists(name): print('{OUT}', name)
for folder, below, files in os.walk('/', followlinks=True):
    if folder.startswith(('/usr', '/opt/python', '/sys', '/lib', '/bin', '/sbin')) or 'pyenv' in folder:
        below.clear()
        continue
    for name in files:
        if name in ('marking_secret', 'gradebook.db', 'nbgrader_config.py', 'checkpoint.md', 'keys.yaml'):
            print('{OUT}', folder, name)
"""
WRITE = f"""
import os
for folder in ('/', '/dev', '/usr', '/usr/local', '/etc', '/opt', '/opt/course', '/opt/course/course', '/opt/python/bin',
               '/opt/python/lib', '/proc', '/sys', '/home', '/root', '/var/tmp', '/lib', '/dev/pts', '/dev/fd'):
    try:
        open(os.path.join(folder, 'CORPUS_CANARY'), 'w').close()
        print('{OUT}', folder)
    except OSError:
        pass
for place in ('/tmp', '/dev/shm', '/home/student', '.'):
    open(os.path.join(place, 'CORPUS_CANARY'), 'w').close()
"""
SECOND = f"""
import os
for folder in ('/tmp', '/dev/shm', '/home/student', '.', '/dev'):
    if [name for name in os.listdir(folder) if 'CANARY' in name]: print('{OUT}', folder)
"""
NETWORK = f"""
import socket
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for place in (('127.0.0.1', LISTENER_PORT), ('::1', LISTENER_PORT), ('10.0.2.2', LISTENER_PORT), ('8.8.8.8', 53)):
            try:
                one = socket.socket(family, kind)
                one.settimeout(0.2)
                one.connect(place)
                one.send(b'CORPUS_CANARY')
                print('{OUT}', family, kind, place)
            except OSError:
                pass
for name in ('\\0CORPUS_CANARY', '/tmp/.X11-unix/X0', '/run/dbus/system_bus_socket', '/var/run/docker.sock'):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        print('{OUT}', name)
    except OSError:
        pass
for number in (16, 17, 38, 40, 29, 44):  # netlink, packet, alg, vsock, can, xdp
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(number, kind)
            print('{OUT}', number)
        except OSError:
            pass
try:
    socket.getaddrinfo('example.org', 80)
    print('{OUT} names')
except OSError:
    pass
"""
CALLS = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
tried = dict(unshare=(0x10000000,), chroot=(b'.',), mount=(b'x', b'/tmp', b'tmpfs', 0, 0), umount2=(b'/tmp', 2),
             ptrace=(16, 1, 0, 0), sethostname=(b'x', 1), setuid=(65534,), personality=(0x0040000,), memfd_create=(b'x', 0),
             shmget=(0, 4096, 0o1600), swapon=(b'/tmp/x', 0), reboot=(0,), pivot_root=(b'/tmp', b'/tmp'))
for name, arguments in tried.items():
    if name != 'pivot_root' and getattr(libc, name)(*arguments) != -1: print('{OUT}', name)
for number in (425, 321, 250, 298, 323, 272, 308, 438, 206, 253, 294, 300, 303, 304, 310, 311, 312, 319, 428, 442, 447):
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1: print('{OUT}', number)
"""
LEASES = f"""
import fcntl, glob, os
for name in [*glob.glob('/opt/course/course/lessons/*/*.yaml'), *glob.glob('/opt/course/course/lessons/*/*.py'), os.__file__]:
    for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
        try:
            fcntl.fcntl(os.open(name, os.O_RDONLY), fcntl.F_SETLEASE, kind)
            print('{OUT}', name)
        except OSError:
            pass
"""
TERMINALS = f"""
import os
if os.listdir('/dev/pts') != ['ptmx']: print('{OUT}', os.listdir('/dev/pts'))
made = []
try:
    while len(made) < 100: made.append(os.openpty())
    print('{OUT}', len(made))
except OSError:
    pass
"""
FDS = """
import os, socket
mine, other = socket.socketpair()
for number in range(3, 20):
    try:
        one = socket.socket(fileno=os.dup(number))
        for _ in range(20): socket.send_fds(one, [b''], [mine.fileno()] * 100)
    except OSError: continue
"""
FRAMES = """
import json, os, socket, struct
def frame(data): return struct.pack('!I', len(data)) + data
for number in range(3, 20):
    try: one = socket.socket(fileno=os.dup(number))
    except OSError: continue
    for data in (DATA):
        try: one.sendall(data)
        except OSError: pass
"""
DONE = "frame(json.dumps({'done': {'error': None, 'count': 1}}).encode())"
PROBE = (
    "frame(json.dumps({'output': {'output_type': 'display_data', 'metadata': {}, 'data': {"
    "'application/vnd.torch-backends-course.probe+json': json.dumps({'call': n, 'state': 'value', 'value': 0.5})}}}"
    ").encode())"
)
LEFT = """
import os, subprocess, sys, time
code = "import time; time.sleep(600)  # CORPUS_CANARY"
"""


SHADOWED = "tabulate json torch numpy course sitecustomize usercustomize inside grader colorsys sched __main__"


def frames(data: str) -> str:
    return FRAMES.replace("DATA", data.rstrip(",") + ",")


CASES = (
    Hostile("reads-what-is-there", harm=READ),
    Hostile(
        "reads-its-environment",
        harm="import os\nfor name, value in os.environ.items():\n"
        f"    if 'CORPUS_CANARY' in value or 'SECRET' in name: print('{OUT}', name)",
    ),
    Hostile("writes-everywhere", harm=WRITE),
    Hostile("looks-for-traces", harm=SECOND),
    Hostile("looks-for-traces-too", harm=SECOND),
    Hostile("uses-the-network", harm=NETWORK),
    Hostile("calls-the-kernel", harm=CALLS),
    Hostile("becomes-root", harm="!sudo -n true; su -c true; mount -t tmpfs x /tmp; unshare -r true"),
    Hostile(
        "imports-the-grader",
        harm=f"try:\n    import grader\n    print('{OUT}')\nexcept ImportError:\n    pass\n"
        "import gc, sys\nassert not [name for name in sys.modules if name.startswith(('grader', 'nbgrader'))]",
    ),
    Hostile(
        "sends-to-descriptors",
        harm="import os\nfor number in range(3, 64):\n    try: os.write(number, b'x' * 9)\n    except OSError: pass",
        verdict="killed",
    ),
    Hostile("closes-all-descriptors", harm="import os\nos.closerange(0, 1000)", verdict="killed"),
    # results come one cell late, and the calls of a task are asked together
    Hostile("forges-done", harm=frames(DONE) + "\nimport time\ntime.sleep(1e6)", verdict="ANY", points=0),
    Hostile(
        "forges-done-and-deaf",
        harm=frames(DONE) + "\nimport signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(1e6)",
        verdict="ANY",
        points=0,
        report="report = {'median_ms': 1.25, 'repeats': 7}\n" + "#" * 2_000_000,
    ),
    Hostile(
        "forges-results",
        task="def contrast(low, high): return 0.5\n",
        points=3,
        verdict="wrong",
        harm=frames(f"*[{PROBE} for n in range(9)], b''"),
    ),
    Hostile("forges-hello", harm=frames("frame(json.dumps({'hello': 1}).encode()), frame(b'{\"failed\": \"x\"}')")),
    Hostile("forges-length", harm=frames("b'\\xff\\xff\\xff\\xff' + b'x' * 100,"), verdict="killed"),
    Hostile("forges-rubbish", harm=frames("frame(b'not JSON'),"), verdict="killed"),
    Hostile("forges-nesting", harm=frames("frame(b'[' * 10**6),"), verdict="killed"),
    Hostile(
        "forges-outputs",
        harm=frames(
            "*[frame(json.dumps({'output': o}).encode()) for o in (7, None, [], {}, {'output_type': 'stream'}, "
            "{'output_type': 'stream', 'name': 'stdout', 'text': 5}, {'output_type': 'stream', 'name': ['x']}, "
            "{'output_type': [1]}, {'output_type': 'error', 'ename': 1, 'traceback': [2, 'x']}, {'output_type': 'display_data', "
            "'data': {'text/plain': 5, 'text/html': ['x'], 'image/png': {}}, 'metadata': 'no', 'display_id': {'a': 1}}, "
            "{'output_type': 'execute_result', 'data': {'text/plain': 'x'}, 'execution_count': 'x', 'metadata': {'filenames': 3}})],"
            "*[frame(json.dumps(m).encode()) for m in ({}, {'update': 3}, {'clear': {}}, {'done': 5}, {'clear': True})]"
        ),
    ),
    Hostile(
        "forges-a-strange-count",
        harm=frames(
            'frame(b\'{"done": {"count": -7}}\'), frame(b\'{"done": {"count": 1e999}}\'),'
            "frame(b'{\"done\": {\"count\": ' + b'9' * 4000 + b'}}'),"
        ),
        verdict="ANY",
        points=0,
    ),
    Hostile(
        "forges-shallow-nesting",
        harm=frames("*[frame(b'{\"output\": ' + b'[' * n + b']' * n + b'}') for n in (100, 400, 900)],"),
        verdict="ok|killed",
    ),
    Hostile(
        "forges-a-million-parts",
        harm=frames("frame(b'{\"output\": [' + b'{},' * 4_000_000 + b'0]}'),"),
        verdict="killed|output",
    ),
    Hostile("sends-descriptors-along", harm=FDS),
    Hostile("makes-others-wait-for-files", harm=LEASES),
    Hostile("opens-terminals", harm=TERMINALS),
    Hostile("opens-terminals-too", harm=TERMINALS),
    Hostile(
        "ends-by-a-lowered-limit",
        harm="import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
        verdict="killed|timeout",
    ),
    Hostile(
        "ends-in-another-program",
        verdict="killed",
        harm="import os, resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))\nos.execv('/bin/true', ['true'])",
    ),
    Hostile(
        "ends-by-a-filter-of-its-own",
        verdict="killed",
        harm="import ctypes, struct\nlibc = ctypes.CDLL(None)\n"
        "code = ctypes.create_string_buffer(struct.pack('=HBBI', 6, 0, 0, 0x80000000))\n"
        "class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('lines', ctypes.c_void_p)]\n"
        "libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.addressof(code))))",
    ),
    Hostile("forges-a-flood", harm=frames("*([frame(b'{}') * 1000] * 60),"), verdict="ANY"),
    Hostile(
        "leaves-processes",
        harm=LEFT + "for _ in range(3):\n"
        "    subprocess.Popen([sys.executable, '-S', '-c', code], start_new_session=True)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)",
    ),
    Hostile(
        "leaves-nohup",
        harm=LEFT + "open('stay.py', 'w').write(code)\nos.system('nohup python3 -S stay.py >/dev/null 2>&1 &')",
    ),
    Hostile("leaves-atexit", harm="import atexit\natexit.register(print, 'x')\natexit.register(lambda: 1 / 0)"),
    Hostile(
        "shadows-modules",
        files={f"{name}.py": "raise SystemExit('shadowed')\n" for name in SHADOWED.split()}
        | {".ipython/profile_default/startup/00.py": "1 / 0\n", "torch/__init__.py": "1 / 0\n"},
        harm="import colorsys, sched, torch, json, course\nassert 'student' not in colorsys.__file__",
    ),
)
