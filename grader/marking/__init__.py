"""Marking. ``autograde`` marks a class, ``whole.mark`` one submission; the preprocessors do the same under stock nbgrader commands.

The steps in their order: ``restored_cells`` restores the graded cells, ``running`` runs the code and
the probes in the sandbox, ``mark`` gives each graded cell its points, ``held`` holds marks back where somebody must look first.
"""
