"""``docs/counts.md`` and its Chinese twin: public models counted by every tool, of ``benchmarks/results/public*``."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from course.i18n import LANGUAGES, both, pick
from grader.project import Project

TITLE = both("🧮 Public models, counted by every tool", "🧮 公开模型的计算量：各工具对照")
INTRO = both(
    "What one forward costs: batch 1, float32, evaluation mode. **MACs**: one multiply feeding one accumulate, in convolutions, matrix "
    "products and attention; **FLOPs = 2 × MACs**. Norms, activations, pooling, biases and softmax count 0.\n\n"
    "A cell of another tool says how far its number, as MACs, is from that of `course.flops`: **=** the same to the last digit; **≈** less "
    "than 0.01 % off; **–** no number. `course.flops` certifies each of its counts: every operator was counted or provably holds no "
    "contraction. Where torch's counter gives less, it has no formula: for the fused attention of torchvision's ViTs, for LSTMs on GPUs "
    "(`sequencer2d_l`). Made by "
    "`python -m grader author reference` from `benchmarks/results/public.json` and `public_h100.csv`; `python -m benchmarks.public` counts "
    "again.\n\n"
    "Counted on {date} on a CPU ({versions}). The column H100: torch's FlopCounterMode on one NVIDIA H100, 2026-11-26, with torch 2.11, "
    "torchvision 0.26. Published: what torchvision states for its weights at this size, in 10⁹; it calls them GFLOPS, they are MACs.",
    "一次前向的计算量：batch 为 1，float32，eval 模式。**MACs**：一次乘法接一次累加，来自卷积、矩阵乘和注意力；**FLOPs = 2 × MACs**。"
    "归一化、激活、池化、偏置和 softmax 计 0。\n\n"
    "其他工具的格子里写的是：它的数字（换算成 MACs）和 `course.flops` 差多少。**=**：一位不差；**≈**：相差不到 0.01%；**–**：没有给出数字。"
    "`course.flops` 给每个结果出具证明：每个算子要么已计数，要么可证明不含乘加运算。torch 的计数器偏小的地方，是它没有公式："
    "torchvision 的 ViT 用了融合的注意力，`sequencer2d_l` 在 GPU 上用了 LSTM。本页由 `python -m grader author reference` 根据 "
    "`benchmarks/results/public.json` 和 `public_h100.csv` 生成；要重新统计，运行 `python -m benchmarks.public`。\n\n"
    "统计日期 {date}，在 CPU 上（{versions}）。H100 一列：torch 的 FlopCounterMode，一块 NVIDIA H100，2026-11-26，torch 2.11、torchvision "
    "0.26。公布值：torchvision 为这一尺寸的权重给出的数，单位 10⁹；它写作 GFLOPS，其实是 MACs。",
)
HEAD = (
    both("model", "模型"),
    both("input", "输入"),
    both("parameters", "参数"),
    both("MACs", "MACs"),
    both("FLOPs", "FLOPs"),
    both("published", "公布值"),
    both("FlopCounterMode, H100", "FlopCounterMode，H100"),
)
WHY = both(
    "## Why they differ\n\nThe pieces of each difference, as `course.crosscheck.cross_check` names them; in brackets in how "
    "many of the models above. fvcore, calflops and torchinfo are not taken apart.",
    "## 为什么不一样\n\n差值由哪几部分组成，由 `course.crosscheck.cross_check` 给出；括号里是上表中出现的模型数。"
    "fvcore、calflops、torchinfo 没有拆开分析。",
)
ALL = both(
    "## All {n} models\n\n{exact} of them exact. Of the {torch} for which torch's counter on the H100 gave a number for the same model, "
    "{same} agree to the last digit.",
    "## 全部 {n} 个模型\n\n其中 {exact} 个结果是精确的。torch 的计数器在 H100 上给出数字的 {torch} 个模型里，{same} 个一位不差。",
)
ALL_HEAD = (both("library", "库"), *HEAD[:5], HEAD[6])
NOT_HERE = both(
    "Not counted here: {names}. torchvision's object detection needs compiled operators that its build for this CPU lacks.",
    "这里没有统计：{names}。torchvision 的目标检测需要编译好的算子，而这个 CPU 上的版本没有。",
)


def read(project: Project) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, int | None]]:
    """About the run; its rows; and what torch's counter said on the H100, by "library model"."""
    folder = project.root / "benchmarks" / "results"
    found = json.loads((folder / "public.json").read_text("utf-8"))
    with (folder / "public_h100.csv").open(encoding="utf-8") as lines:
        h100 = {row["model"]: int(row["torch_macs"]) if row["torch_macs"] else None for row in csv.DictReader(lines)}
    return found["about"], found["rows"], h100


def table(project: Project, code: str) -> str:
    """The page in one language, without its title."""
    about, rows, h100 = read(project)
    versions = ", ".join(f"{name} {number.split('+')[0]}" for name, number in about["versions"].items())
    counted = [row for row in rows if "macs" in row]
    known = [row for row in counted if "tools" in row]
    tools = list(dict.fromkeys(tool for row in known for tool in row["tools"]))
    lines = [[*(pick(one, code) for one in HEAD), *tools]]
    for row in known:
        others = [_beside(row["tools"].get(tool), row["macs"]) for tool in tools]
        published = f"{row['published']:.3f}" if row["published"] else "–"
        lines.append([*_cells(row), published, _beside(h100[_name(row)], row["macs"]), *others])
    said = [(h100[_name(row)], row["macs"]) for row in counted]
    numbers = {"torch": sum(bool(theirs) for theirs, _ in said), "same": sum(theirs == ours for theirs, ours in said)}
    every = [[pick(one, code) for one in ALL_HEAD]]
    every += [[row["library"], *_cells(row), _beside(h100[_name(row)], row["macs"])] for row in counted]
    exact = sum(not row["unknown"] for row in counted)
    missing = ", ".join(row["model"] for row in rows if "macs" not in row)
    return "\n\n".join(
        [
            pick(INTRO, code).format(date=about["date"], versions=versions),
            _markdown(lines, 2),
            pick(WHY, code),
            "\n".join(_reasons(known, code)),
            pick(ALL, code).format(n=len(counted), exact=exact, **numbers),
            _markdown(every, 3),
            *([pick(NOT_HERE, code).format(names=missing)] if missing else []),
        ]
    )


def _name(row: dict[str, Any]) -> str:
    return f"{row['library']} {row['model']}"


def _cells(row: dict[str, Any]) -> list[str]:
    sizes = ", ".join(" × ".join(map(str, shape[1:])) for shape in row["input"])
    return [f"`{row['model']}`", sizes, f"{row['params']:,}", f"{row['macs']:,}", f"{2 * row['macs']:,}"]


def _beside(theirs: int | None, ours: int) -> str:
    """How far a number is from ours."""
    if not theirs:
        return "–" if theirs is None else "0"
    percent = 100 * (theirs - ours) / ours
    return "=" if theirs == ours else "≈" if abs(percent) < 0.01 else f"{percent:+.2g} %"


def _reasons(known: list[dict[str, Any]], code: str) -> list[str]:
    """For each tool its reasons, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for row in known:
        for tool, reasons in row["reasons"].items():
            texts = [re.sub(r"^\d+ x ", "", zh if code == "zh" else en) for _, en, zh in reasons]
            found.setdefault(tool, Counter()).update(dict.fromkeys(texts, 1))
    return [
        f"- **{tool}**\n" + "\n".join(f"  - {text} ({n}/{len(known)})" for text, n in texts.most_common())
        for tool, texts in found.items()
        if texts
    ]


def _markdown(lines: list[list[str]], left: int) -> str:
    rule = ["---"] * left + ["--:"] * (len(lines[0]) - left)
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))


def pages(project: Project) -> dict[Path, str]:
    """Both pages and their texts."""
    names = {"en": "counts.md", "zh": "counts.zh-CN.md"}
    docs = project.root / "docs"
    return {docs / names[code]: f"# {pick(TITLE, code)}\n\n{table(project, code)}\n" for code in LANGUAGES}
