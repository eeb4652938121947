"""Runs tests of one of PyTorch's test files, in the library that is imported as torch.

    worker.py SOURCES FILE RESULTS WANTED

SOURCES is PyTorch's source tree, FILE a path below its folder test without `.py`, RESULTS a file of JSON lines to add to, WANTED a JSON
file: the tests to run, or null for all that scope.py takes, and those that have run. Each test is announced before it runs, so that a reader knows which one ended
the process.
"""

import json
import os
import signal
import sys
import time
import traceback
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS_OF_A_TEST = int(os.environ.get("TENON_PYTORCH_TEST_SECONDS", "60"))


def prepare(sources):
    """Also done in processes that tests start by spawning: they import this file."""
    sys.path[:0] = [str(Path(sources) / "test"), str(HERE)]
    import helpers

    helpers.install(sources)


class TooLong(BaseException):
    pass


def stop(signum, frame):
    raise TooLong(f"longer than {SECONDS_OF_A_TEST} s")


class Outcomes(unittest.TestResult):
    """Writes each test's outcome as a line when it ends."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome, self.reason = "passed", None
        self.write(begins=test.id())
        self.start = time.monotonic()
        signal.alarm(SECONDS_OF_A_TEST)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)
        self.write(
            ends=test.id(), outcome=self.outcome, seconds=round(time.monotonic() - self.start, 2), reason=self.reason
        )

    def fails(self, error):
        if getattr(self, "outcome", "failed") == "failed":  # or a fixture of a class fails
            return
        kind, value, trace = error
        frames = traceback.extract_tb(trace)
        own = [frame for frame in frames if "/unittest/" not in frame.filename]
        places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.line}" for frame in own]
        self.outcome = "failed"
        self.reason = {"class": kind.__name__, "text": str(value)[:1500], "places": places[-8:]}

    def addError(self, test, error):
        self.fails(error)

    def addFailure(self, test, error):
        self.fails(error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fails(error)

    def addSkip(self, test, reason):
        if self.outcome != "failed":
            self.outcome, self.reason = "skipped", {"class": "skipped", "text": reason, "places": []}

    def addExpectedFailure(self, test, error):
        self.outcome = "expected failure"

    def addUnexpectedSuccess(self, test):
        self.outcome, self.reason = "failed", {"class": "unexpected success", "text": "", "places": []}


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def load(sources, name):
    import importlib.util

    file = Path(sources) / "test" / f"{name}.py"
    module_name = file.stem
    sys.path.insert(0, str(file.parent))
    if "test_proxy_tensor" in file.read_text():
        import helpers

        helpers.names_of_graphs()
    spec = importlib.util.spec_from_file_location(module_name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return list(tests_of(unittest.TestLoader().loadTestsFromModule(module)))


def main():
    import scope

    sources, name, results, wanted = sys.argv[1:]
    wanted = json.loads(Path(wanted).read_text())
    sys.argv = [name + ".py"]
    signal.signal(signal.SIGALRM, stop)
    with open(results, "a") as file:
        outcomes = Outcomes(file)
        try:
            tests = load(sources, name)
        except BaseException:
            outcomes.write(file_fails=traceback.format_exc()[-3000:])
            raise
        names = [test.id() for test in tests]
        outcomes.write(tests=names)
        left = set(wanted["wanted"] or scope.taken(names)) - set(wanted["found"])
        unittest.TestSuite(test for test in tests if test.id() in left).run(outcomes)
        outcomes.write(done=True)


prepare(os.environ["TENON_PYTORCH_SOURCES"])
if __name__ == "__main__":
    main()
