"""What a learner takes along: a sheet for each submodule with the own numbers, and everything in one HTML file."""
