"""Mark a class: every submission once, in processes of this machine or on a cluster (``pool``)."""
