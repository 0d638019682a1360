"""Release a checkpoint, and put together what a class gets."""
