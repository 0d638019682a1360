"""What one student handed in: its files, what is read of them, whose paper it is."""
