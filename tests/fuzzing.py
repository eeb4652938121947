"""What the fuzzers' run.py have in common."""

import subprocess
import sys
from pathlib import Path


def run_fuzzers(corpora, *, longest, seconds, memory_mb, words=None):
    """Runs `run.py BUILD RUNS [TARGET...]`: BUILD/fuzz_<target> gets RUNS inputs of up to `longest` bytes, beginning with
    the seeds, texts or bytes, that corpora() has for it; an input that takes longer or needs more memory is a finding.
    `words` may hold a target's vocabulary."""
    build, runs, targets = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]
    # Weighing inputs by entropy takes as long as running them.
    limits = [
        f"-max_len={longest}",
        f"-timeout={seconds}",
        f"-rss_limit_mb={memory_mb}",
        "-entropic=0",
        "-print_final_stats=1",
    ]
    for name, seeds in corpora().items():
        if targets and name not in targets:
            continue
        corpus = build / f"corpus_{name}"
        corpus.mkdir(exist_ok=True)
        for i, seed in enumerate(dict.fromkeys(seeds)):
            data = seed if isinstance(seed, bytes) else seed.encode()
            if len(data) <= longest:
                (corpus / f"seed_{i}").write_bytes(data)
        options = [f"-runs={runs}", *limits]
        if words and name in words:
            dictionary = build / f"{name}.dict"
            dictionary.write_text("".join(f'"{word}"\n' for word in words[name]))
            options.append(f"-dict={dictionary}")
        print(f"== {name}", flush=True)
        subprocess.run([str(build / f"fuzz_{name}"), *options, str(corpus)], cwd=build, check=True)
