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
