"""The student's feedback page, and the instructor's report on a checkpoint."""
