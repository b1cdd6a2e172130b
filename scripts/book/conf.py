# Builds the book (make book) from the Markdown files of the repository, which read
# as well where they are.
import re

project = html_title = "pipeline"
author = "the authors of pipeline"
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = [
    "README.md", "CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "bench/README.md",
    "configs/README.md", "deploy/README.md", "deploy/python/README.md", "deploy/spark/README.md",
    "docs/**.md", "models/*.md", "scripts/README.md", "scripts/setup/README.md",
]
exclude_patterns = ["**/.testenv/**", "out/**", "**/node_modules/**", "docs/log/**"]  # the log is no page
myst_heading_anchors = 6
highlight_language = "none"
smartquotes = False  # would make one dash of the two of a flag
html_theme = "furo"
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
suppress_warnings = ["myst.header"]


def contents(app, docname, source):
    """Makes the chapters of docs/README.md, and the pages beside any other
    README.md in docs, the table of contents."""
    # Sources and networks stay outside the book, in which Go would find packages; so does the log.
    text = re.sub(r"\[([^]]+)\]\((?:[^)\s]+\.(?:go|mod|onnx)|[^)\s]*\blog/[^)\s]+)\)", r"\1", source[0])
    if docname == root_doc:
        text = re.sub(r"^## (.+)\n\n((?:- .*\n)+)", chapter, text, flags=re.M)
    elif docname.startswith("docs/") and docname.endswith("/README"):
        text += "\n\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    source[0] = text


def chapter(match):
    entries = re.findall(r"^- \[(.+?)\]\((.+?)\.md\)", match[2], flags=re.M)
    lines = "\n".join(f"{title} <{page}>" for title, page in entries)
    return f"{match[0]}\n```{{toctree}}\n:hidden:\n:caption: {match[1]}\n\n{lines}\n```\n"


def setup(app):
    app.connect("source-read", contents)
