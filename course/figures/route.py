"""The way of a convolution through PyTorch as a picture: which device, which switch, which library computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.core import arguments
from course.core.i18n import both, pick, t
from course.figures.block import Block
from course.figures.panels import Panel, panels

if TYPE_CHECKING:
    import torch

LIBRARIES = {
    "Mkldnn": "oneDNN",
    "Cudnn": "cuDNN",
    "Miopen": "MIOpen",
    "Mps": "MPS",
    "Nnpack": "NNPACK",
    "Xnnpack": "XNNPACK",
}
OWN = both("PyTorch itself", "PyTorch 自己")
# device type -> (name, switch or None, library that is asked first)
DEVICES = {
    "cpu": ("CPU", "mkldnn.enabled", "oneDNN"),
    "cuda": ("NVIDIA GPU", "cudnn.enabled", "cuDNN"),
    "mps": (both("Apple GPU", "苹果 GPU"), None, "MPS"),
}


def who_computes(layer: torch.nn.Conv2d, x: torch.Tensor) -> str:
    """The library that PyTorch's backend selection chooses for ``layer(x)``, as the switches stand now.

    layer: a `torch.nn.Conv2d` with padding in numbers; x: its input, (N, C, H, W). Computes nothing.
    """
    import torch

    arguments.of_type("layer", layer, torch.nn.Conv2d)
    arguments.of_type("layer.padding", layer.padding, tuple)
    arguments.of_type("x", x, torch.Tensor)
    chosen = torch._C._select_conv_backend(
        x, layer.weight, layer.bias, layer.stride, layer.padding, layer.dilation, False, [0, 0], layer.groups
    )
    name = str(chosen).rpartition(".")[2]
    return next((library for start, library in LIBRARIES.items() if name.startswith(start)), pick(OWN))


def route(layer: torch.nn.Conv2d, x: torch.Tensor) -> Block:
    """The way that ``layer(x)`` takes on this machine now, as a picture. Computes nothing, switches nothing."""
    from course import flags

    computes, device = who_computes(layer, x), x.device.type
    arguments.one_of(both("device", "设备"), device, DEVICES)
    name, switch, library = DEVICES[device]
    value = flags.read()[switch] if switch else None
    asks = (
        t(f"the switch {switch} is {value}", f"开关 {switch} 为 {value}")
        if switch
        else t("there is no switch", "没有开关可查")
    )
    said = t(
        f"The way of a convolution: the tensor lies on the {pick(name)}, {asks}, {computes} computes.",
        f"一次卷积走的路：张量在 {pick(name)} 上，{asks}，由 {computes} 计算。",
    )
    return Block(said, "", panels(_panels(device, value, computes), said, ("", "")), "")


def _panels(device: str, value: object, computes: str) -> list[Panel]:
    """The three questions, in each the answers there can be; the way that is taken stands out."""
    asked: list[list[str]] = [[], [], []]
    for kind, (name, switch, library) in DEVICES.items():
        here = kind == device
        asked[0].append("-+"[here] + pick(name))
        state = (f"{switch} = {value}" if here else switch) if switch else t("no switch", "没有开关")
        asked[1].append("-+"[here] + state)
        asked[2].append("-+"[here and computes == library] + library)
    elsewhere = computes not in asked[2][list(DEVICES).index(device)]
    asked[2].append("-+"[elsewhere] + (computes if elsewhere else pick(OWN)))
    titles = (
        t("1. Which device?", "1. 哪个设备？"),
        t("2. Is the switch on?", "2. 开关开着吗？"),
        t("3. Who computes?", "3. 由谁计算？"),
    )
    return [Panel(title, lines) for title, lines in zip(titles, asked, strict=True)]
