"""Mark a class again after a key, the points or a hidden test changed: first show the differences, then write."""
