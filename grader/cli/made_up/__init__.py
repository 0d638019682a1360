"""A made-up class: what each student hands in, what each deserves, and the whole way through nbgrader's exchange."""
