"""Run code without changing any of the caller's objects: on copies where the code is self-contained, else in a forked child.

child: runs code in a forked child. copies: copies everything that a value refers to. self_contained: whether a function or class
uses nothing but its arguments. preserved: restores process settings after a block. Used by `course.flops` and
`course.crosscheck`.
"""
