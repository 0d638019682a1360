"""Odd things given to `count`: a sentence with the next step; and odd operators: counted or named, never silent."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.core.i18n import speaking
from course.flops import CountError, count


class Needs(nn.Module):
    """A forward with named inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor, scale: float = 1.0, **more: Any) -> Tensor:
        return self.layer(x) * scale


def _waits(x: Tensor) -> Any:
    yield x @ x


async def _later(x: Tensor) -> Tensor:
    return x @ x


def _raises(x: Tensor) -> Tensor:
    raise KeyError("no such layer")


QUEUE: Any = queue.Queue()
LAYER, X = nn.Linear(3, 3), torch.zeros(1, 3)
ODD: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: count(), "got nothing"),
    "a word": (lambda: count("resnet18", X), "got str"),
    "a tensor first": (lambda: count(X, LAYER), r"got float32 \(1, 3\)"),
    "a class": (lambda: count(nn.Linear, X), "make one first"),
    "no inputs": (lambda: count(LAYER), "needs inputs"),
    "a shape": (lambda: count(LAYER, (1, 3)), r"torch.zeros\(1, 3\)"),
    "a wrong shape": (lambda: count(nn.Sequential(LAYER), torch.zeros(1, 4)), r"in `0` \(Linear\).*float32 \(1, 4\)"),
    "a generator": (lambda: count(LAYER, (x for x in [X])), "only once"),
    "a dict": (lambda: count(Needs(), {"x": X}), r"count\(model, \*\*batch\)"),
    "by the name of another tool": (lambda: count(LAYER, inputs=(X,)), r"inputs: tuple.*count\(model, x\)"),
    "a nested tensor": (lambda: count(_raises, torch.nested.nested_tensor([X, X])), "Nested|no such layer"),
    "lazy": (lambda: count(nn.LazyLinear(3), X), "uninitialized parameter"),
    "gives a generator": (lambda: count(_waits, torch.eye(3)), "nothing has run yet"),
    "gives a coroutine": (lambda: count(_later, torch.eye(3)), r"asyncio.run\(model"),
    "packed": (lambda: count(LAYER, (X,)), r"inputs were: tuple.*count\(model, \*inputs\)"),
    "raises": (lambda: count(_raises, X), "KeyError: 'no such layer'.*Call the model once"),
    "another type": (lambda: count(LAYER, X.double()), "several types: torch.float"),
    "another type on meta": (
        lambda: count(nn.Linear(3, 3, device="meta"), X.double().to("meta")),
        "several types: torch.float",
    ),
    "a model of fully_shard, a queue": (lambda: count(lambda x: QUEUE.get(), X), "uses a Queue"),
    "needs values on meta": (
        lambda: count(lambda x: x if x.sum().item() else -x, torch.zeros(2, device="meta")),
        "meta tensors",
    ),
    "nothing to train": (lambda: count(nn.Linear(3, 3).requires_grad_(False), X, training=True), "frozen"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_input_gets_a_sentence_and_the_next_step(name: str) -> None:
    run, said = ODD[name]
    with pytest.raises(CountError, match=f"(?s){said}") as caught:
        run()
    assert caught.value._render_traceback_() == [str(caught.value)]
    with speaking("zh"), pytest.raises(CountError, match="[一-龥].*。$"):
        run()


def test_inputs_by_name_and_in_containers() -> None:
    assert count(Needs(), x=X).macs == count(Needs(), **{"x": X, "scale": 2.0, "note": "text"}).macs == 6
    assert count(lambda batch: LAYER(batch["x"][0]), {"x": [X]}).macs == 9
    assert count(LAYER, torch.zeros(0, 3)).macs == 0


@pytest.mark.parametrize("forward", [lambda x: x * torch.zeros(5), nn.Linear(4, 2)])
def test_a_failing_forward_makes_no_noise(
    forward: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CountError):
        count(forward, torch.zeros(1, 3))
    assert capfd.readouterr() == ("", "") and not caplog.records


def test_counting_allocates_nothing() -> None:
    """A terabyte of activations, 4 TB of weights: shapes have no memory."""
    with torch.device("meta"):
        wide = nn.Linear(10**6, 10**6)
    assert count(wide, torch.empty(8, 10**6, device="meta")).macs == 8 * 10**12
    assert count(lambda x: torch.zeros(10**6, 10**6) @ x, torch.zeros(10**6, 1)).macs == 10**12
    image = torch.zeros(1).expand(10**5, 3, 224, 224)  # one number in memory
    assert count(nn.Conv2d(3, 64, 3, padding=1), image).macs == 10**5 * 224**2 * 64 * 27


# ---- operators: counted, shown apart, or named in `unknown`


def _attends(rows: Tensor) -> Tensor:
    heads = rows.unflatten(-1, [2, 2]).transpose(1, 2)
    return F.scaled_dot_product_attention(heads, heads, heads)


EYE, ROW, COLUMNS = torch.eye(4), torch.zeros(1, 4), torch.zeros(4, 2)
TABLE = np.ones((4, 4), np.float32)
UNKNOWN: dict[str, tuple[Callable[..., Any], list[Tensor], str]] = {
    "convolution by FFT": (
        lambda x, w: torch.fft.irfft(torch.fft.rfft(x, 32) * torch.fft.rfft(w, 32)),
        [torch.zeros(2, 16), torch.zeros(16)],
        "_fft_r2c",
    ),
    "inverse": (torch.linalg.inv, [EYE], "linalg"),
    "orthogonal": (torch.nn.utils.parametrizations.orthogonal(nn.Linear(4, 4)), [torch.zeros(2, 4)], ""),
    "sparse product": (lambda a, x: torch.sparse.mm(a.to_sparse(), x), [EYE, COLUMNS], "sparse"),
    "sparse input": (lambda a: a @ COLUMNS, [EYE.to_sparse_csr()], "sparse"),
    "manhattan distances": (lambda a, b: torch.cdist(a, b, p=1.0), [EYE, torch.zeros(5, 4)], "_cdist"),
    "nested": (lambda x: nn.Linear(4, 2)(torch.nested.nested_tensor([x, x])), [EYE], "nested"),
    "jagged rows": (lambda x: _attends(torch.nested.nested_tensor([x[:2], x], layout=torch.jagged)), [EYE], ""),
    "attention by the name of a kernel": (
        lambda q: torch.ops.aten._flash_attention_forward(q, q, q, None, None, 6, 6, 0.0, False, False)[0],
        [torch.empty(2, 6, 2, 8, device="meta", dtype=torch.half)],
        "_flash_attention",
    ),
    "NumPy": (lambda x: torch.from_numpy(x.numpy() @ x.numpy()), [EYE], "NumPy"),
    "NumPy, unasked": (lambda x: torch.as_tensor(np.asarray(x) @ np.asarray(x)), [EYE], "NumPy"),
    "NumPy, made there": (lambda x: x @ torch.from_numpy(TABLE @ TABLE), [ROW], "NumPy"),
    "NumPy, copied from there": (lambda x: x @ torch.tensor(TABLE @ TABLE), [ROW], "NumPy"),
    "lists": (lambda x: torch.tensor(np.array(x.tolist()) @ np.array(x.tolist())), [EYE], "tolist"),
    "a kernel of one's own": (lambda x: torch.zeros(4) if x.data_ptr() else x, [EYE], "data_ptr"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_counted_is_named(name: str) -> None:
    function, inputs, what = UNKNOWN[name]
    counted = count(function, *inputs)
    assert not counted.exact and what in "; ".join(counted.unknown)
    assert all(one in str(counted) for one in counted.unknown) and "NOT exact" in str(counted)


def test_small_integers_may_leave_torch() -> None:
    """Lengths handed to NumPy steer a loop; they are no work."""
    layer = nn.Linear(4, 4)
    counted = count(lambda x, n: layer(x[: int(n.numpy().max())]), torch.zeros(9, 4), torch.tensor([2, 5]))
    assert counted.macs == 5 * 16 and counted.exact


def test_padding_that_an_encoder_leaves_out_is_named() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval()
    x, padding = torch.randn(2, 6, 16), torch.arange(6).expand(2, 6) > torch.tensor([[3], [5]])
    with torch.no_grad():
        assert not count(model, x, src_key_padding_mask=padding).exact
        assert count(model, x).exact


def test_an_input_that_carries_a_graph_may_be_written_to() -> None:
    block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))
    y = LAYER(X)
    made_by = y.grad_fn
    assert count(block, y).ground == "meta" and y.grad_fn is made_by
    with torch.no_grad():
        assert count(block, X.clone().requires_grad_()).macs == 9
    on_meta = nn.Linear(3, 3, device="meta")(X.to("meta"))
    made_by = on_meta.grad_fn
    assert count(block.to("meta"), on_meta).macs == 9 and on_meta.grad_fn is made_by


def test_weights_that_are_loaded_by_hooks_are_counted() -> None:
    accelerate = pytest.importorskip("accelerate")
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    accelerate.cpu_offload(model, execution_device=torch.device("cpu"))
    assert count(model, torch.zeros(3, 8)).macs == 3 * (64 + 32)
