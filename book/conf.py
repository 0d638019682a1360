"""The settings of Sphinx for the book. Nothing is loaded from outside; `python -m grader author book` builds it."""

extensions = ["myst_parser"]
project = "torch.backends"
root_doc = "index"
myst_heading_anchors = 4
html_theme = "furo"
html_title = "torch.backends"
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_use_index = False
templates_path = ["_templates"]
html_css_files = ["shown.css", "book.css"]
html_js_files = [("theme.js", {"defer": "defer"}), ("book.js", {"defer": "defer"})]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "languages.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"  # both come with Furo
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1657b8",
        "color-brand-content": "#1657b8",
        "color-brand-visited": "#6b2a8c",
        "color-link--visited": "#6b2a8c",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ab4f8",
        "color-brand-content": "#8ab4f8",
        "color-brand-visited": "#c9a3f0",
        "color-link--visited": "#c9a3f0",
    },
}
