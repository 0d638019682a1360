# Wrong ideas and right variants of lesson 13 (see grader/ideas.py).

# %% wrong 13-t-kernel loses=switches
# Math is always there.
def pick_kernel(call, allowed):
    shapes = [call["q"], call["k"], call["v"]]
    fits = (all(len(s) == 4 and s[:2] == shapes[0][:2] and s[3] == shapes[0][3] for s in shapes)
            and not call["dropout"] and call["mask"] != "learnt")
    return "flash" if fits and "flash" in allowed else "math"

# %% wrong 13-t-kernel loses=fits,switches,edges
# Flash needs a GPU.
def pick_kernel(call, allowed):
    return "math"

# %% wrong 13-t-kernel loses=fits,edges
# Flash refuses every mask.
def pick_kernel(call, allowed):
    shapes = [call["q"], call["k"], call["v"]]
    fits = (all(len(s) == 4 and s[:2] == shapes[0][:2] and s[3] == shapes[0][3] for s in shapes)
            and not call["dropout"] and call["mask"] == "none")
    if fits and "flash" in allowed:
        return "flash"
    return "math" if "math" in allowed else "error"

# %% wrong 13-t-kernel loses=fits
# Dropout is no reason.
def pick_kernel(call, allowed):
    shapes = [call["q"], call["k"], call["v"]]
    fits = (all(len(s) == 4 and s[:2] == shapes[0][:2] and s[3] == shapes[0][3] for s in shapes)
            and call["mask"] != "learnt")
    if fits and "flash" in allowed:
        return "flash"
    return "math" if "math" in allowed else "error"

# %% wrong 13-t-kernel loses=fits,switches,edges
# All shapes have to be equal.
def pick_kernel(call, allowed):
    same = call["q"] == call["k"] == call["v"] and len(call["q"]) == 4
    if same and not call["dropout"] and call["mask"] != "learnt" and "flash" in allowed:
        return "flash"
    return "math" if "math" in allowed else "error"

# %% wrong 13-t-kernel loses=fits
# Only the queries have to have four dimensions and a width.
def pick_kernel(call, allowed):
    fits = len(call["q"]) == 4 and not call["dropout"] and call["mask"] != "learnt"
    if fits and "flash" in allowed:
        return "flash"
    return "math" if "math" in allowed else "error"

# %% wrong 13-t-kernel loses=fits,edges
# Math goes first where it is allowed.
def pick_kernel(call, allowed):
    if "math" in allowed:
        return "math"
    return "flash" if "flash" in allowed and not call["dropout"] else "error"

# %% right 13-t-kernel
# Reasons in a list.
def pick_kernel(call, allowed):
    q, k, v = call["q"], call["k"], call["v"]
    reasons = [
        {len(q), len(k), len(v)} != {4},
        not q[:2] == k[:2] == v[:2],
        not q[-1] == k[-1] == v[-1],
        call["dropout"] > 0,
        call["mask"] == "learnt",
    ]
    order = [name for name in ("flash", "math") if name in allowed and not (name == "flash" and any(reasons))]
    return order[0] if order else "error"

# %% right 13-t-kernel
# One return after the other.
def pick_kernel(call, allowed):
    rest = "math" if "math" in allowed else "error"
    if "flash" not in allowed or call["dropout"] or call["mask"] == "learnt":
        return rest
    q, k, v = (tuple(call[name]) for name in "qkv")
    if not len(q) == len(k) == len(v) == 4:
        return rest
    return "flash" if q[:2] + q[3:] == k[:2] + k[3:] == v[:2] + v[3:] else rest

# %% right 13-t-kernel
# numpy compares the sizes.
import numpy

def pick_kernel(call, allowed):
    fits = call["dropout"] == 0 and call["mask"] in ("none", "fixed")
    fits = fits and all(len(call[name]) == 4 for name in "qkv")
    if fits:
        sizes = numpy.array([call[name] for name in "qkv"])[:, [0, 1, 3]]
        fits = bool((sizes == sizes[0]).all())
    for name, may in (("flash", fits), ("math", True)):
        if may and name in allowed:
            return name
    return "error"

# %% right 13-t-kernel
# Sets of what has to agree.
def pick_kernel(call, allowed):
    facts = {tuple(call[name][:2]) + (call[name][-1], len(call[name])) for name in ("q", "k", "v")}
    flash = len(facts) == 1 and facts.pop()[-1] == 4 and not call["dropout"] and call["mask"] != "learnt"
    allowed = set(allowed)
    return "flash" if flash and "flash" in allowed else "math" if "math" in allowed else "error"

# %% wrong 13-t-compiles loses=distinct,free,limit
# Every call compiles.
def compilations(calls, guarded, limit):
    return len(calls)

# %% wrong 13-t-compiles loses=distinct
# Going back compiles again.
def compilations(calls, guarded, limit):
    count, last = 0, None
    for call in calls:
        state = [call[name] for name in guarded]
        count += state != last
        last = state
    return min(count, limit)

# %% wrong 13-t-compiles loses=free
# Every setting is checked.
def compilations(calls, guarded, limit):
    return min(len({tuple(call.items()) for call in calls}), limit)

# %% wrong 13-t-compiles loses=limit
# There is no limit.
def compilations(calls, guarded, limit):
    return len({tuple(call[name] for name in guarded) for call in calls})

# %% wrong 13-t-compiles loses=distinct,free,limit
# Compiled once and for all.
def compilations(calls, guarded, limit):
    return 1

# %% wrong 13-t-compiles loses=distinct,free,limit
# The first version is not counted.
def compilations(calls, guarded, limit):
    return min(len({tuple(call[name] for name in guarded) for call in calls}), limit) - 1

# %% wrong 13-t-compiles loses=distinct,limit
# Each setting is counted for itself.
def compilations(calls, guarded, limit):
    if not guarded:
        return min(1, len(calls))
    return min(max((len({call[name] for call in calls}) for name in guarded), default=0), limit)

# %% right 13-t-compiles
# A set of tuples.
def compilations(calls, guarded, limit):
    return min(limit, len({tuple(call[name] for name in guarded) for call in calls}))

# %% right 13-t-compiles
# A cache that fills.
def compilations(calls, guarded, limit):
    cache = {}
    for call in calls:
        key = repr([call[name] for name in guarded])
        if key not in cache and len(cache) < limit:
            cache[key] = True
    return len(cache)

# %% right 13-t-compiles
# Sorted names and JSON.
import json

def compilations(calls, guarded, limit):
    keys = [json.dumps({name: call[name] for name in sorted(guarded)}) for call in calls]
    return min(limit, len(dict.fromkeys(keys)))

# %% right 13-t-compiles
# Counting with a loop of its own.
def compilations(calls, guarded, limit):
    count = 0
    for place, call in enumerate(calls):
        known = any(all(call[name] == earlier[name] for name in guarded) for earlier in calls[:place])
        if not known and count < limit:
            count += 1
    return count

# %% wrong 13-t-report loses=pairs,claim
# Two pairs are enough.
report = {"shape": [1, 2, 64, 16], "threads": 1, "kernels": ["flash", "math"], "flash_ms": [1.0, 1.1],
          "math_ms": [2.0, 2.1], "low": 0.5, "high": 0.53, "difference": 1e-7, "claim": "faster"}

# %% wrong 13-t-report loses=claim
# A claim needs no interval.
report = {"shape": [1, 2, 64, 16], "threads": 1, "kernels": ["flash", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": None, "high": None, "difference": 1e-7, "claim": "faster"}

# %% wrong 13-t-report loses=claim
# An interval with 1 in it says slower.
report = {"shape": [1, 2, 64, 16], "threads": 1, "kernels": ["flash", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "difference": 1e-7, "claim": "slower"}

# %% wrong 13-t-report loses=witness
# Both sides ran math.
report = {"shape": [1, 2, 64, 16], "threads": 1, "kernels": ["math", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "difference": 0.0, "claim": "undecided"}

# %% wrong 13-t-report loses=witness
# The difference goes without saying.
report = {"shape": [1, 2, 64, 16], "threads": 1, "kernels": ["flash", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "claim": "undecided"}

# %% wrong 13-t-report loses=pairs
# The conditions go without saying.
report = {"kernels": ["flash", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "difference": 1e-7, "claim": "undecided"}

# %% wrong 13-t-report loses=pairs,witness,claim
# Sentences instead of figures.
report = {"shape": "small", "threads": "one", "kernels": "flash and math", "flash_ms": "about 1", "math_ms": "about 2",
          "low": "half", "high": "half", "difference": "tiny", "claim": "faster"}

# %% right 13-t-report
# Undecided, with the whole range as its interval.
report = {"shape": [1, 2, 64, 16], "threads": 2, "kernels": ["flash", "math"], "flash_ms": [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8],
          "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], "low": 0.8, "high": 1.3, "difference": 1e-7, "claim": "undecided"}

# %% right 13-t-report
# Faster, and written as tuples.
report = {"shape": (8, 4, 512, 64), "threads": 1, "kernels": ("flash", "math"), "flash_ms": (1.0, 1.1, 1.0, 1.2, 0.9, 1.0),
          "math_ms": (2.0, 2.0, 2.0, 2.0, 2.0, 2.0), "low": 0.45, "high": 0.6, "difference": 3e-7, "claim": "Faster"}

# %% right 13-t-report
# Slower, from a numpy array.
import numpy
report = {"shape": [1, 1, 8, 256], "threads": 4, "kernels": ["flash", "math"],
          "flash_ms": list(numpy.array([2.0, 2.1, 2.2, 1.9, 2.0, 2.0, 2.3])), "math_ms": [1.0] * 7,
          "low": 1.9, "high": 2.3, "difference": 0.0, "claim": "slower"}

# %% right 13-t-report
# With more in it than asked for.
report = {"machine": "a laptop", "shape": [2, 2, 32, 32], "threads": 1, "kernels": ["flash", "math"],
          "flash_ms": [0.5, 0.6, 0.5, 0.55, 0.5, 0.52], "math_ms": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
          "low": 0.5, "high": 0.6, "difference": 2e-7, "claim": "faster"}

# %% wrong 13-stays-fused reason=plain
# Flash needs a GPU.
stays_fused = lambda q, k, v, mask=None, dropout=0.0: q.is_cuda

# %% wrong 13-stays-fused reason=a-mask
# No mask at all.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    fits = all(t.dim() == 4 and t.stride(-1) == 1 and t.shape[-1] == q.shape[-1] for t in (q, k, v))
    return fits and mask is None and dropout == 0

# %% wrong 13-stays-fused reason=queries-that-want-gradients
# Any gradient is refused.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    fits = all(t.dim() == 4 and t.stride(-1) == 1 and t.shape[-1] == q.shape[-1] for t in (q, k, v))
    return fits and not q.requires_grad and not (mask is not None and mask.requires_grad) and dropout == 0

# %% wrong 13-stays-fused reason=a-dropout-of-1-%
# A little dropout does no harm.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    fits = all(t.dim() == 4 and t.stride(-1) == 1 and t.shape[-1] == q.shape[-1] for t in (q, k, v))
    return fits and not (mask is not None and mask.requires_grad) and dropout < 0.05

# %% wrong 13-stays-fused reason=transposed-queries
# Only keys have to lie side by side.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    fits = all(t.dim() == 4 and t.shape[-1] == q.shape[-1] for t in (q, k, v)) and k.stride(-1) == 1
    return fits and not (mask is not None and mask.requires_grad) and dropout == 0

# %% wrong 13-stays-fused reason=fewer-queries
# All shapes have to be equal.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    fits = q.shape == k.shape == v.shape and all(t.dim() == 4 and t.stride(-1) == 1 for t in (q, k, v))
    return fits and not (mask is not None and mask.requires_grad) and dropout == 0

# %% wrong 13-stays-fused reason=dropout
# It takes two reasons to refuse.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    learnt = mask is not None and mask.requires_grad
    fits = all(t.dim() == 4 and t.stride(-1) == 1 and t.shape[-1] == q.shape[-1] for t in (q, k, v))
    return fits and not (learnt and dropout > 0)

# %% wrong 13-stays-fused reason=bfloat16
# float32 only.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    learnt = mask is not None and mask.requires_grad
    fits = all(t.dim() == 4 and t.stride(-1) == 1 and t.shape[-1] == q.shape[-1] for t in (q, k, v))
    return fits and not learnt and dropout == 0 and "float32" in str(q.dtype)

# %% right 13-stays-fused
# One reason after the other.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    if dropout > 0 or getattr(mask, "requires_grad", False):
        return False
    if {q.dim(), k.dim(), v.dim()} != {4}:
        return False
    return {t.stride(-1) for t in (q, k, v)} == {1} and q.size(-1) == k.size(-1) == v.size(-1)

# %% right 13-stays-fused
# Any of the reasons.
def stays_fused(q, k, v, mask=None, dropout=0.0):
    return not any([
        dropout, mask is not None and mask.requires_grad, any(t.ndim != 4 for t in (q, k, v)),
        len({t.shape[-1] for t in (q, k, v)}) > 1, any(t.stride()[-1] != 1 for t in (q, k, v)),
    ])

# %% right 13-stays-fused
# A lambda.
stays_fused = lambda q, k, v, mask=None, dropout=0.0: bool(
    not dropout and (mask is None or not mask.requires_grad)
    and all(t.ndim == 4 and t.stride(3) == 1 and t.size(3) == v.size(-1) for t in (q, k, v)))

# %% right 13-stays-fused
# Ask torch itself.
import warnings
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

def stays_fused(q, k, v, mask=None, dropout=0.0):
    with warnings.catch_warnings(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        warnings.simplefilter("ignore")
        try:
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        except RuntimeError:
            return False
    return True

# %% wrong 13-kernel-gap gets=partly reason=left-off
# The switch may stay off.
import torch
from torch.nn import functional as F

def kernel_gap(q, k, v):
    torch.backends.cuda.enable_flash_sdp(True)
    flash = F.scaled_dot_product_attention(q, k, v)
    torch.backends.cuda.enable_flash_sdp(False)
    return (flash - F.scaled_dot_product_attention(q, k, v)).abs().max().item()

# %% wrong 13-kernel-gap gets=partly reason=default
# Back means on.
import torch
from torch.nn import functional as F

def kernel_gap(q, k, v):
    torch.backends.cuda.enable_flash_sdp(True)
    try:
        flash = F.scaled_dot_product_attention(q, k, v)
        torch.backends.cuda.enable_flash_sdp(False)
        return (flash - F.scaled_dot_product_attention(q, k, v)).abs().max().item()
    finally:
        torch.backends.cuda.enable_flash_sdp(True)

# %% wrong 13-kernel-gap gets=partly reason=exception
# Nothing will go wrong.
import torch
from torch.nn import functional as F

def kernel_gap(q, k, v):
    cuda = torch.backends.cuda
    before = cuda.flash_sdp_enabled()
    cuda.enable_flash_sdp(True)
    flash = F.scaled_dot_product_attention(q, k, v) if q.shape[1] == k.shape[1] == v.shape[1] else 0
    cuda.enable_flash_sdp(False)
    math = F.scaled_dot_product_attention(q, k, v)
    cuda.enable_flash_sdp(before)
    return (flash - math).abs().max().item()

# %% wrong 13-kernel-gap reason=kernels
# Both times the default.
from torch.nn import functional as F

def kernel_gap(q, k, v):
    return (F.scaled_dot_product_attention(q, k, v) - F.scaled_dot_product_attention(q, k, v)).abs().max().item()

# %% wrong 13-kernel-gap reason=number
# The largest with its sign.
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

def kernel_gap(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        flash = F.scaled_dot_product_attention(q, k, v)
    with sdpa_kernel(SDPBackend.MATH):
        return (flash - F.scaled_dot_product_attention(q, k, v)).max().item()

# %% wrong 13-kernel-gap reason=number
# The mean of the differences.
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

def kernel_gap(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        flash = F.scaled_dot_product_attention(q, k, v)
    with sdpa_kernel(SDPBackend.MATH):
        return (flash - F.scaled_dot_product_attention(q, k, v)).abs().mean().item()

# %% wrong 13-kernel-gap reason=no-number
# All the differences.
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

def kernel_gap(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        flash = F.scaled_dot_product_attention(q, k, v)
    with sdpa_kernel(SDPBackend.MATH):
        return (flash - F.scaled_dot_product_attention(q, k, v)).abs()

# %% wrong 13-kernel-gap reason=kernels
# The formula written out is the math kernel.
from torch.nn import functional as F

def kernel_gap(q, k, v):
    formula = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    return (F.scaled_dot_product_attention(q, k, v) - formula).abs().max().item()

# %% right 13-kernel-gap
# A loop over the kernels, a tensor as the number.
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

def kernel_gap(q, k, v):
    results = []
    for only in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
        with sdpa_kernel([only]):
            results.append(F.scaled_dot_product_attention(q, k, v))
    return (results[0] - results[1]).abs().max()

# %% right 13-kernel-gap
# The switches by hand, and finally.
import torch
from torch.nn import functional as F

def kernel_gap(q, k, v):
    cuda = torch.backends.cuda
    before = cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()
    try:
        cuda.enable_flash_sdp(True)
        flash = F.scaled_dot_product_attention(q, k, v)
        cuda.enable_flash_sdp(False)
        cuda.enable_math_sdp(True)
        return float((flash - F.scaled_dot_product_attention(q, k, v)).abs().max())
    finally:
        cuda.enable_flash_sdp(before[0])
        cuda.enable_math_sdp(before[1])

# %% right 13-kernel-gap
# The course's own way to set switches for a block.
import torch
from torch.nn import functional as F
from course import flags

def kernel_gap(q, k, v):
    def run(flash):
        with flags.using({"cuda.enable_flash_sdp": flash, "cuda.enable_math_sdp": not flash}):
            return F.scaled_dot_product_attention(q, k, v)
    return torch.dist(run(True), run(False), p=float("inf")).item()

# %% right 13-kernel-gap
# As a decorated function.
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

math = sdpa_kernel(SDPBackend.MATH)(F.scaled_dot_product_attention)
flash = sdpa_kernel(SDPBackend.FLASH_ATTENTION)(F.scaled_dot_product_attention)

def kernel_gap(q, k, v):
    gap = flash(q, k, v) - math(q, k, v)
    return max(gap.max().item(), -gap.min().item())

# %% wrong 13-in-thread reason=grad
# A thread has all of it anyway.
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()

# %% wrong 13-in-thread reason=grad
# Read inside the thread.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    def work():
        grad, on = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")
        with torch.set_grad_enabled(grad), torch.autocast("cpu", enabled=on):
            return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

# %% wrong 13-in-thread reason=autocast
# Grad mode is all there is.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    grad = torch.is_grad_enabled()
    def work():
        with torch.set_grad_enabled(grad):
            return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

# %% wrong 13-in-thread reason=dtype
# autocast is bfloat16.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    grad, on = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")
    def work():
        with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype=torch.bfloat16, enabled=on):
            return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

# %% wrong 13-in-thread reason=same
# No thread, no trouble.
def in_thread(run):
    return run()

# %% wrong 13-in-thread reason=grad
# Threads never need gradients.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    on, dtype = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    def work():
        with torch.no_grad(), torch.autocast("cpu", dtype=dtype, enabled=on):
            return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

# %% wrong 13-in-thread reason=result
# The result stays in the thread.
import threading

def in_thread(run):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

# %% wrong 13-in-thread reason=left
# Clear the caller's settings as well.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    grad = torch.is_grad_enabled()
    on, dtype = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    torch.set_grad_enabled(True)
    def work():
        with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype=dtype, enabled=on):
            return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()

# %% right 13-in-thread
# A plain thread and a list.
import threading
import torch

def in_thread(run):
    kept = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    found = []
    def work():
        with torch.set_grad_enabled(kept[0]), torch.autocast("cpu", enabled=kept[1], dtype=kept[2]):
            found.append(run())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]

# %% right 13-in-thread
# An exit stack with what is needed.
import contextlib
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    grad, dtype = torch.is_grad_enabled(), torch.get_autocast_dtype("cpu")
    on = torch.is_autocast_enabled("cpu")
    def work():
        with contextlib.ExitStack() as stack:
            if not grad:
                stack.enter_context(torch.no_grad())
            if on:
                stack.enter_context(torch.autocast("cpu", dtype=dtype))
            return run()
    return ThreadPoolExecutor(1).submit(work).result()

# %% right 13-in-thread
# Set without a block: the thread ends anyway.
import torch
from concurrent.futures import ThreadPoolExecutor

def in_thread(run):
    grad, on, dtype = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    def work():
        torch.set_grad_enabled(grad)
        torch.set_autocast_enabled("cpu", on)
        torch.set_autocast_dtype("cpu", dtype)
        return run()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()

# %% right 13-in-thread
# Handed over as arguments.
import torch
from concurrent.futures import ThreadPoolExecutor

def work(run, grad, on, dtype):
    with torch.autocast("cpu", dtype=dtype, enabled=on), torch.set_grad_enabled(grad):
        return run()

def in_thread(run):
    settings = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, run, *settings).result()

# %% wrong 13-make-it-lose reason=no-race
# An interval written down is evidence.
losing = {"race": {"low": 1.2, "high": 1.4, "rounds": 40}}

# %% wrong 13-make-it-lose reason=kernels
# Both sides ran flash.
import torch
q = torch.randn(1, 1, 16, 8)
attend = lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q)
losing = {"race": raced({"math": attend, "flash": attend}, 1.5)}

# %% wrong 13-make-it-lose reason=kernels
# Other work is slower, too.
import torch
x = torch.randn(64)
losing = {"race": raced({"math": lambda: x + 1, "flash": lambda: x + 1}, 1.5)}

# %% wrong 13-make-it-lose reason=won
# Flash wins.
import torch
q = torch.randn(1, 1, 16, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = {"race": raced({"math": side(False), "flash": side(True)}, 0.6)}

# %% wrong 13-make-it-lose gets=inconclusive reason=undecided
# An interval with 1 in it decides.
import torch
q = torch.randn(1, 1, 16, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = {"race": raced({"math": side(False), "flash": side(True)}, 1.0)}

# %% wrong 13-make-it-lose gets=inconclusive reason=rounds
# Two rounds are enough.
import torch
q = torch.randn(1, 1, 16, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = {"race": raced({"math": side(False), "flash": side(True)}, 1.5, rounds=2)}

# %% wrong 13-make-it-lose reason=no-race
# Flash is the baseline.
import torch
q = torch.randn(1, 1, 16, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = {"race": raced({"flash": side(True), "math": side(False)}, 1.5)}

# %% right 13-make-it-lose
# A race that flash lost.
import torch
q = torch.randn(1, 1, 16, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = {"race": raced({"math": side(False), "flash": side(True)}, 1.5)}

# %% right 13-make-it-lose
# With a mask, and more in the dictionary.
import torch
q, mask = torch.randn(2, 2, 8, 8), torch.zeros(8, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    return run

losing = {"shape": list(q.shape), "race": raced({"math": side(False), "flash": side(True)}, 1.1)}

# %% right 13-make-it-lose
# Blocks of sdpa_kernel instead of the switch.
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.randn(1, 2, 8, 16)

def side(only):
    def run():
        with sdpa_kernel(only):
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return run

losing = dict(race=raced({"math": side(SDPBackend.MATH), "flash": side(SDPBackend.FLASH_ATTENTION)}, 2.0))

# %% right 13-make-it-lose
# One query against many keys.
import torch
q, k = torch.randn(1, 2, 1, 8), torch.randn(1, 2, 64, 8)

def side(flash):
    def run():
        torch.backends.cuda.enable_flash_sdp(flash)
        return torch.nn.functional.scaled_dot_product_attention(q, k, k)
    return run

losing = {"race": raced({"math": side(False), "flash": side(True)}, 1.3)}
