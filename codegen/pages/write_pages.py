"""Writes the pages of a library's operators, and an index. Called by tenonc:  write_pages.py IR OUT

Pages of an earlier run that are no operators' any more are deleted. Files that other programs have put into OUT stay.
"""

import collections
import json
import os
import sys

import operator_page
import plot

LISTING = ".pages"


def page(base, operators, internal, tables):
    """The Markdown of the operators of one name."""
    lines = [f"# {base}", ""]
    places = sorted({place_of(operator, tables) for operator in operators + internal})
    entries = [tables[file][line] for file, line in places if line]
    comments = dict.fromkeys(comment for _, comment, _ in entries if comment)
    lines += [line for comment in comments for line in (comment, "")]
    texts = [text for _, _, text in entries]
    for operator in operators:
        if operator["alias"]:
            lines += [f"Another name of `{operator['alias']['name']}`.", ""]
    lines += [line for block in operator_page.formulas(texts) for line in (block, "")]
    found = [one for text in texts for key, one in operator_page.shown_expressions(text) if not key]
    curves = plot.curves(operators[0], found[0]) if operators[0]["expression"] and len(found) == 1 else []
    if curves:
        lines += [plot.draw(base, curves), ""]
    lines += operator_page.sections(operators, internal, texts, "")
    return "\n".join(lines).rstrip() + "\n"


def place_of(operator, tables):
    """(file, line) of an operator's entry."""
    file = operator["place"]["file"]
    if file not in tables:
        tables[file] = operator_page.read_entries(file)
    return file, operator_page.entry_at(tables[file], operator["place"]["line"])


def summary(operators, tables):
    """The first sentence of an entry's comment, or nothing."""
    file, line = place_of(operators[0], tables)
    comment = tables[file][line][1] if line else ""
    return comment.partition(". ")[0].rstrip(".").replace("|", "\\|")


def pages(ir):
    """(name, text) of every page; the index comes last."""
    by_name, tables = collections.defaultdict(list), {}
    for operator in ir["operators"]:
        if not operator_page.is_internal(operator["base"]):
            by_name[(operator["cpp_namespace"], operator["base"])].append(operator)
    bases = collections.Counter(base for _, base in by_name)
    index = [f"# Operators of {ir['name']}", "", "| operator | |", "| --- | --- |"]
    for (namespace, base), operators in sorted(by_name.items()):
        title = f"{namespace}::{base}"
        name = base if bases[base] == 1 else f"{namespace}_{base}"
        name = f"{name}_" if name == "index" else name
        yield f"{name}.md", page(title, operators, operator_page.helpers(operators, ir["operators"]), tables)
        index.append(f"| [`{title}`]({name}.md) | {summary(operators, tables)} |")
    yield "index.md", "\n".join(index) + "\n"


def write(folder, texts):
    """Writes the pages whose text changed, and deletes those of the last run that are gone."""
    os.makedirs(folder, exist_ok=True)
    listing = os.path.join(folder, LISTING)
    try:
        with open(listing, encoding="utf-8") as file:
            earlier = set(file.read().split("\n"))
    except FileNotFoundError:
        earlier = set()
    for name in earlier - set(texts) - {""}:
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    written = 0
    for name, text in {**texts, LISTING: "\n".join(texts)}.items():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    continue
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
        written += name != LISTING
    return written


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        ir = json.load(file)
    texts = dict(pages(ir))
    print(f"{write(sys.argv[2], texts)} of {len(texts)} pages written")


if __name__ == "__main__":
    main()
