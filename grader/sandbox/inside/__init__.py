"""What runs inside the sandbox: the warm process, the cage around each fork of it, and the shell in the cage.

Nothing here may import ``grader``: only this folder and ``course`` are visible in there.
"""
