"""Build notebooks from their sources, check texts and questions, and check that nothing secret gets to learners."""
