"""Bringing in what a learning platform hands over in one file, and giving feedback back the same way."""
