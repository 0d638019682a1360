"""Try every setting that can matter for one step of the user's: which lines belong into this script, on this machine?

settings: what ran in one step, what can be tried, and the step under settings. verdicts: what follows. result: how it is shown.
running: one call of the verb ``course.verbs.trying.try_switches`` from beginning to end, in new processes, with worker at the other end:
it times the step, and compares its results.
"""
