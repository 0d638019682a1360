"""Things to touch: a question, controls, a picture that follows them, one sentence to keep; the same in a notebook and in the book."""
