"""Try every setting that can matter for one step of the user's: which lines belong into this script, on this machine?

settings: what can be tried. look: what ran in one step. step: the user's step under settings. bench: digits, memory and times in
this process. processes: the same in new ones. verdicts: what follows. result: how it is shown. trial: what is known in one call of
the verb ``course.verbs.trying.try_switches``. here, elsewhere: what to compare next, in this process and in new ones. running: the
call from beginning to end.
"""
