"""What uses up time, memory, processes, disk or patience."""

from __future__ import annotations

from nbformat.v4 import new_code_cell

from tests.support.grading_corpus.base import Hostile

CASES = (
    Hostile("endless", harm="while True: pass", verdict="timeout", says="out of time"),
    Hostile("sleeps-in-a-program", harm="!sleep 1000", verdict="timeout", says="out of time"),
    Hostile(
        "swallows-the-interrupt",
        harm="import time\nwhile True:\n    try: time.sleep(100)\n    except BaseException: pass",
        verdict="timeout",
        says="did not stop",
    ),
    Hostile(
        "endless-when-called",
        task="def contrast(low, high):\n    while low == 0: pass\n    return (high - low) / (high + low)\n",
        points=5,
        verdict="timeout",
        shows="the time was used up",
    ),
    Hostile("huge-power", harm="x = 9 ** 9 ** 9", verdict="timeout", says="out of time"),
    Hostile("fork-bomb", harm="import os\nwhile True: os.fork()", verdict="raised|timeout|memory"),
    Hostile("fork-bomb-in-the-shell", harm="!bomb() { bomb | bomb & }; bomb; sleep 0.3"),
    Hostile(
        "thread-bomb",
        harm="import threading, time\nfor _ in range(100000):\n"
        "    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()",
        verdict="raised",
    ),
    Hostile(
        "threads-stay",
        harm="import threading, time\ndef talk():\n    while True:\n        print('noise')\n"
        "        time.sleep(0.01)\nfor _ in range(3): threading.Thread(target=talk, daemon=True).start()",
    ),
    Hostile("memory-hog", harm="hog = bytearray(1 << 40)", verdict="memory"),
    Hostile(
        "memory-hog-in-torch",
        harm="import torch\nhog = [torch.ones(1 << 22) for _ in range(4096)]",
        verdict="memory|timeout",
    ),
    Hostile(
        "memory-hogs",
        harm="import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        hog = []\n"
        "        while True: hog.append(bytearray(os.urandom(1 << 20)) * 16)\ntime.sleep(1.0)",
        verdict="ANY",
    ),
    Hostile(
        "memory-hog-when-called",
        task="def contrast(low, high):\n    if low == 0: x = [0] * 10**12\n    return (high - low) / (high + low)\n",
        points=5,
        verdict="memory",
        shows="MemoryError",
    ),
    Hostile("prints-a-lot-at-once", harm="print('x' * 50_000_000)", verdict="output", shows="cut"),
    Hostile("prints-a-million-lines", harm="for n in range(100_000): print(n)", verdict="output|timeout"),
    Hostile(
        "updates-without-end",
        harm="from IPython.display import display\nh = display(0, display_id=True)\n"
        "for n in range(8_000): h.update('x' * 100)",
        verdict="ANY",
    ),
    Hostile(
        "copies-one-output",
        harm="from IPython.display import display, update_display\n"
        "for _ in range(500): display('', display_id='same')\nupdate_display('x' * 400_000, display_id='same')",
        verdict="output|timeout",
    ),
    Hostile(
        "floods-below-python",
        harm="import os\ntry:\n    while True: os.write(1, b'x' * (1 << 20))\nexcept OSError as error: print(error)",
        verdict="output",
    ),
    Hostile(
        "floods-from-a-program-below-ipython",
        harm="import subprocess\nsubprocess.run(\"head -c 150000000 /dev/zero | tr '\\\\0' 'x'\", shell=True)",
        verdict="output|timeout",
    ),
    Hostile(
        "fills-the-disk",
        harm="with open('big', 'wb') as file:\n    while True: file.write(b'x' * (1 << 20))",
        verdict="raised",
        shows="OSError",
    ),
    Hostile(
        "fills-shared-memory",
        harm="n = 0\nwhile True:\n    n += 1\n    open(f'/dev/shm/{n}', 'wb').write(b'x' * (8 << 20))",
        verdict="raised",
    ),
    Hostile("opens-too-many", harm="files = []\nwhile True: files.append(open('/dev/null'))", verdict="raised"),
    Hostile("recursion", harm="def deeper(): deeper()\ndeeper()", verdict="raised|timeout"),
    Hostile(
        "zombies",
        harm="import os\ntry:\n    for _ in range(300):\n        if os.fork() == 0: os._exit(0)\nexcept OSError: pass",
        verdict="ok|timeout",
    ),
    Hostile(
        "hogs-the-processors",
        harm="import os, time\nfor _ in range(40):\n    try: child = os.fork()\n    except OSError: break\n"
        "    if child == 0:\n        os.setsid()\n        while True: pass\ntime.sleep(1)",
        verdict="ok|timeout",
    ),
    Hostile(
        "fills-with-files-nobody-sees",
        harm="import os\nkept = []\nwhile True:\n    kept.append(open('/tmp/x', 'wb'))\n"
        "    os.unlink('/tmp/x')\n    kept[-1].write(b'x' * (8 << 20))\n    kept[-1].flush()",
        verdict="raised",
    ),
    Hostile(
        "queues-signals",
        harm="import ctypes, os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [40])\nwaiting = 0\n"
        "while waiting < 9000 and ctypes.CDLL(None).sigqueue(os.getpid(), 40, None) == 0: waiting += 1\n"
        "if waiting > 5000: print('ESC' 'APED', waiting)",
    ),
    Hostile("stops-itself", harm="import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nos.kill(0, signal.SIGTSTP)"),
    Hostile("segfault", harm="import ctypes\nctypes.string_at(0)", verdict="killed", says="kernel ended"),
    Hostile("exits", harm="import os\nos._exit(0)", verdict="killed"),
    Hostile(
        "exits-too-often",
        harm="import os\nos._exit(0)",
        verdict="killed",
        points=0,
        says="were not run",
        change=lambda nb: [
            nb.cells.insert(0, new_code_cell("import os\nos._exit(1)", id=f"exit-{number}")) for number in range(4)
        ],
    ),
    Hostile(
        "exits-when-called",
        task="import os\ndef contrast(low, high):\n    if low == 0: os._exit(1)\n"
        "    return (high - low) / (high + low)\n",
        points=5,
        verdict="killed",
        shows="kernel had ended",
    ),
    Hostile("quits", harm="exit()", verdict="killed"),
    Hostile("system-exit", harm="raise SystemExit(3)", verdict="raised"),
    Hostile("kills-itself", harm="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    Hostile(
        "kills-parent-group-and-all",
        harm="import os, signal\nfor number in (os.getppid(), 0, -1, -os.getpgrp()):\n"
        "    for sign in (signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1):\n        try: os.kill(number, sign)\n"
        "        except OSError: pass",
        verdict="ok|killed",
    ),
)
