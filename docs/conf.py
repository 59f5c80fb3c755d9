"""The site, for Sphinx: `make docs`. The extensions of this project are in extensions/."""

import os
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / "extensions")]

import elmo_tasks.plugin  # noqa: E402 (makes AllenNLP importable, for autodoc)

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
REPOSITORY = SETTINGS["project"]["urls"]["Source"]
SITE = SETTINGS["project"]["urls"]["Documentation"]
PUBLISHED_AS = os.environ.get("SITE_VERSION")
"""The folder of the published site: `latest` or a version; unset for a build to read here."""

project = "elmo-tasks"
author = "The elmo_tasks authors"
copyright = f"2026 {author}. Apache-2.0"
release = version = elmo_tasks.__version__
language = "en"

extensions = [
    "myst_nb",
    "notfound.extension",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_sitemap",
    "sphinxext.opengraph",
    "browser_page",
    "docstrings",
    "equations",
    "key_index",
    "notebooks",
    "references",
    "repository_links",
    "table_classes",
]
exclude_patterns = [
    "README.md",
    "conf.py",
    "publish.py",
    "generate.py",
    "generate_reference.py",
    "generate_tables.py",
    "new_task",
    "extensions",
    "images/*.py",
    "new_task",
    "browser/export.py",
    "static",
    "templates",
    "tutorials/execute.py",
]
nitpicky = True
# Imported for type checkers alone: of spaCy, and of `tasks`.
NOT_IMPORTED = ("Language", "Input", "Output", "JsonLinesPredictor")
# In signatures of overloads, which autodoc shows as they are written.
IN_OVERLOADS = (
    "Sentences",
    "LayerChoice",
    "Tokenizer",
    "NDArray",
    "np.float32",
    "Tensor",
)
nitpick_ignore = [("py:class", name) for name in (*NOT_IMPORTED, *IN_OVERLOADS)]
repository = REPOSITORY

# Markdown: that of GitHub, with equations.
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
myst_dmath_allow_labels = False

# Notebooks: `make generated` has executed them.
nb_execution_mode = "off"
nb_custom_formats = {".py": "notebooks.read"}
nb_merge_streams = True
nb_render_markdown_format = "gfm"  # with tables

highlight_language = "none"  # of blocks that name no language: what commands print

# The API.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "no-value": True}
autodoc_mock_imports = ["sentence_transformers"]
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 80
default_role = "py:obj"

html_math_renderer = "svg"

# What search engines and links in messages show: a map of the pages, and a description of each.
sitemap_url_scheme = "{link}"
sitemap_excludes = ["404/", "genindex/", "search/"]
ogp_site_url = f"{SITE}latest/"
ogp_site_name = "elmo-tasks"
ogp_image = f"{SITE}latest/_images/page.png"
ogp_image_alt = (
    "Two models beside each other: without ELMo a name is wrong, with ELMo right"
)
ogp_enable_meta_description = True
ogp_social_cards = {"enable": False}

# The page for addresses that do not exist, which GitHub Pages shows at any depth.
notfound_template = "404.html"
# `root_doc`: of "index" the extension makes "#", of "" the address of the first page.
notfound_context = {"title": "Page not found", "root_doc": ""}
notfound_urls_prefix = f"{urlsplit(SITE).path}{PUBLISHED_AS or 'latest'}/"

# The pages.
templates_path = ["templates"]
html_theme = "pydata_sphinx_theme"
html_title = f"elmo-tasks {release}"
html_baseurl = f"{SITE}latest/"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(HERE / "scorer.js")
html_show_sphinx = False
html_context = {"repository": REPOSITORY, "default_mode": "auto"}
html_theme_options: dict[str, object] = {
    "logo": {"text": "elmo-tasks"},
    "icon_links": [
        {"name": "Repository", "url": REPOSITORY, "icon": "fa-brands fa-github"}
    ],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": [
        "version-switcher" if PUBLISHED_AS else "version",
        "theme-switcher",
        "navbar-icon-links",
    ],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["links"],
    "navbar_persistent": ["search-button"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if PUBLISHED_AS:
    html_theme_options["switcher"] = {
        "json_url": f"{urlsplit(SITE).path}versions.json",
        "version_match": PUBLISHED_AS,
    }
    html_theme_options["check_switcher"] = False  # it would read the published file
