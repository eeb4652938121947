"""The reference of operators: one page for each name, and an index by family.

A page is made of the YAML files and of `tenonc ir` (codegen/pages). Its example is the operator's first row of tests/ops/samples that
Python's module can call; it runs while the site is built, and so does the first call that is an error. Families are the headings of
native_functions.yaml.

TENON_GENERATOR is the generator, PYTHONPATH has Python's module.
"""

import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import warnings

import tenon
import yaml

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "codegen/pages"))
import operator_page  # noqa: E402
import plot  # noqa: E402

FOLDER = "reference/operators"
LANGUAGE = "../../language.md"
DTYPES = {"f32": None, "f64": "float64", "i64": None, "i32": "int32", "bool": "bool", "u8": "uint8"}
MODULES = {"linalg_": tenon.linalg, "fft_": tenon.fft, "special_": tenon.special}


def document():
    generator = os.environ["TENON_GENERATOR"]
    files = ["--native", "native_functions.yaml", "--derivatives", "derivatives.yaml", "--tags", "tags.yaml"]
    return json.loads(subprocess.run([generator, "ir", *files], cwd=ROOT, check=True, capture_output=True).stdout)


def samples():
    """{base name of an operator: the arguments of its rows, simplest first}, and the same of rows that are errors."""
    found, wrong = collections.defaultdict(list), collections.defaultdict(list)
    for path in sorted((ROOT / "tests/ops/samples").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text()) or []:
            for name in row.get("ops") or [row.get("op")]:
                if name:
                    dtype = next((one for one in row.get("for", []) if one in DTYPES), "f32")
                    given = of_dtype((row.get("args", []), row.get("kwargs", {})), dtype)
                    (wrong if "error" in row else found)[name.partition(".")[0]].append(given)
    return found, wrong


def of_dtype(value, dtype):
    """The arguments of a row, with a dtype for `$`."""
    if isinstance(value, str):
        return dtype + value[1:] if value.startswith("$[") else value
    if isinstance(value, (list, tuple)):
        return type(value)(of_dtype(one, dtype) for one in value)
    return {key: of_dtype(one, dtype) for key, one in value.items()} if isinstance(value, dict) else value


def literal(cell, number):
    """Python's text of an argument of a row; ValueError if the row has something that an example should not have."""
    if isinstance(cell, list):
        return "[" + ", ".join(literal(one, number) for one in cell) + "]"
    if cell == "~" or cell is None:
        return "None"
    match = isinstance(cell, str) and re.fullmatch(
        r"([a-z]+\d*)\[([\d,]*)\]\s*(in\(([^)]*)\)|v\(([^)]*)\))?( nograd)?", cell
    )
    if not match:
        if isinstance(cell, str) and re.search(r"[\[\]$]", cell):
            raise ValueError(cell)
        return repr(cell)
    dtype, sizes = match[1], [int(size) for size in match[2].split(",") if size]
    if dtype not in DTYPES:
        raise ValueError(cell)
    count = 1
    for size in sizes:
        count *= size
    if not 0 < count <= 64:
        raise ValueError(cell)
    draw = random.Random(number)
    if match[5]:
        given = [float(cell) for cell in match[5].split(",")]
        if not all(map(math.isfinite, given)):
            raise ValueError(cell)
        kind = {"bool": bool, "i64": int, "i32": int, "u8": int}.get(dtype, float)
        cells = [kind(given[i % len(given)]) for i in range(count)]
    else:
        low, high = (float(bound) for bound in match[4].split(",")) if match[4] else (-2.0, 2.0)
        cells = [round(draw.uniform(low, high), 1) for _ in range(count)]
        if dtype in ("i64", "i32", "u8"):
            bounds = (int(low), int(high)) if match[4] else ((0, 9) if dtype == "u8" else (-5, 5))
            cells = [draw.randint(*bounds) for _ in range(count)]
        if dtype == "bool":
            cells = [draw.random() < 0.5 for _ in range(count)]
    tensor = tenon.tensor(cells).reshape(sizes).tolist()
    tail = f", dtype=tenon.{DTYPES[dtype]}" if DTYPES[dtype] and dtype != "bool" else ""

    def shorten(value):
        return [shorten(one) for one in value] if isinstance(value, list) else round(value, 2)

    cells = str(tensor if dtype == "bool" else shorten(tensor))
    if len(cells) > 70:
        cells = cells.replace("], [", "],\n    [")
    return f"tenon.tensor({cells}{tail})"


def python_name(base):
    """What Python calls the operator, or None."""
    for prefix, module in MODULES.items():
        if base.startswith(prefix) and hasattr(module, base.removeprefix(prefix)):
            return f"{module.__name__}.{base.removeprefix(prefix)}"
    for module in (tenon, tenon.nn.functional):
        if hasattr(module, base):
            return f"{module.__name__}.{base}"
    return None


def resolve(name):
    value = tenon
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def calls(base, rows):
    """(lines that make the tensors, the call, its names) of the rows that can be shown."""
    name = python_name(base) or (f"x.{base}" if hasattr(tenon.Tensor, base) else None)
    for args, kwargs in rows if name else ():
        try:
            given = [literal(cell, number) for number, cell in enumerate(args)]
            named = [f"{key}={literal(cell, 9)}" for key, cell in kwargs.items()]
            names, lines, call = iter("xyzuvw"), [], []
            for text in given:
                if text.startswith("tenon.tensor"):
                    lines.append(f"{(variable := next(names))} = {text}")
                    call.append(variable)
                else:
                    call.append(text)
            if name.startswith("x."):
                call.remove("x")  # a method of the first argument, or ValueError
            scope = {"tenon": tenon}
            exec("\n".join(lines), scope)
        except (ValueError, TypeError, RuntimeError, StopIteration):
            continue  # the next row may do
        yield lines, f"{name}({', '.join(call + named)})", scope


def example(base, rows):
    """The code and its output, of the first row that can be shown; or None."""
    if base.startswith(("empty", "new_empty")):
        return None  # memory that is not initialised
    for lines, expression, scope in calls(base, rows):
        try:
            tenon.manual_seed(0)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = eval(expression, scope)
        except (ValueError, TypeError, RuntimeError, NotImplementedError, IndexError, UserWarning):
            continue
        shown = str(result)
        if result is not None and len(shown) < 1500 and len("\n".join(lines)) < 1200:
            return "\n".join([*lines, f"print({expression})"]), shown
    return None


def mistake(base, rows):
    """The code of the first row that is an error, and the error; or None."""
    for lines, expression, scope in calls(base, rows):
        try:
            eval(expression, scope)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if len(text) < 600 and len("\n".join(lines)) < 1200:
                return "\n".join([*lines, expression]), text
    return None


def picture_of(base, operators):
    """Value and derivative of a pointwise function of one tensor between -4 and 4, as SVG; None if it is not one."""
    form = operators[0]["forms"][0]
    required = [one for one in form["arguments"] if not one["default_text"]]
    name = python_name(base)
    if (
        not operators[0]["expression"]
        or len(required) != 1
        or not required[0]["is_tensor"]
        or form["kind"] != "functional"
        or not name
    ):
        return None
    x = tenon.linspace(plot.LEFT, plot.RIGHT, plot.STEPS + 1, dtype=tenon.float64, requires_grad=True)
    try:
        y = resolve(name)(x)
    except NotImplementedError:  # of integers alone
        return None
    if y.dtype != tenon.float64:
        return None
    curves = [("value", y.detach())]
    if y.requires_grad:
        curves.append(("derivative", tenon.autograd.grad(y.sum(), x)[0]))
    places = x.tolist()
    return plot.draw(base, [(kind, list(zip(places, values.tolist()))) for kind, values in curves])


def alias_of(operators):
    return next((o["alias"]["base"] for o in operators if o["alias"]), None)


def python_section(base):
    name = python_name(base)
    if not name:
        return [f"The method `Tensor.{base}`."] if hasattr(tenon.Tensor, base) else []
    forms = [line for line in (resolve(name).__doc__ or "").splitlines() if line.startswith(f"{base}(")]
    method = f", and the method `Tensor.{base}`" if hasattr(tenon.Tensor, base) else ""
    return [f"`{name}`{method}.", *(["", "```text", *forms, "```"] if forms else [])]


def shown_code(pair):
    return ["```python", pair[0], "```", "", "```text", pair[1], "```"] if pair else []


def page(base, operators, internal, table, comment, rows, wrong, related):
    lines = sorted({operator_page.entry_at(table, o["place"]["line"]) for o in operators + internal})
    texts = [table[line][2] for line in lines]
    family = table[operator_page.entry_at(table, operators[0]["place"]["line"])][0]
    # The navigation has the index alone: without its column the code has room.
    out = [
        "---",
        "hide: [navigation]",
        "---",
        "",
        f"# {base}",
        "",
        f"Family: [{family}](index.md#{anchor(family)}).",
        "",
    ]
    out += [comment, ""] if comment else []
    alias = alias_of(operators)
    out += [f"Another name of [`{alias}`]({page_name(alias)}.md).", ""] if alias else []
    out += [line for block in operator_page.formulas(texts) for line in (block, "")]
    picture = picture_of(base, operators)
    out += [picture, ""] if picture else []
    out += operator_page.section("Python", python_section(base))
    out += operator_page.section("Example", shown_code(example(base, rows)))
    out += operator_page.section("Errors", shown_code(mistake(base, wrong)))
    out += operator_page.sections(operators, internal, texts, LANGUAGE)
    out += operator_page.section("Related", [", ".join(f"[{one}]({page_name(one)}.md)" for one in related)])
    return "\n".join(out)


def anchor(family):
    return re.sub(r"[^a-z0-9]+", "-", family.lower()).strip("-")


def page_name(base):
    """`index` would be the folder's own page."""
    return "index_" if base == "index" else base


def texts():
    """{operator: comment} of the sources, as Python's docstrings have them."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("docstrings", ROOT / "bindings/python/docstrings.py")
    docstrings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(docstrings)
    operators = set(re.findall(r"^- func: (\w+)", (ROOT / "native_functions.yaml").read_text(), re.M))
    found = {}
    for folder in ("aten/meta", "aten/composite"):
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            for comment, native in docstrings.DEFINITION.findall(path.read_text()):
                name = docstrings.operator_of(native, operators)
                if name and (name not in found or native.removesuffix("_meta") == name):
                    found[name] = " ".join(line.removeprefix("///").strip() for line in comment.splitlines())
    return found


def pages():
    """(path, text) of every page."""
    table, ir, (rows, wrong), comments = (
        operator_page.read_entries(ROOT / "native_functions.yaml"),
        document(),
        samples(),
        texts(),
    )
    by_name, families = collections.defaultdict(list), collections.defaultdict(list)
    for operator in ir["operators"]:
        base = operator["base"]
        if not operator_page.is_internal(base) and operator["cpp_namespace"] == "tenon":
            by_name[base].append(operator)

    def entry(operators):
        return table[operator_page.entry_at(table, operators[0]["place"]["line"])]

    for base, operators in by_name.items():
        families[entry(operators)[0]].append(base)
    order = list(dict.fromkeys(family for family, _, _ in table.values()))
    out = [
        "# Operators",
        "",
        "Every public operator has a page: formula, signatures, an example, its entry, its forms, its kernels and its derivative.",
        "",
    ]
    for family in sorted(families, key=order.index):
        near = families[family]
        out += [f"## {family}", "", ", ".join(f"[{base}]({page_name(base)}.md)" for base in near), ""]
        for place, base in enumerate(near):
            operators = by_name[base]
            known = alias_of(operators)
            content = page(
                base,
                operators,
                operator_page.helpers(operators, ir["operators"]),
                table,
                comments.get(base, entry(operators)[1]),
                rows.get(base) or rows.get(known, []),
                wrong.get(base) or wrong.get(known, []),
                [one for one in near[max(0, place - 6) : place + 7] if one != base],
            )
            yield f"{FOLDER}/{page_name(base)}.md", content
    yield f"{FOLDER}/index.md", "\n".join(out)
