"""The hidden tasks of checkpoint NN: inputs are drawn at grading time and compared with the reference."""

from grader.project.task import Case, Task, parts_beside


def cases(rng):
    drawn = [Case("typical", ([rng.randint(-9, 9) for _ in range(rng.randint(2, 6))],)) for _ in range(6)]
    return [*drawn, Case("edge", ([],)), Case("edge", ([rng.randint(1, 9)],))]


def reference(values):
    return sum(values)


PARTS = parts_beside(__file__)  # tasks.yaml: points, and what a student reads where a part is not right
TASKS = [Task(id="NN-t-sum", name="total_of", cases=cases, reference=reference, parts=PARTS["NN-t-sum"])]
