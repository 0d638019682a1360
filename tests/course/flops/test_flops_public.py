"""Models of transformers by kin: the count is that of torch's counter on a real run, and the experts by hand; seven billion weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from course.flops import count

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
