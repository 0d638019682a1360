"""Run code without changing any of the caller's objects: on copies where the code is self-contained, else in a forked child.

child: a forked child. copies: copies of everything that can be reached. self_contained: whether a function or class touches
nothing but its arguments. kept: process settings, restored after a block. Used by `course.flops` and `course.crosscheck`.
"""
