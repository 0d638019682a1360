"""What a class gets: notebooks, the course as one wheel, a way to start; and nothing that answers a checkpoint."""
