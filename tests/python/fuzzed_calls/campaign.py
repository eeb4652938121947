"""Runs the calls of a campaign in forked children: a crash or a hang costs one call and is a finding."""

import json
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time

import torch

from .calls import Call, drawn_call
from .check import Check

STAGES = ("start", "PyTorch", "Tenon")
MEMORY = 6 << 30


class Progress:
    """The number of the call that a child is at and whose code runs, in memory that its parent reads."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 16)

    def write(self, number, stage):
        struct.pack_into("<qq", self.memory, 0, number, STAGES.index(stage))

    def read(self):
        number, stage = struct.unpack_from("<qq", self.memory, 0)
        return number, STAGES[stage]


def child(subject, calls, file, progress, alone):
    """calls: (number, function that makes the call)."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    subject.module.set_num_threads(2)
    for number, make in calls:
        progress.write(number, "start")
        call = make()
        check = Check(call, subject, lambda stage, n=number: progress.write(n, stage))
        outcome, text = check.run_alone() if alone else check.run()
        line = json.dumps(
            [number, call.base.name, outcome, text, str(call) if outcome not in ("agree", "left out") else ""]
        )
        os.write(file, line.encode() + b"\n")


class Chunk:
    """Calls of one child after the other, until all are done."""

    def __init__(self, subject, calls, seconds, alone=False):
        self.subject, self.calls, self.seconds, self.results, self.alone = subject, calls, seconds, [], alone
        self.start()

    def start(self):
        sys.stdout.flush()
        self.progress, self.file = Progress(), tempfile.TemporaryFile()
        self.progress.write(self.calls[0][0], "start")
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                child(self.subject, self.calls, self.file.fileno(), self.progress, self.alone)
                status = 0
            except BaseException as error:
                import traceback

                os.write(
                    2, f"fuzzed_calls: call {self.progress.read()}: {traceback.format_exc()[-1500:]} {error}\n".encode()
                )
            os._exit(status)
        self.last, self.since, self.hung = None, time.monotonic(), False

    def poll(self):
        """Whether all calls are done."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            now = self.progress.read()
            if now != self.last:
                self.last, self.since = now, time.monotonic()
            elif time.monotonic() - self.since > self.seconds:
                self.hung = True
                os.kill(self.pid, signal.SIGKILL)
            return False
        self.file.seek(0)
        self.results += [json.loads(line) for line in self.file if line.endswith(b"\n")]
        self.file.close()
        if status == 0:
            return True
        number, stage = self.progress.read()
        index = next(i for i, (n, _) in enumerate(self.calls) if n == number)
        call = self.calls[index][1]()
        if os.WIFSIGNALED(status):
            how = "hang" if self.hung else "crash"
            text = f"more than {self.seconds} s" if self.hung else signal.Signals(os.WTERMSIG(status)).name
            if stage == "Tenon" and (self.alone or dies_alone(self.subject, self.calls[index], self.seconds)):
                self.results.append([number, call.base.name, how, text, str(call)])
            else:
                self.results.append([number, call.base.name, "left out", f"PyTorch: {how}", ""])
        else:
            self.results.append([number, call.base.name, "checker", "raises", str(call)])
        self.calls = self.calls[index + 1 :]
        if not self.calls:
            return True
        self.start()
        return False


def dies_alone(subject, call, seconds):
    chunk = Chunk(subject, [call], seconds, alone=True)
    while not chunk.poll():
        time.sleep(0.02)
    return chunk.results[0][2] in ("crash", "hang")


def run(subject, calls, jobs, seconds=20, size=400, progress=None):
    """[number, operator, outcome, text, call] of each."""
    waiting = [calls[i : i + size] for i in range(0, len(calls), size)]
    running, results = [], []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Chunk(subject, waiting.pop(0), seconds))
        time.sleep(0.02)
        for chunk in list(running):
            if chunk.poll():
                running.remove(chunk)
                results += chunk.results
                if progress:
                    progress(chunk.results, len(results))
    return sorted(results)


def smallest(subject, bases, seed, findings, jobs, seconds):
    """Each finding's call with the fewest changes that still gives the same kind: one change less a turn."""
    best = {f[0]: (f, list(drawn_call(bases, seed, f[0]).changes)) for f in findings}
    for turn in range(max((len(changes) for _, changes in best.values()), default=0)):
        calls = []
        for number, (_, changes) in best.items():
            call = drawn_call(bases, seed, number)
            if turn < len(call.changes):
                fewer = [c for c in changes if c != call.changes[turn]]
                calls.append((number, lambda c=call, fewer=fewer: Call(c.base, c.form, c.seed, fewer)))
        for result in run(subject, calls, jobs, seconds):
            finding, changes = best[result[0]]
            if result[2] == finding[2]:
                dropped = drawn_call(bases, seed, result[0]).changes[turn]
                best[result[0]] = (result, [c for c in changes if c != dropped])
    return [best[f[0]][0] for f in findings]
