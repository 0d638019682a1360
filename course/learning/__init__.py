"""What a learner has answered: answer log, marking, review, bets, answer sheets. Pure functions on plain data."""
