"""What a learner has answered: answer log, marking, review, calibration, answer sheets. Pure functions on plain data."""
