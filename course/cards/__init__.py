"""Cards on the screen: question cards as widgets and as text, knowledge cards, Anki, the offline page."""
