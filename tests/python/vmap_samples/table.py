"""The table of a run: totals for each check, and a row for each entry."""

import json

from conformance.table import totals as conformance_totals

from .checks import CHECKS

OUTCOMES = ("agree", "looped", "refused", "differ", "error", "crash", "unsupported", "cut")
BAD = ("crash", "differ", "error")


def totals(result, checks=CHECKS):
    return conformance_totals(result, checks, OUTCOMES)


def verdict(result):
    found = totals(result)
    for outcome in (*BAD, "unsupported", "looped", "refused", "cut"):
        if found[outcome]:
            return outcome
    return "agree" if found["agree"] else "no samples"


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def summary(results):
    """A line for each check. Refused samples are those that vmap cannot take by their nature: they are counted apart."""
    lines = []
    for check in CHECKS:
        found = dict.fromkeys(OUTCOMES, 0)
        for result in results.values():
            for outcome, count in totals(result, [check]).items():
                found[outcome] += count
        asked = sum(found[o] for o in OUTCOMES if o not in ("refused", "unsupported", "cut"))
        if asked:
            right = found["agree"] + found["looped"]
            others = ", ".join(f"{found[o]} {o}" for o in OUTCOMES[1:] if found[o])
            lines.append(
                f"{check:10} {right:7} of {asked:7} right ({share(right, asked)}), "
                f"{share(found['agree'], asked)} without a loop; {others or 'no others'}"
            )
    kinds = {}
    for result in results.values():
        kinds[verdict(result)] = kinds.get(verdict(result), 0) + 1
    order = ("agree", "looped", "refused", "unsupported", "error", "differ", "crash", "cut", "no samples")
    lines.append("entries: " + ", ".join(f"{kinds[k]} {k}" for k in order if k in kinds))
    return lines


def rows(results):
    order = {kind: i for i, kind in enumerate((*BAD, "unsupported", "looped", "cut", "refused", "agree", "no samples"))}
    for name, result in sorted(results.items(), key=lambda item: (order[verdict(item[1])], item[0])):
        found = totals(result)
        counts = " ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES if found[outcome])
        details = sorted(result["details"], key=lambda d: order.get(d["outcome"], 0))
        yield name, verdict(result), counts, [f"{d['check']} {d['dtype']}: {d['detail']}" for d in details]


def looped(results):
    """What the fallback's warnings say, and of how many entries."""
    found = {}
    for name, result in results.items():
        for detail in result["details"]:
            if detail["outcome"] == "looped":
                found.setdefault(detail["detail"], set()).add(name)
    return [f"{len(names):4} {text} ({', '.join(sorted(names)[:4])})" for text, names in sorted(found.items())]


def text(results, details=1):
    lines = [*summary(results), ""]
    width = max((len(name) for name in results), default=0)
    for name, kind, counts, reasons in rows(results):
        lines.append(f"{name:{width}}  {kind:11}  {counts}")
        lines += [f"    {reason}" for reason in reasons[:details]]
    loops = looped(results)
    return "\n".join([*lines, *(["", "row by row:"] if loops else []), *loops]) + "\n"


def write(folder, results):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vmap.txt").write_text(text(results, details=4))
    (folder / "vmap.json").write_text(json.dumps(results, indent=1) + "\n")
