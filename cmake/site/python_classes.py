"""The reference of Python's modules, losses and optimizers: signatures and docstrings of the module's classes."""

import inspect
import pathlib
import re

import tenon

ROOT = pathlib.Path(__file__).parents[2]
WIDTH = 90

CONTENTS = (
    ("modules", "Modules", "tenon.nn", tenon.nn, tenon.nn.Module),
    ("optimizers", "Optimizers", "tenon.optim", tenon.optim, tenon.optim.Optimizer),
    ("schedulers", "Learning rate schedules", "tenon.optim.lr_scheduler", tenon.optim.lr_scheduler, None),
    ("data", "Data sets and loaders", "tenon.utils.data", tenon.utils.data, None),
    ("distributions", "Distributions", "tenon.distributions", tenon.distributions, tenon.distributions.Distribution),
)


def classes(module, base):
    for name, value in sorted(vars(module).items()):
        if inspect.isclass(value) and not name.startswith("_") and value.__module__.startswith("tenon."):
            if base is None or issubclass(value, base):
                yield name, value


def entries():
    """{name of a class: its entry} of modules.yaml and optimizers.yaml."""
    found = {}
    for file, kind in (("modules.yaml", "module"), ("optimizers.yaml", "optimizer")):
        text = (ROOT / file).read_text()
        for entry in re.findall(rf"^- {kind}: \w+.*\n(?:  .*\n)*", text, re.M):
            name = re.match(rf"- {kind}: ([\w#]+)", entry)[1]
            for number in "123" if "#" in name else "1":
                found[name.replace("#", number)] = entry.rstrip()
    return found


def plain(text):
    """Without addresses, and without the quotes of types."""
    text = re.sub(r"<[^<>]* at 0x[0-9a-f]+>|<object object[^>]*>", "...", text)
    return re.sub(r": '([^']+)'(?=[,)]| = |$)", r": \1", text)


def signature(path, value):
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return f"{path}(...)"
    text = path + plain(text)
    if len(text) <= WIDTH:
        return text
    arguments = [plain(str(one)) for one in inspect.signature(value).parameters.values()]
    kinds = [one.kind for one in inspect.signature(value).parameters.values()]
    keyword = next((i for i, kind in enumerate(kinds) if kind == inspect.Parameter.KEYWORD_ONLY), None)
    if keyword is not None and inspect.Parameter.VAR_POSITIONAL not in kinds:
        arguments.insert(keyword, "*")
    return path + "(\n" + "".join(f"    {one},\n" for one in arguments) + ")"


def pages():
    declared = entries()
    for file, title, path, module, base in CONTENTS:
        out = [f"# {title}", "", f"The classes of `{path}`, with PyTorch's names and arguments.", ""]
        for name, value in classes(module, base):
            out += [f"## {name}", "", "```python", signature(f"{path}.{name}", value), "```", ""]
            text = inspect.cleandoc(value.__doc__) if value.__dict__.get("__doc__") else ""
            if text:
                out += (
                    ["```text", text, "```", ""]
                    if re.search(r"^ {4,}", text, re.M)
                    else [re.sub(r"([*_<])", r"\\\1", text), ""]
                )
            if file in ("modules", "optimizers") and name in declared:
                out += [
                    '??? note "Entry"',
                    "",
                    "    ```yaml",
                    *(f"    {line}" for line in declared[name].split("\n")),
                    "    ```",
                    "",
                ]
        yield f"reference/python/{file}.md", "\n".join(out)
