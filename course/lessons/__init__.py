"""One folder a lesson, and the texts that lessons share. ``course.core.catalog`` lists the lessons."""
