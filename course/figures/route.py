"""The way of a convolution through PyTorch as a picture: which device, which switch, which library computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from course.core import arguments
from course.core.i18n import Text, both, pick, t
from course.figures.picture import Diagram, box
from course.figures.style import colors, guide

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
    "cpu": (both("CPU", "CPU"), "mkldnn.enabled", "oneDNN"),
    "cuda": (both("NVIDIA GPU", "NVIDIA GPU"), "cudnn.enabled", "cuDNN"),
    "mps": (both("Apple GPU", "苹果 GPU"), None, "MPS"),
}
_CENTRES = dict(zip(DEVICES, (2.05, 3.9, 5.75), strict=True))
_CALL, _DEVICE, _SWITCH, _LIBRARY, _OTHER = 0.3, 1.15, 2.0, 2.95, 3.75  # heights
_WIDE = 1.62


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


class Route(Diagram):
    """What `route` gives back: the picture in a notebook, one sentence elsewhere.

    device: a type of device; enabled: its switch (None: it has none); computes: as `who_computes`.
    """

    size = (7.0, 4.2)

    def __init__(self, device: str, enabled: bool | None, computes: str) -> None:
        self.device, self.enabled, self.computes = device, enabled, computes
        self.alt = self._said()

    def _said(self) -> Text:
        name, switch, _ = DEVICES[self.device]
        asks = both(f"the switch {switch} is {self.enabled}", f"开关 {switch} 为 {self.enabled}")
        if switch is None:
            asks = both("there is no switch", "没有开关可查")
        return both(
            f"The way of a convolution: the tensor lies on the {name['en']}, {asks['en']}, {self.computes} computes.",
            f"一次卷积走的路：张量在 {name['zh']} 上，{asks['zh']}，由 {self.computes} 计算。",
        )

    def paint(self, ax: Any) -> None:
        ax.set_ylim(4.15, -0.05)
        for y, words in (
            (_DEVICE, t("1. Which\ndevice?", "1. 哪个\n设备？")),
            (_SWITCH, t("2. Is the\nswitch on?", "2. 开关\n开着吗？")),
            (_LIBRARY, t("3. Who\ncomputes?", "3. 由谁\n计算？")),
        ):
            ax.text(0.08, y, words, va="center", fontsize=11)
        for device in sorted(DEVICES, key=lambda one: one == self.device):  # the way taken is drawn last, on top
            self._way(ax, device)
        box(ax, 3.9, _CALL, _WIDE, "conv2d(x, weight)", True)
        elsewhere = self.computes != DEVICES[self.device][2]
        words = t("another way: ", "换条路：") + (self.computes if elsewhere else pick(OWN))
        box(ax, 3.07, _OTHER, 3.66, words, elsewhere)

    def _way(self, ax: Any, device: str) -> None:
        x, here = _CENTRES[device], device == self.device
        name, switch, library = DEVICES[device]
        taken = here and self.computes == library
        turn = (_CALL + _DEVICE) / 2
        _line(ax, [(3.9, _CALL), (3.9, turn), (x, turn), (x, _SWITCH)], here)
        _line(ax, [(x, _SWITCH), (x, _LIBRARY)], taken)
        if switch:
            side = x + _WIDE / 2 + 0.08
            _line(ax, [(x, _SWITCH), (side, _SWITCH), (side, _OTHER)], here and not taken)
        box(ax, x, _DEVICE, _WIDE, pick(name), here)
        value = f"\n= {self.enabled}" if here else ""
        box(ax, x, _SWITCH, _WIDE, f"{switch}{value}" if switch else t("no switch", "没有开关"), here)
        box(ax, x, _LIBRARY, _WIDE, library, taken)


def route(layer: torch.nn.Conv2d, x: torch.Tensor) -> Route:
    """The way that ``layer(x)`` takes on this machine now, as a picture. Computes nothing, switches nothing."""
    from course import flags

    computes, device = who_computes(layer, x), x.device.type
    arguments.one_of(both("device", "设备"), device, DEVICES)
    switch = DEVICES[device][1]
    return Route(device, flags.read()[switch] if switch else None, computes)


def _line(ax: Any, points: list[tuple[float, float]], bright: bool) -> None:
    ax.plot(
        *zip(*points, strict=True),
        color=colors()[0] if bright else guide(),
        linewidth=3 if bright else 1,
        linestyle="-" if bright else ":",
        zorder=2 if bright else 1,
        solid_joinstyle="round",
    )
