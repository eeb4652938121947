"""The table of a run: totals, and one row per operator, as text, HTML, JSON and the page of the documentation."""

import html
import json

from .checks import CHECKS

OUTCOMES = ("agree", "differ", "unsupported", "crash")


def totals(result, checks=CHECKS, outcomes=OUTCOMES):
    found = dict.fromkeys(outcomes, 0)
    for check in checks:
        for by_outcome in result["counts"].get(check, {}).values():
            for outcome, count in by_outcome.items():
                found[outcome] += count
    return found


def verdict(result):
    found = totals(result, [c for c in CHECKS if c != "messages"])
    if not any(found.values()):
        return "no samples"
    for outcome in ("crash", "differ"):
        if found[outcome]:
            return outcome
    if not found["agree"]:
        return "unsupported"
    return "partly" if found["unsupported"] else "agree"


def agreeing(result):
    """{check: [dtypes of which every sample agrees]}, as the baseline keeps it."""
    kept = {}
    for check, by_dtype in sorted(result["counts"].items()):
        dtypes = sorted(d for d, outcomes in by_dtype.items() if set(outcomes) == {"agree"})
        if dtypes:
            kept[check] = dtypes
    return kept


def worse(baseline, results):
    """What agreed by the baseline and does not in these results."""
    found = []
    for name, checks in sorted(baseline.items()):
        if name not in results:
            continue
        counts = results[name]["counts"]
        for check, dtypes in checks.items():
            for dtype in dtypes:
                outcomes = counts.get(check, {}).get(dtype)
                if outcomes is None or set(outcomes) != {"agree"}:
                    details = [
                        d["detail"] for d in results[name]["details"] if (d["dtype"], d["check"]) == (dtype, check)
                    ]
                    found.append(f"{name}, {check}, {dtype}: {details[0] if details else outcomes or 'not run'}")
    return found


def summary(results):
    lines = []
    for check in CHECKS:
        found = dict.fromkeys(OUTCOMES, 0)
        for result in results.values():
            for outcome, count in totals(result, [check]).items():
                found[outcome] += count
        every = sum(found.values())
        if every:
            lines.append((check, every, found, 100 * found["agree"] / every))
    return lines


def lacking(results):
    """Of the dtypes that the subject does not have, which are not in the other counts: a sentence, or none."""
    found = {}
    for result in results.values():
        for dtype, outcomes in result["counts"].get("lacking", {}).items():
            entries, samples = found.get(dtype, (0, 0))
            found[dtype] = (entries + 1, samples + sum(outcomes.values()))
    if not found:
        return ""
    every = sum(totals(result, ["values"])[o] for result in results.values() for o in OUTCOMES)
    agree = sum(totals(result, ["values"])["agree"] for result in results.values())
    beyond = sum(samples for _, samples in found.values())
    text = ", ".join(
        f"{dtype} ({samples} samples of {entries} entries)" for dtype, (entries, samples) in sorted(found.items())
    )
    return (
        f"The counts leave out the samples of dtypes that Tenon does not have: {text}. With them "
        f"{100 * agree / (every + beyond):.1f} % of values agree."
    )


def verdicts(results):
    found = {}
    for result in results.values():
        found[verdict(result)] = found.get(verdict(result), 0) + 1
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items()))


def rows(results):
    for name, result in sorted(results.items()):
        cells = []
        for check in CHECKS:
            found = totals(result, [check])
            every = sum(found.values())
            cells.append(f"{found['agree']}/{every}" if every else "")
        order = ("crash", "differ", "unsupported")
        details = sorted(
            (d for d in result["details"] if d["check"] != "messages"), key=lambda d: order.index(d["outcome"])
        )
        reason = f"{details[0]['check']} {details[0]['dtype']}: {details[0]['detail']}" if details else ""
        yield name, verdict(result), cells, reason


def text(results, uncovered):
    lines = [
        f"{check:10} {found['agree']:7} of {every:7} agree ({share:.2f} %), {found['differ']} differ, "
        f"{found['unsupported']} unsupported, {found['crash']} crash"
        for check, every, found, share in summary(results)
    ]
    lines += [f"operators: {verdicts(results)}", *filter(None, [lacking(results)]), ""]
    width = max((len(name) for name in results), default=0)
    for name, kind, cells, reason in rows(results):
        counts = " ".join(f"{c}={cell}" for c, cell in zip(CHECKS, cells) if cell)
        lines.append(f"{name:{width}}  {kind:11}  {counts}{f'  {reason}' if reason else ''}")
    lines += ["", "without an entry in op_db: " + ", ".join(uncovered)]
    return "\n".join(lines) + "\n"


def page(results, uncovered, version):
    """docs/conformance.md."""
    out = [
        "# Conformance with PyTorch",
        "",
        "<!-- Written by ./tenon conformance --accept; do not edit. -->",
        "",
        f"PyTorch {version} has a list of its operators with samples, `torch.testing._internal.common_methods_invocations.op_db`. "
        "`./tenon conformance` runs each sample of each entry, for each of its dtypes, in PyTorch and in Tenon's Python module, on a CPU.",
        "",
        "| check | what must be the same | agree | of | differ | unsupported | crash |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    meaning = {
        "values": "shapes, dtypes, strides, conjugate and negative bits, and values: within the entry's tolerances, or exact to the dtype's last place, or no further from the result in double precision than PyTorch's, or within four units in the last place of the largest element",
        "memory": "the results that share memory with arguments",
        "gradient": "gradients of every argument that has one",
        "out": "`out=` with the function, into a tensor of the right size and an empty one",
        "inplace": "the in-place form with PyTorch's",
        "method": "the method with the function",
        "errors": "the entry's wrong arguments raise",
        "messages": "their class, and PyTorch's message; `[op]` replaces `op():` before it",
    }
    for check, every, found, share in summary(results):
        out.append(
            f"| {check} | {meaning[check]} | {found['agree']} ({share:.1f} %) | {every} | {found['differ']} | "
            f"{found['unsupported']} | {found['crash']} |"
        )
    out += [
        "",
        f"Entries: {verdicts(results)}. An entry that agrees partly has no difference, and samples that Tenon does not support. "
        "`tests/python/conformance/baseline.json` keeps the samples that agree. They must stay so.",
        "",
        *([lacking(results), ""] if lacking(results) else []),
        "| entry | verdict | values | gradient | first reason |",
        "| --- | --- | --: | --: | --- |",
    ]
    for name, kind, cells, reason in rows(results):
        escaped = reason.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        out.append(f"| {name} | {kind} | {cells[0]} | {cells[2]} | {escaped[:160]} |")
    out += [
        "",
        "`tests/ops` compares the operators of Tenon without an entry in op_db: "
        + ", ".join(f"`{name}`" for name in uncovered)
        + ".",
    ]
    return "\n".join(out) + "\n"


def as_html(results, uncovered):
    cells = "".join(
        f"<tr class={kind}><td>{html.escape(name)}<td>{kind}"
        + "".join(f"<td>{c}" for c in counts)
        + f"<td>{html.escape(reason)}</tr>\n"
        for name, kind, counts, reason in rows(results)
    )
    head = "".join(f"<th>{c}" for c in ("operator", "verdict", *CHECKS, "first reason"))
    totals_ = "".join(
        f"<li>{check}: {found['agree']} of {every} agree ({share:.2f} %)"
        for check, every, found, share in summary(results)
    )
    return (
        "<!doctype html><meta charset=utf-8><title>Conformance with PyTorch</title><style>body{font:14px sans-serif}"
        "td,th{padding:2px 8px;text-align:left}.agree{background:#e6ffe6}.partly{background:#f6ffe0}"
        ".differ,.crash{background:#ffe6e6}.unsupported{color:#777}</style><h1>Conformance with PyTorch</h1>"
        f"<ul>{totals_}</ul><p>Operators: {verdicts(results)}</p><table><tr>{head}</tr>\n{cells}</table>"
        f"<p>Without an entry in op_db: {html.escape(', '.join(uncovered))}</p>\n"
    )


def write(folder, results, uncovered):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conformance.txt").write_text(text(results, uncovered))
    (folder / "conformance.html").write_text(as_html(results, uncovered))
    (folder / "conformance.json").write_text(json.dumps({"results": results, "uncovered": uncovered}, indent=1) + "\n")
