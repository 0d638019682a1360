"""Models of transformers, with multiply-accumulates derived by hand from their configs; and seven billion weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.flops import count

transformers = pytest.importorskip("transformers")

T, E, W = 6, 16, 32  # tokens, width, width of the perceptron
IDS = torch.arange(T)[None]
SIZES = {"hidden_size": E, "intermediate_size": W, "num_hidden_layers": 2, "num_attention_heads": 2}
WORDS = {"vocab_size": 50, **SIZES}


def built(name: str, kind: str = "Model", **options: Any) -> Callable[[], nn.Module]:
    """A model of transformers by the name of its config."""
    return lambda: getattr(transformers, f"{name}{kind}")(getattr(transformers, f"{name}Config")(**options))


def attention(queries: int, keys: int) -> int:
    """Scores and values."""
    return 2 * queries * keys * E


BLOCK = T * (4 * E * E + 2 * E * W) + attention(T, T)  # four projections and a perceptron of two layers
GATED = T * (4 * E * E + 3 * E * W) + attention(T, T)  # the perceptron has a gate
HEAD = T * E * 50
ROWS: dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...], int]] = {
    "GPT-2": (
        built("GPT2", "LMHeadModel", vocab_size=50, n_embd=E, n_inner=W, n_layer=2, n_head=2),
        (IDS,),
        2 * BLOCK + HEAD,
    ),
    # all positions through the blocks; the pooler sees the first
    "BERT": (built("Bert", **WORDS), (IDS,), 2 * BLOCK + E * E),
    "Llama": (built("Llama", "ForCausalLM", **WORDS), (IDS,), 2 * GATED + HEAD),
    # two of four heads for keys and values: those two projections cost half
    "Mistral, grouped heads": (
        built("Mistral", "ForCausalLM", **WORDS | {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}),
        (IDS,),
        2 * (GATED - T * E * E) + HEAD,
    ),
    "OPT": (built("OPT", "ForCausalLM", **WORDS, ffn_dim=W, word_embed_proj_dim=E), (IDS,), 2 * BLOCK + HEAD),
    # 4 patches of 4 x 4 x 3 and a class token; the pooler of one token
    "ViT": (
        built("ViT", image_size=8, patch_size=4, **SIZES),
        (torch.randn(1, 3, 8, 8),),
        4 * 48 * E + 2 * (5 * (4 * E * E + 2 * E * W) + attention(5, 5)) + E * E,
    ),
    # encoder, decoder with its own attention and one to the encoder; no scaling, no bias, head tied
    "T5": (
        built(
            "T5",
            "ForConditionalGeneration",
            **{"vocab_size": 50, "d_model": E, "d_kv": 8, "d_ff": W, "num_layers": 1, "num_heads": 2},
            decoder_start_token_id=0,
            pad_token_id=0,
        ),
        (IDS, None, IDS[:, :2]),
        BLOCK + 2 * (4 * E * E + 2 * E * W) + attention(2, 2) + (2 * 2 + 2 * T) * E * E + attention(2, T) + 2 * E * 50,
    ),
    "CLIP's text": (built("CLIPText", **WORDS, eos_token_id=5), (IDS,), 2 * BLOCK),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROWS)
def test_models_of_other_people(name: str) -> None:
    torch.manual_seed(0)
    build, inputs, macs = ROWS[name]
    counted = count(build().eval(), *inputs)
    assert counted.macs == macs and counted.exact and counted.ground == "meta"


def test_seven_billion_weights_without_memory() -> None:
    """32 layers of four projections, a gated perceptron and attention over 16 tokens; then the head."""
    config = transformers.LlamaConfig(
        vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32
    )
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config).eval()
    counted = count(model, torch.zeros(1, 16, dtype=torch.long))
    layer = 16 * (4 * 4096**2 + 3 * 4096 * 11008) + 2 * 16 * 16 * 4096
    assert counted.macs == 32 * layer + 16 * 4096 * 32000 and counted.exact
    assert counted.params == 6_738_415_616 and counted["model.layers.31"].macs == layer


@pytest.mark.parametrize("training", [False, True])
def test_a_model_whose_outputs_may_not_be_changed(training: bool) -> None:
    """Bart looks at values in the middle, so the run on shapes is given up: its half-made outputs forbid `del`."""
    sizes = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in (("layers", 1), ("ffn_dim", 32))}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    model = transformers.BartModel(transformers.BartConfig(d_model=16, vocab_size=50, **sizes, **heads)).eval()
    assert count(model, torch.randint(3, 50, (1, 6)), training=training).exact
