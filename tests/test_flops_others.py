"""Models of other people: transformers' own, a diffusion U-Net, a policy with state in dicts; and seven billion weights."""

from __future__ import annotations

import pytest
import torch

from benchmarks.zoo_others import OTHERS
from benchmarks.zoo_parts import Entry
from course.flops import CountError, count
from tests.without_fork import without_fork  # noqa: F401

transformers = pytest.importorskip("transformers")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", OTHERS, ids=[entry.name for entry in OTHERS])
def test_models_of_other_people(entry: Entry) -> None:
    torch.manual_seed(0)
    model, inputs = entry.make()
    counted = count(model, *inputs)
    assert counted.macs == entry.macs and counted.exact and counted.ground == "meta"


def test_seven_billion_weights_without_memory() -> None:
    """32 layers of four projections, a gated perceptron and attention over 16 tokens; then the head."""
    config = transformers.LlamaConfig(
        vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32
    )
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config).eval()
    counted = count(model, torch.zeros(1, 16, dtype=torch.long), allow_real=False)
    layer = 16 * (4 * 4096**2 + 3 * 4096 * 11008) + 2 * 16 * 16 * 4096
    assert counted.macs == 32 * layer + 16 * 4096 * 32000 and counted.exact
    assert counted.params == 6_738_415_616 and counted["model.layers.31"].macs == layer


def test_a_mixture_of_experts_without_memory() -> None:
    """Mixtral 8x7B: every token runs through the attention (grouped keys), the router and two experts of three products."""
    config = transformers.MixtralConfig()
    with torch.device("meta"):
        model = transformers.MixtralForCausalLM(config).eval()
    counted = count(model, torch.zeros(1, 16, dtype=torch.long))
    attention = 16 * (2 * 4096**2 + 2 * 4096 * 1024) + 2 * 16 * 16 * 4096
    layer = attention + 16 * (4096 * 8 + 2 * 3 * 4096 * 14336)
    assert counted.macs == 32 * layer + 16 * 4096 * 32000 and counted.exact and counted.ground == "meta"


def test_experts_chosen_by_value_get_the_way_out() -> None:
    config = transformers.MixtralConfig(
        vocab_size=50, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    config.num_key_value_heads = 2
    with torch.device("meta"):
        model = transformers.MixtralForCausalLM(config).eval()
    ids = torch.zeros(1, 4, dtype=torch.long)
    model.set_experts_implementation("eager")
    with pytest.raises(CountError, match="`nonzero` depends on values.*set_experts_implementation") as caught:
        count(model, ids)
    assert "NotHere" not in str(caught.value)
    model.set_experts_implementation("grouped_mm")
    assert count(model, ids).exact


@pytest.mark.parametrize("training", [False, True])
def test_a_model_whose_outputs_may_not_be_changed(training: bool) -> None:
    """Bart looks at values in the middle, so the run on shapes is given up: its half-made outputs forbid `del`."""
    sizes = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in (("layers", 1), ("ffn_dim", 32))}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    model = transformers.BartModel(transformers.BartConfig(d_model=16, vocab_size=50, **sizes, **heads)).eval()
    assert count(model, torch.randint(3, 50, (1, 6)), training=training).exact
