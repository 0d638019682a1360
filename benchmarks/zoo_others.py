"""Models as other people build them, with multiply-accumulates derived by hand: transformers' from their configs, a
diffusion U-Net, a recurrent policy that keeps its state in a dict. T: tokens, E: width, F: width of the perceptron.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.zoo_parts import Entry, randn

T, E, W = 6, 16, 32  # tokens, width, width of the perceptron
IDS = torch.arange(T)[None]


def _built(name: str, config: str, **options: Any) -> nn.Module:
    import transformers

    return getattr(transformers, name)(getattr(transformers, config)(**options)).eval()


def _sizes(**options: Any) -> dict[str, Any]:
    return {
        "vocab_size": 50,
        "hidden_size": E,
        "intermediate_size": W,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    } | options


def _attention(queries: int, keys: int) -> int:
    """Scores and values."""
    return 2 * queries * keys * E


class Policy(nn.Module):
    """A recurrent policy: its state lives in a dict, a count of steps and a running mean in a helper's."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.cell, self.act = nn.Linear(10, E), nn.GRUCell(E, E), nn.Linear(E, 4)
        self.memory: dict[str, Any] = {"state": torch.zeros(3, E), "seen": {"steps": torch.zeros(()), "log": []}}

    def forward(self, x: Tensor) -> Tensor:
        state = self.cell(F.relu(self.see(x)), self.memory["state"])
        self.memory["state"] = state
        self.memory["seen"]["steps"].add_(1)
        self.memory["seen"]["log"].append(state)
        return self.act(state)


class Residual(nn.Module):
    """A residual block of a diffusion U-Net, told the time."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(inside, outside, 3, padding=1), nn.Conv2d(outside, outside, 3, padding=1)
        self.norms, self.time = (
            nn.ModuleList((nn.GroupNorm(4, inside), nn.GroupNorm(4, outside))),
            nn.Linear(32, outside),
        )
        self.skip = nn.Conv2d(inside, outside, 1) if inside != outside else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.first(F.silu(self.norms[0](x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.second(F.silu(self.norms[1](y)))


class Diffusion(nn.Module):
    """As in diffusers: time embedding, down, attention to a text in the middle, up with a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.into = (
            nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32)),
            nn.Conv2d(4, 8, 3, padding=1),
        )
        self.down, self.smaller = Residual(8, 8), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.middle, self.cross = Residual(16, 16), nn.MultiheadAttention(16, 2, kdim=12, vdim=12, batch_first=True)
        self.larger, self.up, self.out = nn.Conv2d(16, 8, 3, padding=1), Residual(16, 8), nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x: Tensor, time: Tensor, text: Tensor) -> Tensor:
        wave = torch.outer(time.float(), torch.exp(-torch.arange(8) * 0.5))
        told = self.embed(torch.cat((wave.sin(), wave.cos()), 1))
        high = self.down(self.into(x), told)
        low = self.middle(self.smaller(high), told)
        flat = low.flatten(2).transpose(1, 2)
        low = (flat + self.cross(flat, text, text)[0]).transpose(1, 2).unflatten(2, low.shape[2:])
        back = self.larger(F.interpolate(low, scale_factor=2.0, mode="nearest"))
        return self.out(self.up(torch.cat((back, high), 1), told))


def _diffusion_macs() -> int:
    """An image of 8 x 8, then 4 x 4; 5 words of 12 numbers."""
    time = 16 * 32 + 32 * 32 + 32 * (8 + 16 + 8)
    down = 64 * 9 * (4 * 8 + 2 * 8 * 8) + 16 * 9 * 8 * 16
    middle = 16 * 9 * 2 * 16 * 16 + (2 * 16 * 16 * 16 + 2 * 5 * 12 * 16 + 2 * 16 * 5 * 16)
    up = 64 * 9 * 16 * 8 + 64 * (9 * (16 * 8 + 8 * 8) + 16 * 8) + 64 * 9 * 8 * 4
    return time + down + middle + up


PICTURE = randn(1, 3, 8, 8)
BLOCK = T * (4 * E * E + 2 * E * W) + _attention(T, T)  # four projections and a perceptron of two layers
GATED = T * (4 * E * E + 3 * E * W) + _attention(T, T)  # the perceptron has a gate
OTHERS = [
    Entry(
        "GPT-2",
        lambda: (
            _built("GPT2LMHeadModel", "GPT2Config", vocab_size=50, n_embd=E, n_inner=W, n_layer=2, n_head=2),
            (IDS,),
        ),
        2 * BLOCK + T * E * 50,
    ),
    # all positions through the blocks; the pooler sees the first
    Entry("BERT", lambda: (_built("BertModel", "BertConfig", **_sizes()), (IDS,)), 2 * BLOCK + E * E),
    Entry("Llama", lambda: (_built("LlamaForCausalLM", "LlamaConfig", **_sizes()), (IDS,)), 2 * GATED + T * E * 50),
    # two of four heads for keys and values: those two projections cost half
    Entry(
        "Mistral, grouped heads",
        lambda: (
            _built(
                "MistralForCausalLM",
                "MistralConfig",
                **_sizes(num_attention_heads=4, num_key_value_heads=2, head_dim=4),
            ),
            (IDS,),
        ),
        2 * (GATED - T * E * E) + T * E * 50,
    ),
    Entry(
        "OPT",
        lambda: (
            _built(
                "OPTForCausalLM",
                "OPTConfig",
                vocab_size=50,
                hidden_size=E,
                ffn_dim=W,
                num_hidden_layers=2,
                num_attention_heads=2,
                word_embed_proj_dim=E,
            ),
            (IDS,),
        ),
        2 * BLOCK + T * E * 50,
    ),
    # 4 patches of 4 x 4 x 3 and a class token; the pooler of one token
    Entry(
        "ViT",
        lambda: (
            _built(
                "ViTModel",
                "ViTConfig",
                image_size=8,
                patch_size=4,
                **{k: v for k, v in _sizes().items() if k != "vocab_size"},
            ),
            (PICTURE,),
        ),
        4 * 48 * E + 2 * (5 * (4 * E * E + 2 * E * W) + _attention(5, 5)) + E * E,
    ),
    # encoder, decoder with its own attention and one to the encoder; no scaling, no bias, head tied
    Entry(
        "T5",
        lambda: (
            _built(
                "T5ForConditionalGeneration",
                "T5Config",
                vocab_size=50,
                d_model=E,
                d_kv=8,
                d_ff=W,
                num_layers=1,
                num_heads=2,
                decoder_start_token_id=0,
                pad_token_id=0,
            ),
            (IDS, None, IDS[:, :2]),
        ),
        BLOCK
        + 2 * (4 * E * E + 2 * E * W)
        + _attention(2, 2)
        + (2 * 2 + 2 * T) * E * E
        + _attention(2, T)
        + 2 * E * 50,
    ),
    Entry(
        "CLIP's text", lambda: (_built("CLIPTextModel", "CLIPTextConfig", **_sizes(eos_token_id=5)), (IDS,)), 2 * BLOCK
    ),
    Entry(
        "diffusion U-Net",
        lambda: (Diffusion().eval(), (randn(1, 4, 8, 8), torch.tensor([3]), randn(1, 5, 12))),
        _diffusion_macs(),
    ),
    Entry("recurrent policy", lambda: (Policy().eval(), (randn(3, 10),)), 3 * (10 * E + 3 * E * 2 * E + 4 * E)),
]
