"""Code tasks of lesson 15: the map from memory, advice for a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.core.i18n import Text, both
from course.exercises.told import Told, listed, placeholder_in
from course.flags import SWITCHES

# --- home_of ------------------------------------------------------------------------------------------------

ASKED = {
    "benchmark": "cudnn",
    "enable_flash_sdp": "cuda",
    "is_macos_or_newer": "mps",
    "verbose": "mkldnn",
    "immediate": "miopen",
    "set_fastpath_enabled": "mha",
    "strategy": "opt_einsum",
    "engine": "quantized",
    "get_cpu_capability": "cpu",
}
"""What is asked, and one submodule that has it; whatever else the table of switches says of the name is right too."""


def homes(name: str) -> set[str]:
    """The submodules in which the table of switches has that name."""
    return {one.group for one in SWITCHES.values() if one.name.rpartition(".")[2] == name}


def check_home_of(home_of: Any) -> None:
    """Every name is looked up in the table; wrong ones are named, right ones counted."""
    if not isinstance(home_of, Mapping):
        raise Told("no-dictionary")
    given = {str(key): value for key, value in home_of.items() if value is not ... and value not in (None, "")}
    if not any(name in given for name in ASKED):
        raise Told("placeholder")
    said = {name: str(given.get(name, "")).strip().removeprefix("torch.backends.") for name in ASKED}
    if wrong := [name for name, where in said.items() if where not in homes(name)]:
        right = len(ASKED) - len(wrong)
        names = listed(f"`{name}`" for name in wrong)
        raise Told("places", points=(right / len(ASKED), 1.0), right=right, asked=len(ASKED), wrong=names)


# --- advice -------------------------------------------------------------------------------------------------

Script = dict[str, Any]
SCRIPTS: tuple[Script, ...] = tuple(
    {"device": device, "convolutions": convolutions, "sizes": sizes, "same_bits": bits}
    for device in ("cuda", "cpu", "mps")
    for convolutions in (True, False)
    for sizes in ("fixed", "changing")
    for bits in (False, True)
)
"""Every combination of the four questions."""


def searches(script: Script) -> bool:
    """Whether the search of cuDNN pays in this script, and may be used."""
    return (
        script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed" and not script["same_bits"]
    )


def _in_words(script: Script) -> Text:
    yes = ("with", "有") if script["convolutions"] else ("without", "没有")
    bits = (
        ("equal bits asked for", "要求逐位一致")
        if script["same_bits"]
        else ("equal bits not asked for", "不要求逐位一致")
    )
    sizes = {"fixed": "固定", "changing": "变化"}[script["sizes"]]
    return both(
        f"{script['device']}, {yes[0]} convolutions, sizes {script['sizes']}, {bits[0]}",
        f"{script['device']}，{yes[1]}卷积，尺寸{sizes}，{bits[1]}",
    )


def _fits(script: Script, given: Mapping[str, Any]) -> None:
    """Raises Told where the advice is wrong for one script."""
    told, asked = _in_words(script), given.get("torch.deterministic_algorithms")
    for name in given:
        if name not in SWITCHES:
            raise Told("misspelt", script=told, name=name)
    for name in ("cudnn.enabled", "mkldnn.enabled"):
        if given.get(name) is False:
            raise Told("switched-off", script=told, name=name)
    if script["same_bits"] and asked is not True:
        raise Told("same-bits", script=told)
    if not script["same_bits"] and (asked or given.get("cudnn.deterministic")):
        raise Told("not-asked", script=told)
    searched = given.get("cudnn.benchmark") is True
    if searched and not searches(script):
        on_cuda = script["device"] == "cuda"
        why = (
            "another plan"
            if on_cuda and script["same_bits"]
            else "new sizes"
            if on_cuda and script["convolutions"]
            else "nobody"
        )
        raise Told(f"search-wasted, {why}", script=told)
    if searches(script) and not searched:
        raise Told("search-missing", script=told)


def check_advice(advice: Callable[[Script], Mapping[str, Any]]) -> None:
    """All 24 scripts; the first fault is told with its script."""
    for script in SCRIPTS:
        given = advice(dict(script))
        placeholder_in(given)
        if not isinstance(given, Mapping):
            raise Told("no-dictionary")
        _fits(script, given)


CHECKS = {"15-home-of": check_home_of, "15-advice": check_advice}
