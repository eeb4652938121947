"""cmake/tools/build.py, with a program in the place of Ninja."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(__file__).resolve().parents[2] / "cmake/tools/build.py"

NINJA = """#!/bin/sh
case " $* " in *" -n "*) dry=1 ;; *) dry= ;; esac
echo "ninja: Entering directory \\`tree'"
for i in 1 2 3 4 5 6 7 8 9 10; do
  echo "[$i/10] Building CXX object some_$i.o"
  if [ $i = 4 ] && [ -z "$dry" ]; then echo "some_4.cpp:1:2: warning: odd"; fi
done
exit ${NINJA_STATUS_CODE:-0}
"""


class Build(unittest.TestCase):
    def run_build(self, **environment):
        with tempfile.TemporaryDirectory() as folder:
            ninja = pathlib.Path(folder) / "ninja"
            ninja.write_text(NINJA)
            ninja.chmod(0o755)
            return subprocess.run(
                [sys.executable, BUILD, "tree", "--jobs", "1", "all"],
                capture_output=True,
                text=True,
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment},
            )

    def test_a_line_for_each_tenth_and_what_commands_print(self):
        done = self.run_build()
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        lines = done.stdout.splitlines()
        self.assertEqual(11, len(lines))
        self.assertEqual("some_4.cpp:1:2: warning: odd", lines[4])
        self.assertRegex(lines[3], r"^ +40%  4 of 10 steps, \d+ s, about \d+ s left$")
        self.assertRegex(lines[10], r"^ +100%  10 of 10 steps, \d+ s$")

    def test_the_status_is_ninjas(self):
        self.assertEqual(3, self.run_build(NINJA_STATUS_CODE="3").returncode)


if __name__ == "__main__":
    unittest.main()
