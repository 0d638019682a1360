"""For authors: check texts and questions, make the reference pages and the book, and check that nothing secret gets to learners."""
