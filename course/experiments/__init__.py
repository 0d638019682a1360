"""Live experiments, one module a lesson (`lesson_NN.py`); the machinery is in `course.experiments.base`."""
