"""The hook of MkDocs (mkdocs.yml): adds the pages that programs write, and links to files outside of docs/."""

import pathlib
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_interface  # noqa: E402
import diagnostics  # noqa: E402
import operators  # noqa: E402
import python_classes  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
LINK_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown, page, **_):
    """The site has the documents alone: a link to another file of the repository becomes its path."""

    def path_of(match):
        target = (ROOT / "docs" / page.file.src_uri).parent / (match[2] + match[3])
        outside = target.resolve().relative_to(ROOT)
        if outside.parts[0] == "docs" or not target.exists():
            return match[0]  # a page, or a dead link, which MkDocs reports
        return f"`{outside}`" if match[1].strip("`") in str(outside) else f"{match[1]} (`{outside}`)"

    return LINK_OUTSIDE.sub(path_of, markdown)


def on_files(files, config):
    for writer in (operators, python_classes, cpp_interface, diagnostics):
        for path, text in writer.pages():
            files.append(File.generated(config, path, content=text))
    return files
