#!/usr/bin/env python3
"""What the compiled CUDA kernels say of their speed, where there is no GPU to measure it on.

    cuda_static.py OBJECT... [--markdown FILE] [--bytes-only]

For every kernel of the object files (*.cu.o of the preset cuda): registers, shared memory and stack, from them the threads that
a multiprocessor holds; the widest load from global memory, and the instructions of its innermost loop that loads
most, for each element of 4 bytes, or narrower, that this loads. For each family of kernels beside it: the bytes that its algorithm moves, by the
minimum. These are facts about code, not times.

A kernel that no family below names is an error, so that the table grows with the kernels. cuobjdump is taken from PATH, from
beside nvcc, or from the environment of `./tenon setup --oracle`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Family, pattern of its kernels' names, bytes moved and the minimum in units of the data (N elements in, M out), remark.
FAMILIES = [
    (
        "pointwise",
        r"pointwise_kernel",
        "N + M",
        "N + M",
        "16 bytes per thread and operand where operands are dense along the fastest dimension",
    ),
    (
        "row operators in registers",
        r"rows::kernel<.*, true>",
        "N + M",
        "N + M",
        "rows of up to 4096 elements; each operand is read once",
    ),
    (
        "row operators, longer rows",
        r"rows::kernel<.*, false>",
        "(passes) N + M",
        "N + M",
        "a pass for each reduction that depends on another, from cache where a row fits",
    ),
    (
        "sums of row operators' columns",
        r"add_groups_kernel",
        "8 G L + 8 L",
        "0",
        "G groups of threads, rows of L; beside the rows' own N",
    ),
    (
        "reductions",
        r"reduce_kernel",
        "N + M",
        "N + M",
        "four loads in flight per thread; the loop holds the 64-bit divisions of tensors beyond 2^31 elements, which all others skip",
    ),
    (
        "reductions' splits",
        r"combine_splits_kernel",
        "S M + M",
        "0",
        "S blocks to an output, where outputs do not fill the GPU",
    ),
    (
        "batch norm, elements",
        r"(normalize|input|invstd)_kernel",
        "N + M",
        "N + M",
        "the statistics are among the reductions",
    ),
    ("accumulation by index", r"add_at_once_kernel", "N + 2 M", "N + 2 M", "atomic operations in the L2 cache"),
    (
        "accumulation in order",
        r"(element_places|accumulate_in_order)_kernel",
        "2 N + M",
        "N + M",
        "beside the sorting of N places; products, and sums where they must be the same in every run",
    ),
    ("im2col", r"(unfold|fold|deliver)_kernel", "K N", "0", "K elements of a window; beside the matrix product"),
    (
        "pooling, losses' gradients",
        r"(forward|backward)_kernel",
        "N + M",
        "N + M",
        "a thread for an output; what windows share comes from cache",
    ),
    (
        "sums so far",
        r"(parts|before|rows|columns)_kernel",
        "2 N + M",
        "N + M",
        "N + M where rows fill the GPU; else blocks share a row and read it twice",
    ),
    (
        "sort, topk",
        r"(take|sort|merge|give)_kernel",
        "N + 16 N (2 + log2(L / 1024)) + M",
        "N + M",
        "entries of 8 bytes (16 for types of 8); blocks sort 1024 in shared memory, then runs are merged pairwise",
    ),
    ("selection", r"(count|places|write)_kernel", "2 N + M", "N + M", "flags are read twice: counted, then written"),
    (
        "copies and rearrangement",
        r"(copy|cat|roll|flip|repeat|pad|tril|rearrange|fill|arange|convert|gather|scatter|index|put|embedding|select|add)\w*_kernel",
        "N + M",
        "N + M",
        "",
    ),
    ("everything else", r"_kernel", "", "", "see the file"),
]

PAGE = """# CUDA kernels as compiled

`benchmarks/cuda_static.py` reads this table off object files that are compiled for compute capability 9.0. Nothing here was measured on a GPU.

    python3 benchmarks/cuda_static.py build/cuda/CMakeFiles/tenon.dir/aten/cuda/*.o --markdown docs/cuda_static.md

| column | meaning |
| --- | --- |
| moved, minimum | of the algorithm, in units of its data: N elements in, M out |
| registers | of a thread |
| threads of 2048 | that a multiprocessor holds, in blocks of 256 |
| stack | the largest, in bytes; 24 or 40 bytes hold the arguments of a call |
| widest load | from global memory, in bytes |
| loop's instructions per 4 bytes | of the innermost loop that loads most, for every 4 bytes that it loads, or for every narrower element. Skipped instructions count. The median over the family's kernels |

"""

# Of compute capability 8.0 and 9.0: registers, threads and shared memory of a multiprocessor.
REGISTERS, THREADS, WARP, REGISTER_UNIT = 65536, 2048, 32, 256
SHARED = {80: 164 << 10, 90: 228 << 10}


def tool(name):
    """Where a tool of CUDA is, or an exit that says where it was looked for."""
    beside = os.path.join(os.path.dirname(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"), name)
    oracle = os.path.join(ROOT, "build/venv-oracle/lib")
    found = [os.path.join(folder, name) for folder, _, files in os.walk(oracle, followlinks=True) if name in files]
    for path in [shutil.which(name), beside] + found:
        if path and os.access(path, os.X_OK):
            return path
    sys.exit(f"cuda_static.py: {name} is neither on PATH, nor beside nvcc, nor below {oracle}")


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"cuda_static.py: {' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def plain(symbols):
    """The names that people read."""
    text = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout
    return [
        re.sub(r"\(anonymous namespace\)::|tenon::|cuda::|void ", "", line.rsplit("(", 1)[0])
        for line in text.splitlines()
    ]


def resources(cuobjdump, path):
    """symbol -> (registers, stack, shared), one per architecture; the last one counts."""
    found = {}
    for match in re.finditer(
        r"Function (\w+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", output(cuobjdump, "-res-usage", path)
    ):
        found[match[1]] = tuple(int(match[i]) for i in (2, 3, 4))
    return found


def bodies(cuobjdump, path):
    """symbol -> [(address, instruction)]"""
    found, current, architecture = {}, None, 0
    for line in output(cuobjdump, "-sass", path).splitlines():
        if match := re.search(r"code for sm_(\d+)", line):
            architecture = int(match[1])
        elif match := re.match(r"\s*Function : (\w+)", line):
            current = found[match[1]] = []
        elif current is not None and (match := re.match(r"\s*/\*([0-9a-f]+)\*/\s+(.*?);", line)):
            current.append((int(match[1], 16), match[2].strip()))
    return architecture, found


def load_bytes(instruction):
    """Bytes that a load from global memory brings each thread, 0 for other instructions."""
    match = re.match(r"(?:@!?U?P\w+ )?LDG\.([\w.]+)", instruction)
    if not match:
        return 0
    parts = match[1].split(".")
    return next(
        (size for key, size in (("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)) if key in parts),
        4,
    )


def inner_loop(body):
    """The loop without another that loads in it that loads the most bytes: its instructions, or those of the whole kernel."""
    back = []
    for address, text in body:
        match = re.match(r"(?:@!?U?P\w+ )?BRA (?:`\(\S+\)|(?:U?!?U?P\w+, )?0x([0-9a-f]+))", text)
        # A branch to itself ends every kernel's code.
        if match and match[1] and int(match[1], 16) < address:
            back.append((int(match[1], 16), address))
    loops = [(a, b, [text for address, text in body if a <= address <= b]) for a, b in set(back)]
    loops = [one for one in loops if any(map(load_bytes, one[2]))]
    loops = [loop for a, b, loop in loops if not any((c, d) != (a, b) and a <= c and d <= b for c, d, _ in loops)]
    if loops:
        return max(loops, key=lambda loop: sum(map(load_bytes, loop))), True
    return [text for _, text in body if not re.match(r"NOP|BRA 0x", text)], False


def threads(registers, shared, block, architecture):
    """Threads of blocks of `block` that a multiprocessor holds."""
    per_warp = -(-max(registers, 1) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    warps = REGISTERS // per_warp
    blocks = min(warps * WARP // block, THREADS // block)
    if shared:
        blocks = min(blocks, SHARED.get(architecture, 164 << 10) // (shared + 1024))
    return max(blocks, 0) * block


def family_of(name):
    return next((family for family in FAMILIES if re.search(family[1], name)), None)


def measure(cuobjdump, path):
    """One row per kernel: (family, name, registers, shared, stack, threads, loop, widest, per element)."""
    architecture, code = bodies(cuobjdump, path)
    usage = resources(cuobjdump, path)
    symbols = sorted(symbol for symbol in code if symbol in usage and code[symbol])
    rows = []
    for symbol, name in zip(symbols, plain(symbols)):
        if "_kernel" not in name and "rows::kernel" not in name:
            continue  # a device function that is called
        registers, stack, shared = usage[symbol]
        loop, is_loop = inner_loop(code[symbol])
        loads = [size for size in map(load_bytes, loop) if size]
        # Elements of 4 bytes, or of what is loaded where that is narrower.
        elements = sum(max(1, size // 4) for size in loads)
        rows.append(
            {
                "family": family_of(name),
                "kernel": name,
                "registers": registers,
                "shared": shared,
                "stack": stack,
                "threads": threads(registers, shared, 256, architecture),
                "loop": len(loop) if is_loop else None,
                "instructions": len(code[symbol]),
                "widest": max(map(load_bytes, (text for _, text in code[symbol]))),
                "per_element": len(loop) / elements if elements and is_loop else None,
            }
        )
    return rows


def table(rows):
    """A line per family: ranges over its kernels."""
    lines = [
        "| family | kernels | moved | minimum | registers | threads of 2048 | stack | widest load | loop's instructions per 4 bytes | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    spread = lambda values: f"{min(values)}" if min(values) == max(values) else f"{min(values)}-{max(values)}"
    for family in FAMILIES:
        own = [row for row in rows if row["family"] is family]
        if not own:
            continue
        cost = sorted(row["per_element"] for row in own if row["per_element"])
        median = f"{cost[len(cost) // 2]:.1f}" if cost else "no loop"
        lines.append(
            f"| {family[0]} | {len(own)} | {family[2]} | {family[3]} | {spread([r['registers'] for r in own])} | "
            f"{spread([r['threads'] for r in own])} | {max(r['stack'] for r in own)} | {max(r['widest'] for r in own)} | {median} | {family[4]} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", nargs="+")
    parser.add_argument("--markdown", help="write a page with the table of families, such as docs/cuda_static.md")
    parser.add_argument("--kernels", action="store_true", help="a line for every kernel")
    arguments = parser.parse_args()
    cuobjdump = tool("cuobjdump")
    rows = [row for path in arguments.objects for row in measure(cuobjdump, path)]
    if not rows:
        sys.exit(f"cuda_static.py: no kernels in {' '.join(arguments.objects)}")
    nameless = [row["kernel"] for row in rows if row["family"] is None]
    if nameless:
        sys.exit("cuda_static.py: no family in FAMILIES names these kernels:\n  " + "\n  ".join(nameless))
    if arguments.kernels:
        for row in rows:
            cost = f"{row['per_element']:6.1f}" if row["per_element"] else "     -"
            print(
                f"{row['registers']:4} registers {row['threads']:5} threads {row['stack']:4} stack {row['widest']:3} widest "
                f"{row['loop'] or row['instructions']:5} instructions {cost} per element  {row['kernel']}"
            )
    text = table(rows)
    print(text, end="")
    if arguments.markdown:
        with open(arguments.markdown, "w", encoding="utf-8") as file:
            names = sorted(os.path.basename(path).split(".")[0] for path in arguments.objects)
            file.write(PAGE + text + f"\nFrom {', '.join(names)}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
