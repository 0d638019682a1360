"""Records of lesson 07: live ones run and restore, each outcome of a bet is met on invented rows, probes keep form."""

from __future__ import annotations

from statistics import median

import pytest
import torch

from course import flags
from course.experiment import base
from course.experiment.new_process import rows_of
from course.lessons.l07_precision import experiments
from course.lessons.l07_precision.experiments import LESSON
from course.records import Record
from tests.lessons.l07_precision.rows import CUDA_ROWS, growth, permissions, races, solved

PROBES = "course.lessons.l07_precision.probes"
NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]
LIVE = [name for name in NAMES if base.get(name).needs in ("cpu", "mkldnn")]
ONEDNN = torch.backends.mkldnn.is_available()
TREE = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)

# Rows below that are not made by `base.run` are invented test data. Nothing was measured.


def record_of(name, rows):
    return Record(name, 1, LESSON, {}, rows)


def settled(name, rows):
    return base.get(name).settles(record_of(name, rows))


def check_shown(experiment, record):
    """The sentence exists in both languages, and the picture can be drawn."""
    from matplotlib.figure import Figure

    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 15 for code in ("en", "zh"))
    assert not any(word in sentence["en"] for word in ("nan", "None"))
    experiment.draw(record, Figure().subplots())


# --- live -------------------------------------------------------------------------------------------------

EXPECTED = {
    "07-neighbours": {},
    "07-error-vs-k": {"07-bet-k": "b"},
    "07-counter": {"07-bet-counter": "c"},
    "07-solve": {"07-bet-solve": "b"},
    "07-noise": {"07-bet-noise": "c"},
    "07-mixing": {"07-bet-mixing": "c"},
    "07-tree": {"07-bet-default": "b"},
    "07-no-op": {"07-bet-no-op": "b" if TREE else "c"},
    "07-documented": {"07-bet-page": "a"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_live_experiments_settle_their_bets_and_leave_no_trace(name):
    before, threads = flags.read(), torch.get_num_threads()
    record = base.run(name, 60)
    assert base.get(name).settles(record) == EXPECTED[name]
    check_shown(base.get(name), record)
    assert (flags.read(), torch.get_num_threads()) == (before, threads)


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_onednn_is_asked_without_a_trace():
    before, record = flags.read(), base.run("07-onednn", 60)
    check_shown(base.get("07-onednn"), record)
    assert flags.read() == before
    assert {row["operation"] for row in record.rows} == {"matmul", "conv", "rnn", "simulated"}
    exact = [row for row in record.rows if row["permission"] in ("none", "ieee")]
    assert all(row["relative"] < 1e-5 for row in exact)


def test_the_cliff_is_there_and_the_mean_removes_it():
    rows = base.run("07-neighbours", 60).rows

    def worst(story, offset):
        return min(row["share"] for row in rows if (row["story"], row["offset"]) == (story, offset))

    assert worst("tf32", 0) > 0.9 > 0.5 > max(r["share"] for r in rows if (r["story"], r["offset"]) == ("tf32", 300))
    assert worst("tf32, mean removed", 300) > 0.9


def test_counters_stop_where_neighbours_lie_two_apart():
    last = {row["format"]: row["shown"] for row in base.run("07-counter", 60).rows}
    assert last == {"float32": 5000, "tf32": 2048, "float16": 2048, "bfloat16": 256}


def test_the_number_of_the_documentation_is_foretold_by_rounding_alone():
    found = base.run("07-documented", 60).rows
    scale = experiments.largest_of(experiments.SIDE**2)
    typical = {way: median(row["typical"] for row in found if row["way"] == way) for way in ("rounded", "cut")}
    assert (
        abs(scale * typical["rounded"] / experiments.LARGEST - 1)
        < 0.05
        < 1
        < scale * typical["cut"] / experiments.LARGEST - 1
    )


def test_the_largest_of_many_normal_errors_is_where_chance_puts_it():
    torch.manual_seed(0)
    beyond = (torch.randn(400, 4096).abs().amax(1) > experiments.largest_of(4096)).float().mean()
    assert 0.4 < beyond < 0.6


@pytest.mark.skipif(not TREE, reason="an older torch reads otherwise")
def test_one_old_reading_does_not_notice_the_contradiction():
    """What the card 07-read-raises says of the last line of the picture."""
    read = {row["read"]: row["outcome"] for row in rows_of(PROBES, "mixing") if row["api"] == "both"}
    assert read["get_float32_matmul_precision()"] == "high" and read["cuda.matmul.allow_tf32"] == "raises"


@pytest.mark.skipif(not TREE, reason="before 2.13 the root did not reach cuDNN's leaves")
def test_the_tree_answers_as_the_lesson_says():
    rows = rows_of(PROBES, "tree")
    after = {(row["set"], row["node"]): row["after"] for row in rows}
    assert after["nothing", "cudnn.conv"] == after["nothing", "cudnn.rnn"] == "tf32"
    assert after["fp32_precision = ieee", "cudnn.conv"] == "ieee"
    assert after["cudnn = ieee", "cuda.matmul"] == "ieee" and after["cudnn = ieee", "mkldnn.matmul"] == "none"
    assert after["cudnn.conv = ieee, fp32_precision = tf32", "cudnn.conv"] == "ieee"
    assert after["set_float32_matmul_precision(high)", "mkldnn.matmul"] == "tf32"
    assert after["mkldnn = bf16", "fp32_precision"] == "bf16"
    assert all(row["before"] == after["nothing", row["node"]] for row in rows)


# --- every outcome of a bet -------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "option"), [(1.1, "b"), (30.0, "c"), (1000.0, "a"), (5.0, None)])
def test_the_length_bet_follows_the_growth(factor, option):
    assert settled("07-error-vs-k", growth(factor)) == {"07-bet-k": option}
    check_shown(base.get("07-error-vs-k"), record_of("07-error-vs-k", growth(factor)))


@pytest.mark.parametrize(
    ("shown", "added", "option"), [(256, 5000, "c"), (5000, 5000, "a"), (4900, 5000, "b"), (256, 300, None)]
)
def test_the_counter_bet_follows_the_sum(shown, added, option):
    rows = [{"format": "bfloat16", "added": added, "shown": float(shown)}]
    assert settled("07-counter", rows) == {"07-bet-counter": option}


@pytest.mark.parametrize(
    ("errors", "option"),
    [
        ((1e-7, 3e-4, 1.2e-7), "b"),
        ((1e-7, 3e-4, 2.9e-4), "a"),
        ((1e-7, 3e-4, 0.1), "c"),
        ((1e-7, 3e-4, 1e-5), None),
        ((1e-7, 5e-7, 1e-7), None),
    ],
)
def test_the_solver_bet_follows_the_last_turn(errors, option):
    assert settled("07-solve", solved(*errors)) == {"07-bet-solve": option}


@pytest.mark.parametrize(("batch", "option"), [(1.0, "c"), (0.001, "b"), (1e-5, "a"), (4e-3, None)])
def test_the_noise_bet_follows_the_ratio(batch, option):
    spread = [batch * (1 + 0.01 * i) for i in range(12)] if option else [batch * (0.2 + 0.3 * i) for i in range(12)]
    rows = [{"draw": i, "batch": one, "tf32": 4e-4, "bfloat16": 3e-3} for i, one in enumerate(spread)]
    assert settled("07-noise", rows) == {"07-bet-noise": option}


@pytest.mark.parametrize(
    ("bf16", "units", "option"), [(2.4e-3, "yes", "a"), (4e-7, "unknown", "b"), (5e-5, "no", None)]
)
def test_the_onednn_bet_follows_the_error(bf16, units, option):
    assert settled("07-onednn", permissions(bf16, units)) == {"07-bet-onednn": option}
    check_shown(base.get("07-onednn"), record_of("07-onednn", permissions(bf16, units)))


@pytest.mark.parametrize(
    ("values", "option"),
    [
        (("none", "none", "none"), "a"),
        (("tf32", "tf32", "none"), "b"),
        (("none", "none", "tf32"), "c"),
        (("tf32", "tf32", "tf32"), "d"),
        (("tf32", "none", "none"), None),
    ],
)
def test_the_default_bet_follows_the_untouched_leaves(values, option):
    nodes = dict(zip(("cudnn.conv", "cudnn.rnn", "cuda.matmul"), values, strict=True))
    nodes |= dict.fromkeys(("fp32_precision", "cudnn", "mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn"), "none")
    rows = [{"set": "nothing", "node": node, "before": value, "after": value} for node, value in nodes.items()]
    assert settled("07-tree", rows) == {"07-bet-default": option}
    check_shown(base.get("07-tree"), record_of("07-tree", rows))


@pytest.mark.parametrize(("outcome", "option"), [("True", "a"), ("False", "b"), ("raises", "c"), ("Maybe", None)])
def test_the_mixing_bet_follows_the_reading(outcome, option):
    rows = [
        {
            "wrote": "fp32_precision = tf32",
            "api": "new",
            "read": "cuda.matmul.allow_tf32",
            "outcome": outcome,
            "message": "",
        }
    ]
    assert settled("07-mixing", rows) == {"07-bet-mixing": option}


@pytest.mark.parametrize(
    ("untouched", "assigned", "option"),
    [("ieee", "ieee", "a"), ("ieee", "tf32", "b"), ("tf32", "tf32", "c"), ("tf32", "ieee", None)],
)
def test_the_no_op_bet_follows_the_convolutions(untouched, assigned, option):
    rows = [
        {"story": story, "node": "cudnn.conv", "reads": value}
        for story, value in (("untouched", untouched), ("assigned", assigned))
    ]
    assert settled("07-no-op", rows) == {"07-bet-no-op": option}
    check_shown(base.get("07-no-op"), record_of("07-no-op", rows))


@pytest.mark.parametrize(
    ("verdicts", "option"),
    [(("faster", "faster"), "a"), (("same", "faster"), "b"), (("same", "same"), "c"), (("undecided", "faster"), None)],
)
def test_the_speed_bet_follows_the_verdicts(verdicts, option):
    assert settled("07-speed-cuda", races(*verdicts)) == {"07-bet-speed": option}
    check_shown(base.get("07-speed-cuda"), record_of("07-speed-cuda", races(*verdicts)))


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_record_settles_nothing_and_still_speaks(name):
    record = record_of(name, [])
    assert all(option is None for option in base.get(name).settles(record).values())
    assert "Inconclusive" in base.get(name).finding(record)["en"]


# --- CUDA: sentences on invented rows, and the form of the probes -----------------------------------------


def test_the_coarse_operations_are_named_and_so_are_the_settings_that_reach_matmul():
    rows = CUDA_ROWS["07-who-cuda"] + [{"setting": "on", "operation": "matmul", "relative": 3e-4}]
    sentence = base.get("07-who-cuda").finding(record_of("07-who-cuda", rows))["en"]
    assert "coarser than float32: conv, lstm." in sentence and sentence.endswith("under: on.")
    rows = [row for row in rows if row["setting"] != "on"]
    assert "no setting" in base.get("07-who-cuda").finding(record_of("07-who-cuda", rows))["en"]


def test_nothing_but_torch_numpy_and_tqdm_is_needed_to_record():
    import subprocess
    import sys

    code = (
        "import sys\nfor name in ('matplotlib', 'yaml', 'ipywidgets', 'IPython'): sys.modules[name] = None\n"
        "from course.experiment import base\nbase.load_all()\nassert not base.FAILED_LESSONS, base.FAILED_LESSONS\n"
        "for name in ('07-counter', '07-no-op'): assert base.run(name).rows"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_live_names_are_listed():
    assert set(LIVE) == {*EXPECTED, "07-onednn"}
