"""What experiments share: how one is registered and run, new processes, words and the parts of pictures."""
