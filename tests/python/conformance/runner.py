"""Runs entries in forked children, so that a crash or a hang of the subject costs one sample and is recorded."""

import json
import os
import selectors
import signal
import sys
import time

import torch

from .checks import Entry, full_name

SECONDS = 300  # an entry that takes longer hangs
KINDS = {
    "sample": "values",
    "error": "errors",
}  # the check that a crash in a kind of sample counts for, if not of the same name


class Outcomes:
    """Of one entry: {check: {dtype: {outcome: count}}}, and the first details of what did not agree."""

    def __init__(self):
        self.counts, self.details = {}, []

    def add(self, dtype, check, outcome, detail, count=1):
        by_outcome = self.counts.setdefault(check, {}).setdefault(dtype, {})
        by_outcome[outcome] = by_outcome.get(outcome, 0) + count
        seen = sum(d["check"] == check and d["outcome"] == outcome for d in self.details)
        if detail and seen < 4 and not any(d["detail"] == detail for d in self.details):
            self.details.append({"dtype": dtype, "check": check, "outcome": outcome, "detail": detail})


def child(make_entry, op, subject, skip, descriptor, max_samples):
    """Writes one line before each sample and the outcomes at the end."""
    with os.fdopen(descriptor, "w") as pipe:
        outcomes = Outcomes()

        def report(dtype, check, outcome, detail):
            outcomes.add(dtype, check, outcome, detail)
            pipe.write(json.dumps(["outcome", dtype, check, outcome, detail]) + "\n")

        def start(dtype, kind, number):
            if [dtype, kind, number] in skip:
                return False
            pipe.write(json.dumps(["start", dtype, kind, number]) + "\n")
            pipe.flush()
            return True

        make_entry(op, subject, report).run(start, max_samples)
        pipe.write(json.dumps(["end"]) + "\n")


class Job:
    def __init__(self, op, subject, max_samples, make_entry):
        self.op, self.subject, self.max_samples, self.make_entry = op, subject, max_samples, make_entry
        self.outcomes, self.skip, self.seconds = Outcomes(), [], 0.0
        self.fork()

    def fork(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self.reader, writer = os.pipe()
        self.began, self.buffer, self.at, self.ended, self.pending = time.monotonic(), b"", None, False, []
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.reader)
                torch.set_num_threads(1)
                child(self.make_entry, self.op, self.subject, self.skip, writer, self.max_samples)
                status = 0
            except BaseException as error:  # the parent reads of it
                os.write(2, f"conformance: {full_name(self.op)}: {type(error).__name__}: {error}\n".encode())
            os._exit(status)
        os.close(writer)

    def read(self):
        """False at the child's end."""
        data = os.read(self.reader, 1 << 16)
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            kind, *rest = json.loads(line)
            if kind == "start":
                # A sample that is complete counts; of one that crashes, only that.
                self.keep()
                self.at = rest
            elif kind == "outcome":
                self.pending.append(rest)
            else:
                self.keep()
                self.ended = True
        return bool(data)

    def keep(self):
        for outcome in self.pending:
            self.outcomes.add(*outcome)
        self.pending = []

    def finish(self):
        """Whether the entry is done; a crashed one goes on after the sample that crashed."""
        os.close(self.reader)
        _, status = os.waitpid(self.pid, 0)
        self.seconds += time.monotonic() - self.began
        if self.ended:
            return True
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
        how = "hang" if how == "SIGALRM" or how == "SIGKILL" else how
        dtype, kind, number = self.at or ["any", "sample", -1]
        self.outcomes.add(dtype, KINDS.get(kind, kind), "crash", f"{how} at {kind} {number}")
        if self.at is None or self.at in self.skip or len(self.skip) > 20 or how.startswith("exit"):
            return True
        # What was complete before is run again and counted anew.
        crashes = [d for d in self.outcomes.details if d["outcome"] == "crash"]
        self.skip.append(self.at)
        self.outcomes = Outcomes()
        for crash in crashes:
            self.outcomes.add(crash["dtype"], crash["check"], "crash", crash["detail"])
        return False


def run(entries, subject, jobs=2, max_samples=None, progress=None, make_entry=Entry, seconds=SECONDS):
    """{name: {"counts", "details", "seconds"}} of the entries, which make_entry(op, subject, report).run(start, max_samples)
    checks in a child, each in so many seconds."""
    waiting, running, results = list(entries), {}, {}
    selector = selectors.DefaultSelector()

    def launch(job):
        running[job.reader] = job
        selector.register(job.reader, selectors.EVENT_READ)

    while waiting or running:
        while waiting and len(running) < jobs:
            launch(Job(waiting.pop(0), subject, max_samples, make_entry))
        for key, _ in selector.select(timeout=1):
            job = running[key.fd]
            if job.read():
                continue
            selector.unregister(key.fd)
            del running[key.fd]
            if not job.finish():
                job.fork()
                launch(job)
                continue
            results[full_name(job.op)] = {
                "counts": job.outcomes.counts,
                "details": job.outcomes.details,
                "seconds": round(job.seconds, 2),
            }
            if progress:
                progress(full_name(job.op), len(results))
        for job in running.values():
            if time.monotonic() - job.began > seconds:
                os.kill(job.pid, signal.SIGKILL)
    return results
