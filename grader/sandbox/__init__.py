"""Running untrusted code: a warm process in a sandbox, and a fork of it for every submission.

``limits``: what one submission may use. ``inside/``: the code that runs in the sandbox. ``launch``: the command that starts
it. ``groups``: control groups. ``warm``: the warm process and its kernels as the grader sees them. ``meter``: how much a running
cell has used.
"""
