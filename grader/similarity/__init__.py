"""Signals that two submissions have something in common beyond the task: look at these, nothing more is said."""
