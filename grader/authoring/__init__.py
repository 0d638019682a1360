"""From the notebook sources to what learners and nbgrader get, with proofs that it is fit to hand out."""
