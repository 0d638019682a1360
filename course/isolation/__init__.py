"""Run code in this process and put back afterwards what it changed: `left_as_it_was` (its objects and settings), `unchanged`
(memory too).

journal: the Python objects within reach. saving: the memory of tensors. preserved: settings of the process. limits: seconds.
Used by `course.flops` and `course.crosscheck`.
"""
