"""The hidden side of the code tasks: cases, references and judges, one module a lesson. Learners never get
these.
"""
