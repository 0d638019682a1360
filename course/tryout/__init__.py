"""Try every setting that can matter for one step of the user's: which lines belong into this script, on this machine?

settings: what can be tried. work: the user's step, copied and put back. look: what ran in one step. measuring: digits, memory,
times in one process. starting: copies of the step in new processes. verdicts: what follows. result: how it is shown.
running: one call from beginning to end. The verb is ``course.verbs.trying.try_switches``.
"""
