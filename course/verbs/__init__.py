"""The verbs of the notebooks, such as ``observe`` and ``review``: functions that call other modules and show the result.

Which verbs there are, and in which module each is: ``VERBS`` in ``course/__init__.py``.
"""
