"""One folder a lesson, and the texts that lessons share. ``course.catalog`` lists the lessons."""
