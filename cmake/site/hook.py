"""The hook of MkDocs (mkdocs.yml): adds the pages that programs write, and links to files outside of docs/."""

import pathlib
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_interface  # noqa: E402
import diagnostics  # noqa: E402
import operators  # noqa: E402
import python_classes  # noqa: E402
import repository_pages  # noqa: E402
import yaml_files  # noqa: E402


def on_page_markdown(markdown, page, **_):
    """The site has the documents alone: a link to another file of the repository becomes its page, or its path."""
    if page.file.generated_by:
        return markdown
    folder = pathlib.PurePosixPath("docs", page.file.src_uri).parent
    return repository_pages.led_to_pages(markdown, str(folder), page.file.src_uri)


def on_files(files, config):
    for writer in (operators, python_classes, cpp_interface, diagnostics, yaml_files, repository_pages):
        for path, text in writer.pages():
            files.append(File.generated(config, path, content=text))
    return files
