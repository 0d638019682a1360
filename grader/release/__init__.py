"""Release a checkpoint: build it, hand it out, hold it back, make one for each student."""
