# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""The guide: sphinx-build doc OUT. The pages are Markdown, so that they also read well where the sources are browsed."""

import re
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent

project = "pagepool"
author = "the pagepool authors"
copyright = "2026, " + author
release = re.search(r"version: '([^']+)'", (HERE.parent / "meson.build").read_text()).group(1)
version = release

extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# Links to sections: those that the pages' own renderer makes.
myst_heading_anchors = 4
exclude_patterns = ["_build"]
# The theme of DPDK's guides where it is installed.
html_theme = "sphinx_rtd_theme" if find_spec("sphinx_rtd_theme") else "alabaster"
html_show_sourcelink = False
