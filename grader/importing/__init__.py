"""Import the submissions that Moodle or Canvas put into one file, and write the feedback into a file for them."""
