"""Release a checkpoint, also again after its questions changed: the effect on existing marks is checked first."""
