"""tenon-run, end to end. TENON_RUN names the program."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.environ["TENON_RUN"]


def run(*arguments, script=None, status=0):
    """(standard output, standard error) of a call, which must end with `status`."""
    command = [sys.executable, "-u", "-c", script] if script else []
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    result = subprocess.run(
        [PROGRAM, *map(str, arguments), *command], capture_output=True, text=True, timeout=240, env=environment
    )
    assert result.returncode == status, f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout, result.stderr


def alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def test_each_process_knows_its_rank(self):
        names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR RESTART_COUNT OMP_NUM_THREADS"
        out, _ = run("--nproc", 3, script=f"import os; print(*(os.environ[n] for n in '{names}'.split()))")
        expected = [f"[{r}] {r} {r} 3 3 0 127.0.0.1 0 1" for r in range(3)]
        self.assertEqual(expected, sorted(out.splitlines()))

    def test_lines_stay_whole_and_streams_apart(self):
        script = "import os, sys\nfor i in range(200): print(os.environ['RANK'] * 50); print('e' * 30, file=sys.stderr)"
        out, err = run("--nproc", 2, script=script)
        for r in "01":
            self.assertEqual(200, out.splitlines().count(f"[{r}] " + r * 50))
        self.assertEqual(400, len(out.splitlines()))
        self.assertEqual({"[0] " + "e" * 30, "[1] " + "e" * 30}, set(err.splitlines()))
        out, _ = run("--nproc", 1, "--no-prefix", script="import sys; sys.stdout.write('no end')")
        self.assertEqual("no end\n", out)

    def test_the_first_failure_is_the_cause_and_all_others_end(self):
        script = (
            "import os, pathlib, subprocess, sys, time\n"
            f"folder = pathlib.Path({str(self.path)!r})\n"
            "rank = os.environ['RANK']\n"
            "child = subprocess.Popen(['sleep', '1000'])\n"
            "(folder / rank).write_text(f'{os.getpid()} {child.pid}')\n"
            "while len(list(folder.iterdir())) < 3: time.sleep(0.01)\n"
            "if rank == '1':\n"
            "    open(os.environ['TENON_RUN_ERROR_FILE'], 'w').write('out of data')\n"
            "    sys.exit(7)\n"
            "time.sleep(1000)\n"
        )
        _, err = run("--nproc", 3, script=script, status=7)
        self.assertRegex(err, r"tenon-run: rank 1 \(process \d+\) ended with status 7: out of data; ending the others")
        for file in self.path.iterdir():
            for process in file.read_text().split():
                wait_until(lambda: not alive(process))

    def test_a_signal_is_named(self):
        script = "import os, signal, time\nif os.environ['RANK'] == '0': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(1000)"
        _, err = run("--nproc", 2, script=script, status=128 + 9)
        self.assertIn("was ended by signal 9 (Killed)", err)

    def test_one_that_ignores_sigterm_is_killed(self):
        script = (
            "import os, pathlib, signal, sys, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            f"pathlib.Path({str(self.path)!r}, os.environ['RANK']).write_text('')\n"
            f"while len(os.listdir({str(self.path)!r})) < 2: time.sleep(0.01)\n"
            "if os.environ['RANK'] == '0': sys.exit(1)\n"
            "time.sleep(1000)\n"
        )
        run("--nproc", 2, "--grace", 1, script=script, status=1)

    def test_restarts(self):
        script = "import os, sys\nprint('try', os.environ['RESTART_COUNT'], flush=True)\nsys.exit(os.environ['RESTART_COUNT'] != '2')"
        out, err = run("--nproc", 1, "--max-restarts", 5, script=script)
        self.assertEqual(["[0] try 0", "[0] try 1", "[0] try 2"], out.splitlines())
        self.assertEqual(2, err.count("starting all again"))
        out, _ = run("--nproc", 1, "--max-restarts", 1, script=script, status=1)
        self.assertEqual(2, len(out.splitlines()))

    def test_ending_the_launcher_ends_all(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(number=number):
                file = self.path / str(int(number))
                script = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"
                launcher = subprocess.Popen([PROGRAM, "--nproc", "1", sys.executable, "-c", script])
                wait_until(lambda: file.exists() and file.read_text())
                launcher.send_signal(number)
                self.assertEqual(-9 if number == signal.SIGKILL else 128 + number, launcher.wait(120))
                wait_until(lambda: not alive(file.read_text()))

    def test_misuse(self):
        for arguments in (
            (),
            ("--nproc", "0", "true"),
            ("--nproc", "x", "true"),
            ("--what", "1", "true"),
            ("--nproc",),
        ):
            _, err = run(*arguments, status=2)
            self.assertIn("usage: tenon-run", err)
        _, err = run("--nproc", 1, "/nonexistent/program", status=127)
        self.assertIn("cannot run /nonexistent/program", err)


if __name__ == "__main__":
    unittest.main()
