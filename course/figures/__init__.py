"""Pictures: results in our own SVG, charts on axes by matplotlib, which is loaded when one is drawn."""
