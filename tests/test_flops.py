"""Counting is exact, certified, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.zoo_parts import Early
from course import models
from course.flops import CountError, count
from course.i18n import set_language
from tests.without_fork import without_fork  # noqa: F401


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


# The all-ones oracle: inputs and weights are 1, nothing is padded, so every MAC adds 1 to the output.
ONES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "conv1d": (lambda: nn.Conv1d(4, 6, 5, stride=2, bias=False), (2, 4, 21)),
    "conv2d": (lambda: nn.Conv2d(6, 9, (3, 2), groups=3, dilation=2, bias=False), (2, 6, 11, 12)),
    "conv3d": (lambda: nn.Conv3d(2, 4, 3, bias=False), (1, 2, 5, 6, 7)),
    "transposed1d": (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, bias=False), (2, 4, 7)),
    "transposed2d": (
        lambda: nn.ConvTranspose2d(6, 9, 3, stride=2, groups=3, output_padding=1, bias=False),
        (2, 6, 5, 4),
    ),
    "linear": (lambda: nn.Linear(7, 5, bias=False), (2, 3, 7)),
}


@pytest.mark.parametrize("name", ONES)
def test_all_ones_oracle_of_layers(name: str) -> None:
    make, shape = ONES[name]
    layer = make()
    nn.init.ones_(layer.weight)
    x = torch.ones(shape)
    assert count(layer, x).macs == int(layer(x).sum().item())


PRODUCTS: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(3, 4), (4, 5)]),
    "bmm": (torch.bmm, [(2, 3, 4), (2, 4, 5)]),
    "mv": (torch.mv, [(3, 4), (4,)]),
    "dot": (torch.dot, [(9,), (9,)]),
    "einsum": (lambda a, b: torch.einsum("abc,cd->abd", a, b), [(2, 3, 4), (4, 5)]),
    "bilinear": (lambda a, b, w: F.bilinear(a, b, w), [(3, 4), (3, 5), (6, 4, 5)]),
    "addbmm": (lambda a, b: torch.addbmm(torch.zeros(3, 5), a, b), [(2, 3, 4), (2, 4, 5)]),
    "tensordot": (lambda a, b: torch.tensordot(a, b, 2), [(2, 3, 4), (3, 4, 5)]),
    "conv_tbc": (lambda x, w: torch.conv_tbc(x, w, torch.zeros(6)), [(9, 2, 4), (3, 4, 6)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_all_ones_oracle_of_functions(name: str) -> None:
    function, shapes = PRODUCTS[name]
    operands = [torch.ones(shape) for shape in shapes]
    assert count(function, *operands).macs == int(function(*operands).sum().item())


# ---- training


def test_training_step_is_three_forwards_when_the_input_needs_a_gradient() -> None:
    layer, x = nn.Conv2d(16, 32, 3, padding=1), torch.zeros(1, 16, 32, 32, requires_grad=True)
    assert count(layer, x).macs == 4_718_592
    assert count(layer, x, training=True).macs == 3 * 4_718_592
    assert count(layer, x.detach(), training=True).macs == 2 * 4_718_592


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Conv2d(16, 32, 3, padding=1, groups=4),
        lambda: nn.Conv2d(16, 16, 3, groups=16),
        lambda: nn.ConvTranspose2d(16, 32, 3, stride=2, groups=4),
        lambda: nn.Bilinear(16, 16, 4),
        lambda: nn.Linear(8, 3),
    ],
)
def test_each_gradient_costs_one_forward_groups_included(make: Callable[[], nn.Module]) -> None:
    layer = make()
    if isinstance(layer, nn.Bilinear):
        inputs: tuple[Tensor, ...] = tuple(torch.zeros(5, 16, requires_grad=True) for _ in range(2))
        gradients = 3
    else:
        inputs = (
            torch.zeros(2, 8, requires_grad=True)
            if isinstance(layer, nn.Linear)
            else torch.zeros(2, 16, 9, 9, requires_grad=True),
        )
        gradients = 2
    forward = count(layer, *inputs).macs
    step = count(layer, *inputs, training=True)
    assert step.macs == (1 + gradients) * forward and step.exact
    assert all(p.grad is None for p in layer.parameters()) and all(x.grad is None for x in inputs)


def test_mobilenet_training_step() -> None:
    """Three forwards, less the gradient of the image that nobody asks for (the stem: 112 x 112 x 3 x 32 x
    9).
    """
    model, x = models.mobilenet_v2(), torch.zeros(1, 3, 224, 224)
    assert count(model, x, training=True).macs == 3 * 300_774_272 - 112 * 112 * 3 * 32 * 9


def test_backward_work_belongs_to_the_module_whose_forward_it_differentiates() -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.Sequential(nn.Linear(16, 4), nn.ReLU()), nn.Linear(4, 2))
    step = count(model, torch.zeros(3, 8, requires_grad=True), training=True)
    forward = count(model, torch.zeros(3, 8))
    for name in ("0", "1", "1.0", "2"):
        assert step[name].macs == 3 * forward[name].macs


def test_a_step_needs_no_data_for_indices_made_in_the_forward() -> None:
    """Max pooling hands its integer indices to the backward: they have shapes alone, too."""
    model, x = nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(2)), torch.zeros(1, 3, 9, 9)
    step = count(model, x, training=True)
    assert (step.macs, step.ground) == (2 * 49 * 4 * 27, "meta")


def test_frozen_model_has_no_training_step() -> None:
    with pytest.raises(CountError, match="trainable parameter"):
        count(nn.Linear(3, 3).requires_grad_(False), torch.zeros(1, 3), training=True)


def test_checkpointing_counts_what_is_computed_again() -> None:
    from torch.utils.checkpoint import checkpoint

    pair = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
    x = torch.zeros(2, 8, requires_grad=True)
    again = count(lambda value: checkpoint(pair, value, use_reentrant=False), x, training=True)
    # two forwards, four gradients, and the first layer once more (the second stops early: nothing of it is
    # needed)
    assert again.macs == (2 + 4 + 1) * 2 * 8 * 8
    assert again["0"].macs == 4 * 128 and again["2"].macs == 3 * 128
    assert pair[0].weight.grad is None


# ---- the certificate


def test_unknown_operators_are_flagged() -> None:
    counted = count(lambda x: torch.fft.fft(x @ x), torch.zeros(4, 4))
    assert not counted.exact and list(counted.unknown) == ["_fft_r2c"] and counted.macs == 64
    assert "_fft_r2c" in str(counted)
    assert "linalg" in "".join(count(torch.linalg.inv, torch.eye(3)).unknown)
    assert not count(lambda x: torch.cdist(x, x, p=1.0), torch.zeros(4, 4)).exact


def test_custom_operator_is_unknown_until_it_has_a_formula() -> None:
    @torch.library.custom_op("course_tests::twice", mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x @ x

    twice.register_fake(lambda x: torch.empty_like(x))
    assert count(twice, torch.zeros(4, 4)).unknown == {"course_tests::twice": 1}
    from torch.utils.flop_counter import flop_registry, register_flop_formula

    register_flop_formula(torch.ops.course_tests.twice)(lambda shape, *_, **__: 2 * shape[0] ** 3)
    try:
        counted = count(twice, torch.zeros(4, 4))
        assert counted.macs == 64 and counted.exact
    finally:
        del flop_registry[torch.ops.course_tests.twice]


def test_sparse_products_are_flagged() -> None:
    counted = count(lambda x: torch.eye(4).to_sparse() @ x, torch.zeros(4, 4))
    assert not counted.exact


def test_a_swallowed_error_does_not_count_the_wrong_path() -> None:
    layer = nn.Linear(8, 8)

    def hides(x: Tensor) -> Tensor:
        try:
            return layer(x) if x.sum().item() > 1e9 else x
        except RuntimeError:
            return layer(layer(layer(x)))

    counted = count(hides, torch.zeros(2, 8))
    assert counted.macs == 0 and counted.ground == "real"


def test_inference_mode_changes_nothing() -> None:
    model, x = models.gpt_block(32, 4), torch.zeros(2, 6, 32)
    with torch.inference_mode():
        inside, lstm = count(model, x), count(nn.LSTM(8, 16), torch.zeros(7, 3, 8))
    assert inside.macs == count(model, x).macs and inside.exact
    assert lstm.macs == 7 * 3 * 4 * 16 * (8 + 16)


def test_tensor_subclass_is_counted_through_its_own_operators() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    pair = TwoTensor(torch.zeros(3, 4), torch.zeros(3, 4))
    assert count(lambda x: x @ torch.zeros(4, 5), pair).macs == 2 * 3 * 4 * 5


def test_compiled_model_counts_like_the_plain_one() -> None:
    model = nn.Linear(8, 4)
    assert count(torch.compile(model, backend="eager"), torch.zeros(2, 8)).macs == 64


def test_model_without_memory() -> None:
    with torch.device("meta"):
        model = models.resnet18()
    assert count(model, torch.zeros(1, 3, 224, 224)).macs == 1_814_073_344
    assert count(model, torch.zeros(1, 3, 224, 224, device="meta")).macs == 1_814_073_344


# ---- callables, trees, questions


def test_methods_closures_and_keywords() -> None:
    layer = nn.Linear(4, 4)
    assert count(layer.forward, torch.zeros(1, 4)).macs == 16
    assert count(lambda x, scale: layer(x) * scale, torch.zeros(1, 4), scale=2.0).params == 20
    attention = nn.MultiheadAttention(8, 2)
    x = torch.zeros(5, 1, 8)
    assert count(attention, x, x, x, need_weights=False).macs == 4 * 5 * 64 + 2 * 25 * 8
    assert count(nn.DataParallel(layer), torch.zeros(1, 4)).macs == 16


def test_module_tree() -> None:
    counted = count(models.vgg16(), torch.zeros(1, 3, 224, 224))
    assert counted["classifier.0"].macs == 25088 * 4096
    assert counted["features"].macs == 15_346_630_656
    assert [row["module"] for row in counted.rows(1)] == ["", "features", "avgpool", "classifier"]
    assert counted.element_operations > 13_000_000
    with pytest.raises(KeyError, match="no module 'head'"):
        counted["head"]


def test_one_vocabulary() -> None:
    counted = count(models.resnet50(), torch.zeros(1, 3, 64, 64))
    assert repr(counted) == counted.sentence() and "\n" not in repr(counted) and len(repr(counted)) < 250
    assert counted["layers.0"].name == "layers.0" and counted[""] is counted.by_module


def test_a_shared_module_counts_each_call() -> None:
    layer = nn.Linear(4, 4)
    counted = count(nn.Sequential(layer, nn.ReLU(), layer), torch.zeros(1, 4))
    assert counted.macs == 32 and counted.params == 20 and counted["0"].calls == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((3, torch.zeros(1)), "needs a model"),
        ((nn.Linear, torch.zeros(1)), "is a class"),
        ((nn.Linear(3, 3),), "needs inputs"),
        ((nn.Linear(3, 3), (1, 3)), r"torch.zeros\(1, 3\)"),
        ((nn.LazyLinear(3), torch.zeros(1, 3)), "Run the model once"),
        ((nn.Sequential(nn.ReLU(), nn.Linear(3, 3)), torch.zeros(1, 4)), r"in `1` \(Linear\)"),
    ],
)
def test_odd_input_gets_a_sentence(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(CountError, match=says):
        count(*arguments)


def test_sentences_in_chinese() -> None:
    set_language("zh")
    try:
        with pytest.raises(CountError, match="需要输入"):
            count(nn.Linear(3, 3))
        assert "精确" in str(count(Early(), torch.ones(1, 8)))
    finally:
        set_language("en")


def test_html() -> None:
    counted = count(models.unet(), torch.zeros(1, 3, 32, 32))
    assert "<table>" in counted._repr_html_() and "UNet" in counted.table()


# ---- TorchScript, quantized layers, transforms


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fused_torchscript_is_flagged() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    fused = torch.jit.optimize_for_inference(torch.jit.script(net))
    assert not count(fused, torch.zeros(1, 3, 8, 8)).exact


@pytest.mark.filterwarnings("ignore")
def test_quantized_linear() -> None:
    quantize = pytest.importorskip("torch.ao.quantization").quantize_dynamic
    counted = count(quantize(nn.Sequential(nn.Linear(8, 4), nn.ReLU()), {nn.Linear}), torch.zeros(3, 8))
    assert counted.macs == 96 and counted.exact


def test_weighted_bag_training() -> None:
    def bag(table: Tensor, weights: Tensor) -> Tensor:
        return F.embedding_bag(torch.arange(12).view(3, 4), table, mode="sum", per_sample_weights=weights)

    table, weights = torch.randn(20, 6, requires_grad=True), torch.rand(3, 4, requires_grad=True)
    assert count(bag, table, weights, training=True).macs == 3 * 72


def test_higher_order_formula_and_function_transforms() -> None:
    layer, x = nn.Linear(8, 4), torch.randn(4, 8)
    assert count(lambda a: torch.vmap(layer)(a), x).macs == 128
    assert count(lambda a: torch.func.grad(lambda z: layer(z).sum())(a), x).macs == 256
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert count(layer, x).macs == 128
