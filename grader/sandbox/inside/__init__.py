"""What runs inside the sandbox: the warm process, the isolation of each fork of it, and the shell in the isolate.

Nothing here may import ``grader``: only this folder and ``course`` are visible in there.
"""
