"""What a marked checkpoint says about the teaching: numbers of every question and task, and a page that shows them."""
