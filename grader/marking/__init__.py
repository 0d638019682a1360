"""Marking. ``autograde`` marks a class, ``mark_submission.mark`` one submission, also under stock nbgrader commands (``execute``).

The steps in their order: ``restored_cells`` restores the graded cells, ``running`` runs the code and
the probes in the sandbox, ``mark_cells`` gives each graded cell its points, ``held`` holds marks back where somebody must look first.
"""
