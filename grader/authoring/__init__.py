"""From the notebook sources to what learners and nbgrader get; and the proofs that they are fit to hand out.
"""
