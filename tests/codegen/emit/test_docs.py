"""The tests that docs/generator.md names exist."""

import re
import unittest

from support import ROOT

TESTS = ROOT / "tests" / "codegen"


class Acceptance(unittest.TestCase):
    def test_named_tests_exist(self):
        text = (ROOT / "docs" / "generator.md").read_text()
        rows = re.findall(r"(?m)^\| (\d+) \| .* \| (.*) \|$", text)
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 36)))
        named = [pair for _, shown in rows for pair in re.findall(r'`([^`]+)` "([^"]+)"', shown)]
        self.assertGreater(len(named), 35)
        for path, name in named:
            file = next((folder / path for folder in (TESTS, ROOT) if (folder / path).exists()), None)
            self.assertIsNotNone(file, path)
            self.assertIn(name, file.read_text(), path)


if __name__ == "__main__":
    unittest.main()
