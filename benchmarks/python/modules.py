"""What calling a module costs: in Python beside PyTorch, in C++ beside the operator alone.

    benchmarks/python/modules.py [--threads N] [--turns N] [--build FOLDER] [--json FILE] [NAME...]

Run by any Python 3, after building bench_modules. Both libraries run in build/venv-oracle, in processes that take turns; a row has the
best of all turns. "above" is the time of the module's call less that of the function with the same arguments. Exit status 1 if a call
takes more than 0.35 of PyTorch's in Python, or more than 20 ns above the operator's in C++.
"""

import json
import subprocess
import sys

from oracle_process import measured_in_turns, options_of

# name: (the module, the call, the function's call)
CASES = {
    "ReLU": ("nn.ReLU()", "m(rows)", "F.relu(rows)"),
    "Linear": ("nn.Linear(8, 8)", "m(rows)", "F.linear(rows, m.weight, m.bias)"),
    "LayerNorm": ("nn.LayerNorm(8)", "m(rows)", "F.layer_norm(rows, (8,), m.weight, m.bias, 1e-5)"),
    "Conv2d": ("nn.Conv2d(2, 2, 3)", "m(image)", "F.conv2d(image, m.weight, m.bias)"),
    "BatchNorm2d": (
        "nn.BatchNorm2d(2).eval()",
        "m(image)",
        "F.batch_norm(image, m.running_mean, m.running_var, m.weight, m.bias, False, 0.1, 1e-5)",
    ),
    "Dropout": ("nn.Dropout().eval()", "m(rows)", "F.dropout(rows, 0.5, False)"),
    "Embedding": ("nn.Embedding(4, 4)", "m(places)", "F.embedding(places, m.weight)"),
    "Identity": ("nn.Identity()", "m(rows)", "rows"),
}
BOUND, BOUND_OF_CPP = 0.35, 20

MEASURE = """
import json, sys, timeit
lib = __import__(sys.argv[1])
lib.set_num_threads(int(sys.argv[2]))
names = {"nn": lib.nn, "F": lib.nn.functional}
names |= {"rows": lib.randn(4, 8), "image": lib.randn(1, 2, 6, 6), "places": lib.tensor([1, 3])}
times = {}
with lib.no_grad():
    for name, (made, *calls) in json.loads(sys.argv[3]).items():
        names["m"] = eval(made, names)
        times[name] = [min(timeit.repeat(call, globals=names, number=500, repeat=100)) / 500 * 1e9 for call in calls]
print(json.dumps(times))
"""


def best_of(turns, name):
    return [min(times) for times in zip(*(turn[name] for turn in turns))]


def cpp_times(options):
    """{case: the best ns}, of Tenon's side of bench_modules."""
    best = {}
    for _ in range(4 * options.turns):
        command = [options.build / "benchmarks/bench_modules", "--quick", "--threads", str(options.threads)]
        for line in subprocess.check_output(command, text=True).splitlines():
            case = json.loads(line)
            best[case["name"]] = min(case["best"], best.get(case["name"], case["best"]))
    return best


def main():
    options = options_of(__doc__)
    cases = {name: CASES[name] for name in options.names or CASES}
    ours, theirs = measured_in_turns(MEASURE, cases, options)
    cpp = cpp_times(options)
    rows, missed = {}, False
    print("| module | Python, ns | PyTorch | ratio | above | PyTorch | C++, ns | operator | above |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in cases:
        (call, function), (their_call, their_function) = best_of(ours, name), best_of(theirs, name)
        cells = [call, their_call, call / their_call, call - function, their_call - their_function]
        missed = missed or cells[2] > BOUND
        if f"module/{name}" in cpp:
            module, operator = cpp[f"module/{name}"], cpp[f"operator/{name}"]
            cells += [module, operator, module - operator]
            missed = missed or cells[7] > BOUND_OF_CPP
        rows[name] = cells
        texts = [f"{cell:.2f}" if i == 2 else f"{cell:.0f}" for i, cell in enumerate(cells)]
        print(f"| {name} | " + " | ".join(texts + [""] * (8 - len(texts))) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return missed


if __name__ == "__main__":
    sys.exit(main())
