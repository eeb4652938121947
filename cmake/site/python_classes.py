"""The reference of Python's modules, losses and optimizers: signatures and docstrings of the module's classes."""

import inspect
import re

import tenon

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


def signature(value):
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r"<[^<>]* at 0x[0-9a-f]+>|<object object[^>]*>", "...", text)


def pages():
    for file, title, path, module, base in CONTENTS:
        out = [f"# {title}", "", f"The classes of `{path}`, with PyTorch's names and arguments.", ""]
        for name, value in classes(module, base):
            out += [f"## {name}", "", "```python", f"{path}.{name}{signature(value)}", "```", ""]
            text = inspect.cleandoc(value.__doc__) if value.__dict__.get("__doc__") else ""
            if text:
                out += (
                    ["```text", text, "```", ""]
                    if re.search(r"^ {4,}", text, re.M)
                    else [re.sub(r"([*_<])", r"\\\1", text), ""]
                )
        yield f"reference/python/{file}.md", "\n".join(out)
