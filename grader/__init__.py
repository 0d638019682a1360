"""The tools of authors and instructors: build notebooks, release checkpoints, mark, give feedback. ``course`` never imports this."""

import sys

# jsonschema, which nbformat imports, builds a grammar of web addresses (0.9 s) where this module is installed. No
# schema of notebooks asks for it.
sys.modules.setdefault("rfc3987_syntax", None)
