"""The steps of a checkpoint: bring in, mark, give back, export."""
