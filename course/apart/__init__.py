"""Running code apart, so that nothing that is alive is changed: on copies where code keeps to itself, else in a forked child.

child: a forked child. copies: copies of all that can be reached. sealed: whether code keeps to itself. kept: settings
of the process put back. Used by counting (`course.flops`) and by the other counters (`course.crosscheck`).
"""
