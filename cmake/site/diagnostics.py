"""The reference of the generator's messages: each rule with a file that breaks it, from tests/codegen/bad."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
BAD = ROOT / "tests/codegen/bad"
ROW = re.compile(r"^\| ([a-z_0-9]+) \| ([^|]+) \| (.*) \|$", re.M)


def pages():
    text = (BAD / "README.md").read_text()
    out = [
        "# Diagnostics",
        "",
        "Each rule of the generator, with files that break it and the exact messages. `--format json` and `--format sarif` give a message's rule "
        "([The generator's commands](../generator.md#messages)).",
        "",
    ]
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = [row for row in ROW.findall(section) if (BAD / f"{row[0]}.expected").exists()]
        if not rows:
            continue
        out += [f"## {section.splitlines()[0]}", ""]
        for name, dialect, rejects in rows:
            out += [f"### {name}", "", f"Rejects: {rejects}. Dialect: {dialect}.", ""]
            for file in sorted(BAD.glob(f"{name}*.yaml")):
                if file.stem.partition(".")[0] == name:
                    out += [f'```yaml title="{file.name}"', file.read_text(errors="replace").rstrip(), "```", ""]
            out += ["```text", (BAD / f"{name}.expected").read_text(errors="replace").rstrip(), "```", ""]
    yield "reference/diagnostics.md", "\n".join(out)
