"""Run code in this process and put back afterwards what it changed: `unchanged`.

journal: the Python objects within reach. saving: the memory of tensors. preserved: settings of the process. limits: seconds.
Used by `course.flops`, `course.crosscheck` and `course.tryout`.
"""
