"""Marking inside nbgrader: answers are harvested, submissions repaired, functions probed, and cells given
their points.
"""
