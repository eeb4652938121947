#!/usr/bin/env python3
"""Checks the documentation: links, mentions of pages, pages outside the navigation, long sentences.

    pages.py [--root FOLDER] [--report]

A link of a Markdown file must lead to a file and, in Markdown, to a heading. A page of docs/ that any file mentions must be there. Every
page under docs/ is in the navigation of mkdocs.yml. The sentences of a page have at most 15 words on average, and all pages together at most
30,000 words, tables included, code not. --report prints each page's words, its mean and longest sentence, and how often it has a word that stands in
the place of a noun.
"""

import argparse
import pathlib
import re
import subprocess
import sys

LIMIT = 15
LIMIT_OF_ALL = 30_000
# Written by programs.
UNMEASURED = {"docs/conformance.md", "docs/cuda_static.md"}
# What MkDocs' hook writes.
GENERATED = ("reference/", "reports/")
VAGUE = r"\b(?:what|those|such|whole|of (?:its|one's|their) own|lies|lie|leads? to|stands? for)\b"
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
MENTION = re.compile(r"(?<![\w/.])docs/[\w/]+\.md")


def files(root):
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return sorted({name for name in names if name and (root / name).is_file()})


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def headings(text):
    """The anchors of a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)", "", heading).lower()).strip()
        found.add(re.sub(r"[ -]+", "-", slug))
    return found


def dead_links(root, name, text):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", without_code(text))):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (root / name).parent / path if path else root / name
        if any(part in file.as_posix() for part in GENERATED):
            continue
        if not file.exists():
            yield f"{name}: [link] {target} leads to no file"
        elif anchor and file.suffix == ".md" and anchor not in headings(file.read_text()):
            yield f"{name}: [link] {target}: the page has no such heading"


def sentences(text):
    """The lists of words of a page's sentences: without code, tables, headings."""
    text = re.sub(r"\A---\n.*?\n---\n", "", without_code(text), flags=re.S)
    text = re.sub(r"^(?:#| {4}\S|\||<|!\[).*$", "", text, flags=re.M)
    text = re.sub(r"`[^`]*`", "code", LINK.sub("link", text))
    for paragraph in re.split(r"\n\s*\n|^ *(?:[-*]|\d+\.) ", text, flags=re.M):
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph.replace("\n", " ")):
            words = re.findall(r"\w[\w'/-]*", sentence)
            if words:
                yield words


def number_of_words(text):
    """Of sentences, headings and tables."""
    text = re.sub(r"^ {4}\S.*$", "", without_code(text), flags=re.M)
    return sum(any(c.isalnum() for c in word) for word in text.split())


def is_measured(name):
    """The pages of the site, and the files beside README.md."""
    return (name.startswith("docs/") or "/" not in name) and name not in UNMEASURED


def navigation(root):
    text = (root / "mkdocs.yml").read_text()
    return set(re.findall(r"([\w/]+\.md)$", text[text.index("nav:") :], re.M))


def check(root):
    names = files(root)
    problems, words = [], 0
    for name in names:
        try:
            text = (root / name).read_text()
        except UnicodeDecodeError:
            continue
        problems += (
            []
            if name.startswith("tests/lint/")
            else [
                f"{name}: [mention] there is no {page}"
                for page in sorted(set(MENTION.findall(text)))
                if not (root / page).is_file() and not page.removeprefix("docs/").startswith(GENERATED)
            ]
        )
        if not name.endswith(".md"):
            continue
        problems += dead_links(root, name, text)
        lengths = [len(sentence) for sentence in sentences(text)]
        words += number_of_words(text) if is_measured(name) else 0
        if lengths and is_measured(name) and sum(lengths) / len(lengths) > LIMIT:
            problems.append(
                f"{name}: [sentences] {sum(lengths) / len(lengths):.1f} words on average, more than {LIMIT}: split the long ones"
            )
    if words > LIMIT_OF_ALL:
        problems.append(
            f"docs: [words] {words} words in all pages, more than {LIMIT_OF_ALL}: --report has the words of each"
        )
    pages = {name.removeprefix("docs/") for name in names if name.startswith("docs/") and name.endswith(".md")}
    listed = {page for page in navigation(root) if not page.startswith(GENERATED)}
    problems += [
        f"docs/{page}: [orphan] the navigation of mkdocs.yml lacks this page" for page in sorted(pages - listed)
    ]
    problems += [f"mkdocs.yml: [navigation] there is no docs/{page}" for page in sorted(listed - pages)]
    return problems


def report(root):
    print(f"{'page':44} words  mean  longest  vague")
    total = 0
    for name in (n for n in files(root) if n.endswith(".md") and is_measured(n)):
        text = (root / name).read_text()
        found = list(sentences(text))
        mean = sum(map(len, found)) / max(1, len(found))
        count = number_of_words(text)
        total += count
        vague = sum(len(re.findall(VAGUE, " ".join(sentence).lower())) for sentence in found)
        print(f"{name:44} {count:5} {mean:5.1f} {max(map(len, found), default=0):8} {vague:6}")
    print(f"words in all: {total}, at most {LIMIT_OF_ALL}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        return report(options.root)
    problems = check(options.root)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
