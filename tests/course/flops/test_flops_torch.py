"""Models that keep state in torch itself: DDP, FSDP2, DTensor, fake tensors, compiled code."""

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
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import _len_torch_dispatch_stack

from course.flops import CountError, count
from tests.support.photograph import of_process

pytestmark = pytest.mark.filterwarnings("ignore")
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


def test_a_model_of_fully_shard_is_refused(mesh: DeviceMesh) -> None:
    """Its state belongs to the process group; copies would gather the weights of the original."""
    model, inputs = sharded(mesh)
    with pytest.raises(CountError, match="uses a FSDP, which cannot be copied"):
        count(model, *inputs)


def test_a_count_inside_a_mode_of_fake_tensors() -> None:
    with torch._subclasses.fake_tensor.FakeTensorMode():
        assert count(perceptron(), rows()).macs == FORWARD
