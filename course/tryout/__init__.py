"""Try every setting that can matter for one step of the user's: which lines belong into this script, on this machine?

settings: what can be tried. look: what ran in one step. step: the user's step under settings. digits: what settings
do to its result. venue: where it runs, with there at the other end. verdicts: what follows. result: how it is
shown. running: one call of the verb ``course.verbs.trying.try_switches`` from beginning to end, with the times, in turns.
"""
