"""The table of a campaign: outcomes, what was left out, and the findings by operator and kind."""

from collections import Counter

from .check import KINDS


def logged(found, done):
    for number, _, kind, why, shown in found:
        if kind not in ("agree", "left out"):
            print(f"{kind} #{number} {shown}\n    {why}")
    print(f"{done} calls", flush=True)


def some_of_each(findings, count):
    """The first findings of each operator and kind."""
    seen, chosen = Counter(), []
    for finding in sorted(findings, key=lambda f: (KINDS.index(f[2]), f[1], len(f[4]))):
        seen[finding[1], finding[2]] += 1
        if seen[finding[1], finding[2]] <= count:
            chosen.append(finding)
    return chosen


def text(results, findings, chosen, bases, seed):
    outcomes = Counter(r[2] for r in results)
    lines = [
        f"{len(results)} calls of {len(bases.names)} operators, seed {seed}: "
        + ", ".join(f"{count} {kind}" for kind, count in outcomes.most_common())
    ]
    left_out = Counter(r[3].partition(" ar")[0] if "dtype" in r[3][:8] else r[3] for r in results if r[2] == "left out")
    lines += [f"  left out: {count:6} {why}" for why, count in left_out.most_common(20)]
    if findings:
        by_operator = Counter((f[1], f[2]) for f in findings)
        lines += ["", f"{'operator':40} {'kind':14} calls"]
        for kind in KINDS:
            rows = sorted(((name, n) for (name, k), n in by_operator.items() if k == kind), key=lambda r: (-r[1], r[0]))
            lines += [f"{name:40} {kind:14} {n}" for name, n in rows]
        lines += ["", "the smallest calls:"]
        lines += [f"{kind} #{number} {shown}\n    {why}" for number, _, kind, why, shown in chosen]
    return "\n".join(lines)
