"""The names that Windows refuses for a file or folder."""

import re

SIGNS = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def refused(name: str) -> bool:
    """Whether Windows refuses this name."""
    return bool(SIGNS.search(name) or RESERVED.match(name))
