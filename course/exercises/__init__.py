"""Exercises: what a learner writes, how it is checked, and the usual slips."""
