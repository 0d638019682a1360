"""Models that keep state in torch itself (DDP, FSDP2, DTensor, fake tensors, compiled code), and models of transformers by kin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import _len_torch_dispatch_stack
from torch.utils.flop_counter import FlopCounterMode

from course.flops import CountError, count
from tests.support.photograph import of_process

Made = tuple[Any, tuple[Any, ...]]
FORWARD, STEP = 2 * 5 * 4 * 8, 5 * 5 * 4 * 8
"""MACs of a perceptron 4, 8, 4 on five rows: two products; of a step five, since the input needs no gradient."""


@pytest.fixture(scope="module")
def mesh() -> Iterator[DeviceMesh]:
    """A process group of this process alone; what torch imports late, and then changes in itself, is there before."""
    torch.compile(nn.Linear(4, 4), backend="eager")(torch.zeros(1, 4))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    clear = getattr(torch._C, "_clear_DTensor_sharding_propagator_cache", lambda: None)  # older ones have none
    clear()  # it holds the group, which a child forked in a thread would end, and hang
    dist.destroy_process_group()


def perceptron(device: str = "cpu") -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8, device=device), nn.ReLU(), nn.Linear(8, 4, device=device))


def rows(device: str = "cpu") -> torch.Tensor:
    return torch.ones(5, 4, device=device)


def sharded(mesh: DeviceMesh, device: str = "cpu") -> Made:
    model = perceptron(device)
    for part in (model[0], model[2], model):
        fully_shard(part, mesh=mesh)
    return model, (rows(device),)


def tensor_parallel(mesh: DeviceMesh) -> Made:
    return parallelize_module(perceptron(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()}), (rows(),)


def distributed(mesh: DeviceMesh) -> Made:
    first = distribute_tensor(torch.ones(4, 8, requires_grad=True), mesh, [Shard(1)])
    second = distribute_tensor(torch.ones(8, 4, requires_grad=True), mesh, [Shard(0)])
    return lambda x: (x @ first).relu() @ second, (distribute_tensor(rows(), mesh, [Replicate()]),)


def without_memory(_: DeviceMesh) -> Made:
    with torch._subclasses.fake_tensor.FakeTensorMode():
        return perceptron(), (rows(),)


def by_value(_: DeviceMesh) -> Made:
    model = perceptron()
    return lambda x: model(x) if x.sum().item() else x, (rows(),)


MAKERS: dict[str, Callable[[DeviceMesh], Made]] = {
    "DDP": lambda mesh: (DistributedDataParallel(perceptron()), (rows(),)),
    "tensor parallel": tensor_parallel,
    "DTensor": distributed,
    "fake tensors": without_memory,
    "by value": by_value,
    "compiled": lambda mesh: (torch.compile(perceptron(), backend="eager"), (rows(),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_models_over_processes_are_counted_exactly(name: str, training: bool, mesh: DeviceMesh) -> None:
    """Where nothing reads values, no operator and no question about memory is left as a doubt."""
    model, inputs = MAKERS[name](mesh)
    before = of_process()
    counted = count(model, *inputs, training=training)
    after = of_process()
    assert [what for what in before if after[what] != before[what]] == [] and _len_torch_dispatch_stack() == 0
    assert (counted.macs, counted.exact) == (STEP if training else FORWARD, True), counted.unknown


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_fully_shard_is_refused(mesh: DeviceMesh) -> None:
    """Its state belongs to the process group; copies would gather the weights of the original."""
    model, inputs = sharded(mesh)
    with pytest.raises(CountError, match="uses a FSDP, which cannot be copied"):
        count(model, *inputs)


@pytest.mark.filterwarnings("ignore")
def test_a_count_inside_a_mode_of_fake_tensors() -> None:
    with torch._subclasses.fake_tensor.FakeTensorMode():
        assert count(perceptron(), rows()).macs == FORWARD


SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
TOKENS = 16
EXPERT = 3 * 32 * 64  # of Mixtral and GPT-OSS: a gated perceptron
FEW_KEYS: dict[str, Any] = {"num_key_value_heads": 2}
TRANSFORMERS: dict[str, dict[str, Any]] = {
    "Bert": {},
    "BigBird": {"max_position_embeddings": 64},
    "Bloom": {"n_layer": 2, "n_head": 4},
    "CLIPText": {"eos_token_id": 5},
    "Deberta": {},
    "DeepseekV3": {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8}
    | {"n_routed_experts": 4, "moe_intermediate_size": 32, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1}
    | {"num_key_value_heads": 4, "first_k_dense_replace": 1},
    "FNet": {},
    "Falcon": {},
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 64},
    "Gemma2": {"head_dim": 8, **FEW_KEYS},
    "GptOss": {"head_dim": 8, "num_local_experts": 4, **FEW_KEYS},
    "Llama": {},
    "Longformer": {"attention_window": 4, "max_position_embeddings": 64},
    "Mamba": {"state_size": 8},
    "Mamba2": {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2},
    "Mistral": FEW_KEYS,
    "Mixtral": {"num_local_experts": 4, **FEW_KEYS},
    "OPT": {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "Qwen2": FEW_KEYS,
    "RecurrentGemma": {"num_hidden_layers": 3, "num_key_value_heads": 1, "lru_width": 32, "attention_window_size": 8},
    "Xlstm": {"embedding_dim": 32, "num_heads": 4, "num_blocks": 2},
}
"""What the configs of transformers' models have beside SIZES."""
CHOSEN = {"Mixtral": 2 * 2 * TOKENS * EXPERT, "GptOss": 2 * 4 * TOKENS * EXPERT, "DeepseekV3": 2 * TOKENS * 3 * 32 * 32}
"""Layers x chosen experts x tokens x an expert: products in groups, for which torch's counter has no formula."""


def _built(name: str) -> nn.Module:
    transformers = pytest.importorskip("transformers")
    kind = {"Xlstm": "xLSTM"}.get(name, name)
    more = TRANSFORMERS[name]
    sizes = {key: size for key, size in SIZES.items() if not (name in ("GPT2", "Bloom") and key != "vocab_size")}
    sizes |= {"hidden_size": 32} if name == "Bloom" else {}
    if "Mamba" in name or name == "Xlstm":
        del sizes["num_attention_heads"], sizes["intermediate_size"]
    torch.manual_seed(0)
    return getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**sizes | more)).eval()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [False, True], ids=["forward", "step"])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_models_of_transformers(name: str, training: bool) -> None:
    """As torch's counter, which sees every product of a real run once attention is not fused, and the experts by hand."""
    model, ids = _built(name), torch.arange(TOKENS)[None]
    options = {"use_cache": False} if name in ("RecurrentGemma", "Xlstm") else {}
    state = {key: value.clone() for key, value in model.state_dict().items()}
    generator = torch.get_rng_state()
    counted = count(model, ids, training=training, **options)
    assert set(counted.unknown) == ({"_fft_c2c"} if name == "FNet" else set())
    assert torch.equal(generator, torch.get_rng_state()) and all(x.grad is None for x in model.parameters())
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    if not training:
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as theirs:
            model(ids, **options)
        assert counted.macs == theirs.get_total_flops() // 2 + CHOSEN.get(name, 0)


@pytest.mark.parametrize("training", [False, True])
def test_a_model_whose_outputs_may_not_be_changed(training: bool) -> None:
    """Bart looks at values in the middle, so the run on shapes is given up: its half-made outputs forbid `del`."""
    transformers = pytest.importorskip("transformers")
    sizes = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in (("layers", 1), ("ffn_dim", 32))}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    model = transformers.BartModel(transformers.BartConfig(d_model=16, vocab_size=50, **sizes, **heads)).eval()
    assert count(model, torch.randint(3, 50, (1, 6)), training=training).exact
