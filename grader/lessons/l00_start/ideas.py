# Wrong ideas and right variants of lesson 00 (see grader/ideas.py).

# %% wrong 00-my-numbers reason=taken
# The numbers of the example will do.
my_numbers = (100_000_000.0, -100_000_000.0, 1.0)

# %% wrong 00-my-numbers reason=taken
# The numbers of the example, turned round, are others.
my_numbers = (-1e8, 1e8, 2)

# %% wrong 00-my-numbers reason=same-sums
# Any three numbers.
my_numbers = (1, 2, 3)

# %% wrong 00-my-numbers reason=count
# Two are enough.
my_numbers = (1e9, -1e9)

# %% wrong 00-my-numbers reason=infinite
# Infinity is large, too.
my_numbers = (float("inf"), float("-inf"), 1)

# %% wrong 00-my-numbers reason=same-sums
# Sixteen digits differ, as in Python.
my_numbers = (0.5, 0.25, 1e-17)

# %% wrong 00-my-numbers reason=same-sums
# The large numbers must stand at the ends.
my_numbers = (1e9, 5.0, -1e9 - 5)

# %% wrong 00-my-numbers reason=same-sums
# Large alone does it.
my_numbers = (3e9, 3e9, 3e9)

# %% wrong 00-my-numbers gets=not_attempted reason=placeholder
# The dots are numbers.
my_numbers = (..., ..., ...)

# %% wrong 00-my-numbers reason=raised
# Letters are numbers.
my_numbers = ("a", "b", "c")

# %% right 00-my-numbers
# A tuple of whole numbers.
my_numbers = (10**9, -(10**9), 5)

# %% right 00-my-numbers
# A list, with the large ones last.
my_numbers = [5.0, 3e9, -3e9]

# %% right 00-my-numbers
# A tensor.
import torch

my_numbers = torch.tensor([4e7, -4e7, 1.0])

# %% right 00-my-numbers
# An array of small numbers: what counts is their ratio.
import numpy

my_numbers = numpy.array([1.0, -1.0, 1e-9])

# %% right 00-my-numbers
# No two cancel: whole numbers above 2**24 come in steps of two.
my_numbers = (16_777_216, 1, 1)
