"""What an author and an instructor run: notebooks from sources, assignments, marks, feedback. Never imported
by course.
"""
