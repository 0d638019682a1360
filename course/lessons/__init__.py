"""One folder a lesson, the texts that lessons share, and the pictures of four main ideas. ``course.core.catalog`` lists the lessons."""
