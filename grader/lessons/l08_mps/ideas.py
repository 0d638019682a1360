# Wrong ideas and right variants of lesson 08 (see grader/ideas.py).

# %% wrong 08-t-device loses=automatic,refuse
# What was built is usable.
def choose_device(built, usable, prefer):
    best = built or "cpu"
    if prefer is None:
        return best
    return prefer if prefer in ("cpu", best) else "error"

# %% wrong 08-t-device loses=refuse
# A wish is a command.
def choose_device(built, usable, prefer):
    return prefer or (built if built and usable else "cpu")

# %% wrong 08-t-device loses=refuse
# A wish that cannot be met becomes the CPU.
def choose_device(built, usable, prefer):
    best = built if built and usable else "cpu"
    return best if prefer is None else prefer if prefer == best else "cpu"

# %% wrong 08-t-device loses=wish,refuse
# The best is given, whatever was wished.
def choose_device(built, usable, prefer):
    return built if built and usable else "cpu"

# %% wrong 08-t-device loses=wish
# Who has a GPU does not mean the CPU.
def choose_device(built, usable, prefer):
    best = built if built and usable else "cpu"
    if prefer is None:
        return best
    return best if prefer in ("cpu", best) else "error"

# %% wrong 08-t-device loses=refuse
# An exception is a refusal.
def choose_device(built, usable, prefer):
    best = built if built and usable else "cpu"
    if prefer not in (None, "cpu", best):
        raise ValueError(prefer)
    return prefer or best

# %% wrong 08-t-device loses=automatic,refuse
# An accelerator that does not work is an error.
def choose_device(built, usable, prefer):
    if built and not usable:
        return prefer if prefer == "cpu" else "error"
    best = built or "cpu"
    return best if prefer is None else prefer if prefer in ("cpu", best) else None

# %% wrong 08-t-device loses=automatic,wish
# Only cuda counts.
def choose_device(built, usable, prefer):
    best = "cuda" if built == "cuda" and usable else "cpu"
    return best if prefer is None else prefer if prefer in ("cpu", best) else "error"

# %% wrong 08-t-device loses=refuse
# Any accelerator meets a wish for an accelerator.
def choose_device(built, usable, prefer):
    if prefer in (None, "cpu"):
        return prefer or (built if built and usable else "cpu")
    return built if built and usable else "error"

# %% right 08-t-device
# What works, as a set.
def choose_device(built, usable, prefer):
    working = {"cpu"} | ({built} if built and usable else set())
    if prefer:
        return prefer if prefer in working else "error"
    return built if built in working else "cpu"

# %% right 08-t-device
# One case after the other.
def choose_device(built, usable, prefer):
    if prefer == "cpu":
        return "cpu"
    if built is None or not usable:
        return "cpu" if prefer is None else "error"
    if prefer is not None and prefer != built:
        return "error"
    return built

# %% right 08-t-device
# A wish is looked up, and a refusal caught.
def choose_device(built, usable, prefer):
    works = {"cpu": "cpu", None: "cpu"}
    if usable and built is not None:
        works[built] = works[None] = built
    try:
        return works[prefer]
    except KeyError:
        return "error"

# %% right 08-t-device
# torch's device types.
import torch

def choose_device(built, usable, prefer):
    best = torch.device(built if built is not None and usable else "cpu")
    wished = best if prefer is None else torch.device(prefer)
    return wished.type if wished in (best, torch.device("cpu")) else "error"

# %% right 08-t-device
# A device for an answer.
import torch

def choose_device(built, usable, prefer):
    best = torch.device(built if built is not None and usable else "cpu")
    wished = best if prefer is None else torch.device(prefer)
    return wished if wished in (best, torch.device("cpu")) else "error"

# %% wrong 08-t-step loses=fallback
# An operation that falls back also works on the device.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not allowed and not all(op[0] for op in ops):
        return None
    return sum(op[1] if op[0] else sum(op[1:]) for op in ops)

# %% wrong 08-t-step loses=fallback
# Copies are free.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not allowed and not all(op[0] for op in ops):
        return None
    return sum(op[1] if op[0] else op[2] for op in ops)

# %% wrong 08-t-step loses=native,fallback,error,edges
# Every operation copies.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not allowed and not all(op[0] for op in ops):
        return None
    return sum((op[1] if op[0] else op[2]) + op[3] for op in ops)

# %% wrong 08-t-step loses=fallback
# One missing kernel moves the whole step to the CPU.
def step_ms(ops, fallback):
    if all(op[0] for op in ops):
        return sum(op[1] for op in ops)
    if fallback is None or int(fallback) == 0:
        return None
    return sum(op[2] + op[3] for op in ops)

# %% wrong 08-t-step loses=edges
# A variable that is set is on.
def step_ms(ops, fallback):
    if fallback is None and not all(op[0] for op in ops):
        return None
    return sum(op[1] if op[0] else op[2] + op[3] for op in ops)

# %% wrong 08-t-step loses=fallback
# Only "1" is on.
def step_ms(ops, fallback):
    if fallback != "1" and not all(op[0] for op in ops):
        return None
    return sum(op[1] if op[0] else op[2] + op[3] for op in ops)

# %% wrong 08-t-step loses=error,edges
# What is missing is left out.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    return sum(op[1] if op[0] else (op[2] + op[3]) * allowed for op in ops)

# %% wrong 08-t-step loses=edges
# An empty step has no time.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not ops or (not allowed and not all(op[0] for op in ops)):
        return None
    return sum(op[1] if op[0] else op[2] + op[3] for op in ops)

# %% wrong 08-t-step loses=fallback
# CPU and device work at the same time.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not allowed and not all(op[0] for op in ops):
        return None
    return max(sum(op[1] for op in ops if op[0]), sum(op[2] + op[3] for op in ops if not op[0]))

# %% wrong 08-t-step loses=native,fallback,error,edges
# The CPU does everything.
def step_ms(ops, fallback):
    allowed = fallback is not None and int(fallback) != 0
    if not allowed and not all(op[0] for op in ops):
        return None
    return sum(op[2] for op in ops)

# %% right 08-t-step
# Raise and catch.
def step_ms(ops, fallback):
    def cost(native, device_ms, cpu_ms, copies_ms):
        if native:
            return device_ms
        if not int(fallback or 0):
            raise NotImplementedError
        return cpu_ms + copies_ms

    try:
        return sum(cost(*op) for op in ops)
    except NotImplementedError:
        return None

# %% right 08-t-step
# numpy columns.
import numpy

def step_ms(ops, fallback):
    table = numpy.array(ops, dtype=float).reshape(-1, 4)
    native = table[:, 0] == 1
    if not native.all() and int(fallback or "0") == 0:
        return None
    return numpy.where(native, table[:, 1], table[:, 2] + table[:, 3]).sum()

# %% right 08-t-step
# Two sums.
def step_ms(ops, fallback):
    missing = [op for op in ops if not op[0]]
    if missing and (fallback is None or fallback.strip() == "0"):
        return None
    return sum(op[1] for op in ops if op[0]) + sum(op[2] for op in missing) + sum(op[3] for op in missing)

# %% right 08-t-step
# A tensor for an answer.
import torch

def step_ms(ops, fallback):
    if any(not native for native, *_ in ops) and not (fallback and int(fallback)):
        return None
    return torch.tensor([op[1] if op[0] else op[2] + op[3] for op in ops], dtype=torch.float64).sum()

# %% wrong 08-pick-by-hand reason=built
# Built is usable.
import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_built), ("xpu", torch.xpu.is_available)):
        if usable():
            return name
    return "cpu"

# %% wrong 08-pick-by-hand reason=idle
# There is only cuda.
import torch
pick_by_hand = lambda: "cuda" if torch.cuda.is_available() else "cpu"

# %% wrong 08-pick-by-hand reason=raised
# The question is asked in advance.
import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available()), ("xpu", torch.xpu.is_available())):
        if usable():
            return name
    return "cpu"

# %% wrong 08-pick-by-hand reason=not-the-best
# A function is true.
import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available), ("xpu", torch.xpu.is_available)):
        if usable:
            return name
    return "cpu"

# %% wrong 08-pick-by-hand reason=no-device
# Nobody at home is None.
import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available), ("xpu", torch.xpu.is_available)):
        if usable():
            return name

# %% wrong 08-pick-by-hand reason=built
# The accelerator of the build.
import torch
pick_by_hand = lambda: torch.accelerator.current_accelerator() or "cpu"

# %% wrong 08-pick-by-hand reason=idle
# My machine is everybody's.
pick_by_hand = lambda: "cpu"

# %% wrong 08-pick-by-hand gets=not_attempted reason=placeholder
# The last blank fills itself.
import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available), ("xpu", torch.xpu.is_available)):
        if usable():
            return name
    return ...

# %% wrong 08-pick-by-hand reason=not-the-best
# Everybody has a Mac.
pick_by_hand = lambda: "mps"

# %% right 08-pick-by-hand
# torch.accelerator.
import torch
pick_by_hand = lambda: torch.accelerator.current_accelerator(check_available=True) or "cpu"

# %% right 08-pick-by-hand
# A chain of ifs, devices for answers.
import torch

def pick_by_hand():
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("xpu" if torch.xpu.is_available() else "cpu")

# %% right 08-pick-by-hand
# With an index.
import torch
pick_by_hand = lambda: "cuda:0" if torch.cuda.is_available() else "mps:0" if torch.mps.is_available() else "xpu:0" if torch.xpu.is_available() else "cpu"

# %% right 08-pick-by-hand
# Devices are counted.
import torch
pick_by_hand = lambda: next((kind for kind in ("cuda", "mps", "xpu") if getattr(torch, kind).device_count()), "cpu")

# %% wrong 08-pick-device reason=built
# What was built is usable.
import torch

def pick_device(prefer=None):
    return torch.device(prefer) if prefer else torch.accelerator.current_accelerator() or torch.device("cpu")

# %% wrong 08-pick-device gets=partly reason=not-refused
# A wish is a command.
import torch

def pick_device(prefer=None):
    return torch.device(prefer or torch.accelerator.current_accelerator(check_available=True) or "cpu")

# %% wrong 08-pick-device gets=partly reason=not-refused
# Wishes are ignored.
import torch
pick_device = lambda prefer=None: torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

# %% wrong 08-pick-device gets=partly reason=no-value-error
# RuntimeError is a refusal.
import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer not in (None, "cpu", best.type):
        raise RuntimeError(prefer)
    return torch.device(prefer) if prefer else best

# %% wrong 08-pick-device gets=partly reason=no-value-error
# assert refuses.
import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    assert prefer in (None, "cpu", best.type)
    return torch.device(prefer) if prefer else best

# %% wrong 08-pick-device gets=partly reason=not-refused
# The second best is good enough.
import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    return torch.device(prefer) if prefer in ("cpu", best.type) else best

# %% wrong 08-pick-device gets=partly reason=wish-ignored
# Who has a GPU does not mean the CPU.
import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer not in (None, best.type):
        raise ValueError(prefer)
    return best

# %% wrong 08-pick-device gets=partly reason=no-device
# A name is a device.
import torch

def pick_device(prefer=None):
    best = (torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")).type
    if prefer not in (None, "cpu", best):
        raise ValueError(prefer)
    return prefer or best

# %% wrong 08-pick-device gets=partly reason=no-value-error
# Nobody has a wish.
import torch
pick_device = lambda: torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

# %% right 08-pick-device
# By hand.
import torch

def pick_device(prefer=None):
    usable = [kind for kind in ("cuda", "mps", "xpu") if getattr(torch, kind).is_available()] + ["cpu"]
    if prefer is None:
        return torch.device(usable[0])
    if prefer in usable:
        return torch.device(prefer)
    raise ValueError(f"{prefer} is not usable here")

# %% right 08-pick-device
# An error of its own kind.
import torch

class NoSuchDevice(ValueError):
    pass

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    wished = torch.device(prefer or best)
    if wished.type not in ("cpu", best.type):
        raise NoSuchDevice(prefer)
    return wished

# %% right 08-pick-device
# A table of answers.
import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    try:
        return {None: best, "cpu": torch.device("cpu"), best.type: best}[prefer]
    except KeyError:
        raise ValueError(prefer) from None

# %% right 08-pick-device
# list.index raises ValueError by itself.
import torch

def pick_device(prefer=None):
    devices = ["cpu", *(kind for kind in ("cuda", "mps", "xpu") if getattr(torch, kind).is_available())]
    return torch.device(devices[devices.index(prefer) if prefer else -1])

# %% wrong 08-script reason=too-late
# Setting it after the import is soon enough.
script = "import os, torch\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'"

# %% wrong 08-script reason=too-late
# A part of torch is not torch.
script = "from torch import nn\nimport os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'"

# %% wrong 08-script reason=not-set
# The name is nearly right.
script = "import os\nos.environ['PYTORCH_MPS_FALLBACK'] = '1'\nimport torch"

# %% wrong 08-script reason=no-whole-number
# Zero is a value like any other.
script = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '0'\nimport torch"

# %% wrong 08-script reason=no-whole-number
# True is a number.
script = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = 'True'\nimport torch"

# %% wrong 08-script reason=not-set
# A Python variable is an environment variable.
script = "PYTORCH_ENABLE_MPS_FALLBACK = '1'\nimport torch"

# %% wrong 08-script reason=no-import
# torch need not be imported.
script = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'"

# %% wrong 08-script reason=script-failed
# The value is a number.
script = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = 1\nimport torch"

# %% right 08-script
# putenv, which changes what the library reads.
script = "import os\nos.putenv('PYTORCH_ENABLE_MPS_FALLBACK', '1')\nimport torch\n"

# %% right 08-script
# With three dots in what it prints.
script = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'\nprint('working...')\nimport torch\nprint('done ...')"

# %% right 08-script
# setdefault, and a part of torch.
script = "import os\nos.environ.setdefault('PYTORCH_ENABLE_MPS_FALLBACK', '1')\nfrom torch import nn"

# %% right 08-script
# update, another whole number.
script = "from os import environ\nenviron.update(PYTORCH_ENABLE_MPS_FALLBACK='2')\nimport torch.nn as nn"

# %% wrong 08-seconds reason=cast-first
# Cast first, then subtract.
seconds_since_start = lambda stamps: stamps.float() - stamps.float()[0]

# %% wrong 08-seconds gets=partly reason=dtype
# float64 goes to the GPU.
seconds_since_start = lambda stamps: stamps - stamps[0]

# %% wrong 08-seconds reason=zero-point
# The earliest is the start.
seconds_since_start = lambda stamps: (stamps - stamps.min()).float()

# %% wrong 08-seconds reason=dtype
# Half precision is enough.
seconds_since_start = lambda stamps: (stamps - stamps[0]).half()

# %% wrong 08-seconds reason=cast-first
# Whole seconds are enough.
seconds_since_start = lambda stamps: (stamps - stamps[0]).round().float()

# %% wrong 08-seconds reason=input-changed
# In place is for free.
seconds_since_start = lambda stamps: stamps.sub_(stamps[0].clone()).float()

# %% wrong 08-seconds reason=zero-point
# The last is the start.
seconds_since_start = lambda stamps: (stamps - stamps[-1]).float()

# %% wrong 08-seconds reason=no-tensor
# A list is a tensor.
seconds_since_start = lambda stamps: list(stamps - stamps[0])

# %% right 08-seconds
# sub and to.
import torch
seconds_since_start = lambda stamps: stamps.sub(stamps[0]).to(torch.float32)

# %% right 08-seconds
# Through numpy.
import torch
seconds_since_start = lambda stamps: torch.from_numpy((stamps.numpy() - stamps.numpy()[0]).astype("float32"))

# %% right 08-seconds
# Python's floats.
import torch
seconds_since_start = lambda stamps: torch.tensor([value - stamps[0].item() for value in stamps.tolist()], dtype=torch.float32)

# %% right 08-seconds
# Sums of the steps between neighbours.
import torch
seconds_since_start = lambda stamps: torch.cat([stamps.new_zeros(1), stamps.diff().cumsum(0)]).type(torch.float)

# %% wrong 08-make-it-lose reason=float32-holds
# Fractions are hard.
numbers = [1.0, 2.5, 4.0]

# %% wrong 08-make-it-lose reason=float32-holds
# Large numbers are enough.
numbers = [1e8, 2e8]

# %% wrong 08-make-it-lose reason=out-of-range
# Beyond the range counts.
numbers = [1e300, 1.0]

# %% wrong 08-make-it-lose reason=no-spread
# Equal numbers differ least.
numbers = [5.0, 5.0]

# %% wrong 08-make-it-lose reason=no-list
# One number is lost.
numbers = [123456789.0]

# %% wrong 08-make-it-lose reason=float32-holds
# Sixteen million is safe to leave.
numbers = [16_777_214, 16_777_215, 16_777_216]

# %% wrong 08-make-it-lose reason=no-list
# A number is a list.
numbers = 100_000_001.0

# %% right 08-make-it-lose
# Unix times, whole numbers.
numbers = [1_700_000_000, 1_700_000_030]

# %% right 08-make-it-lose
# Small, but close together; a tuple.
numbers = (0.1, 0.1 + 1e-9)

# %% right 08-make-it-lose
# An array.
import numpy
numbers = numpy.array([1e9, 1e9 + 7])

# %% right 08-make-it-lose
# A tensor of float64.
import torch
numbers = torch.tensor([3e8, 3e8 + 3], dtype=torch.float64)
