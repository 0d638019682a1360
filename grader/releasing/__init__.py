"""Handing a checkpoint out again after its questions changed: what marks that exist rest on is looked at first."""
