"""Running untrusted code: a warm process in a sandbox, and a fork of it for every submission.

``limits`` what one submission may use; ``inside/`` what runs in the sandbox; ``launch`` how it is started;
``groups`` control groups where there are some; ``warm`` the kernels as the grader sees them.
"""
