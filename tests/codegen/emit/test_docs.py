"""The tests that tests/codegen/ACCEPTANCE.md names exist, and the examples of docs/language.md are run."""

import re
import unittest

from support import ROOT

TESTS = ROOT / "tests" / "codegen"


def entries(text):
    """The entries of a file, without what is not their computation: comments, namespace, forms."""
    text = re.sub(r"(?m)\s*#.*$", "", text)
    for entry in re.split(r"(?m)^- ", text)[1:]:
        entry = re.sub(r"(?m)^  (variants|tags): .*$", "", entry)
        yield re.sub(r"\b(mine|rowtest)::", "", " ".join(entry.split()))


class Acceptance(unittest.TestCase):
    def test_named_tests_exist(self):
        text = (TESTS / "ACCEPTANCE.md").read_text()
        rows = re.findall(r"(?m)^\| (\d+) \| .* \| (.*) \|$", text)
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 36)))
        named = [pair for _, shown in rows for pair in re.findall(r'`([^`]+)` "([^"]+)"', shown)]
        self.assertGreater(len(named), 35)
        for path, name in named:
            file = next((folder / path for folder in (TESTS, ROOT) if (folder / path).exists()), None)
            self.assertIsNotNone(file, path)
            self.assertIn(name, file.read_text(), path)

    def test_examples_of_the_language_are_run(self):
        tested = set()
        for path in ("tests/language/language.yaml", "tests/rows/rows.yaml", "native_functions.yaml"):
            tested |= set(entries((ROOT / path).read_text()))
        text = (ROOT / "docs" / "language.md").read_text()
        shown = [one for block in re.findall(r"```yaml\n(.*?)```", text, re.S) for one in entries(block)]
        self.assertGreater(len(shown), 10)
        self.assertEqual([one for one in shown if one not in tested], [])


if __name__ == "__main__":
    unittest.main()
