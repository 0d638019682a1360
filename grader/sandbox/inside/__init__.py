"""The code that runs inside the sandbox: the warm process, the isolation of its forks, and the shell that runs cells.

Nothing here may import ``grader``: only this folder and ``course`` are visible inside.
"""
