"""The verbs of the notebooks: thin, each tells one other module what to do and shows what comes back.

Whatever a learner types wrongly ends in a sentence with the next step, never in a traceback of ours.
"""
