"""Reports: the student's feedback page, the instructor's report on a checkpoint, the class on one page."""
