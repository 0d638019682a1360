"""Marking a class again after a key, the points or a hidden test changed: first the differences, then the writing."""
