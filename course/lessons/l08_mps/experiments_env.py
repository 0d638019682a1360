"""Experiment of lesson 08: until when an environment variable still counts."""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON

# --- 08-env-when --------------------------------------------------------------------------------------------


@experiment(name="08-env-when", lesson=LESSON, needs="cpu", seconds=45)
def env_when(budget: Budget) -> Iterator[dict]:
    """Each variable set before import, after import and after the first use, in new processes."""
    values = {
        "OMP_NUM_THREADS": "1",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
        "ATEN_CPU_CAPABILITY": "default",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    }
    seen = {
        moment: probes.seen_at(moment, values)
        for moment in budget.loop(probes.MOMENTS, desc=both("new processes", "新进程"))
    }
    named = probes.named_in_libraries((*probes.VARIABLES, probes.FALLBACK))
    for variable in probes.VARIABLES:
        never, early = (seen.get(moment, {}).get(variable) for moment in ("never", "before import"))
        for moment in probes.MOMENTS[1:]:
            if moment in seen:
                value = seen[moment][variable]
                counted = "unclear" if never == early else "yes" if value == early else "no"
                yield {
                    "variable": variable,
                    "moment": moment,
                    "counted": counted,
                    "seen": str(value),
                    "without": str(never),
                }
    yield {
        "variable": probes.FALLBACK,
        "moment": "any",
        "counted": "unclear" if named[probes.FALLBACK] else "nobody reads it",
        "seen": "named in the libraries" if named[probes.FALLBACK] else "not in the libraries",
        "without": "",
    }


def read_env_when(rows: list[dict]) -> Reading:
    """How many of the variables still count after the import; those of which it cannot be seen decide nothing."""
    variables = {
        name: {row["moment"]: row["counted"] for row in rows if row["variable"] == name}
        for name in dict.fromkeys(row["variable"] for row in rows)
    }
    drawn = []
    for name, found in variables.items():
        counted = {moment: found.get(moment, found.get("any", "not run")) for moment in probes.MOMENTS[1:]}
        drawn.append({"variable": name, **counted, "told": [moment for moment, one in counted.items() if one == "no"]})
    after = [found["after import"] for found in variables.values() if "after import" in found]
    in_time, late = after.count("yes"), after.count("no")
    if in_time + late < 2 or len(after) < len(probes.VARIABLES):
        return Reading(drawn=drawn)
    outcome = "a" if not in_time else "c" if not late else "b"
    return Reading(outcome, {"counted": in_time, "all": in_time + late}, drawn)
