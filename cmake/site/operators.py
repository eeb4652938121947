"""The reference of operators: one page for each name, and an index by family.

A page is made of the YAML files and of `tenonc ir`. Its example is the operator's first row of tests/ops/samples that Python's module can
call; it runs while the site is built. Families are the headings of native_functions.yaml.

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
import warnings

import tenon
import yaml

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = "reference/operators"
HEADING = re.compile(r"^# ([A-Z][^.\n]*)\n$")
DTYPES = {"f32": None, "f64": "float64", "i64": None, "i32": "int32", "bool": "bool", "u8": "uint8"}
MODULES = {"linalg_": tenon.linalg, "fft_": tenon.fft, "special_": tenon.special}
KERNELS = {
    "pointwise": "generated from the expression",
    "pointwise_mixed": "generated from the expression",
    "rowwise": "generated from the expression over rows",
    "rowwise_composed": "the operators of the expression",
    "update": "generated from the expressions that write",
    "update_composed": "the operators of the expressions",
    "composition": "the operators of the expression",
    "foreach": "one call for each place of the lists",
    "structured": "written by hand",
    "direct": "written by hand",
    "inplace_from_functional": "the functional form, copied",
    "out_from_functional": "the functional form, copied",
}


def entries():
    """{line: (family, comment, text)} of native_functions.yaml."""
    found, family, comment, start = {}, "", [], 0
    lines = (ROOT / "native_functions.yaml").read_text().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        heading = HEADING.match(line)
        if heading and lines[number : number + 1] == ["\n"]:
            family, comment = heading[1], []
        elif line.startswith("# "):
            comment.append(line[2:].strip())
        elif line.startswith("- "):
            start = number
            found[start] = [family, " ".join(comment), line]
            comment = []
        elif line.startswith("  ") and start:
            found[start][2] += line
        else:
            comment, start = [], 0
    return found


def entry_at(table, line):
    """The entry that the place of an operator or of its expression belongs to."""
    while line and line not in table:
        line -= 1
    return line


def document():
    generator = os.environ["TENON_GENERATOR"]
    files = ["--native", "native_functions.yaml", "--derivatives", "derivatives.yaml", "--tags", "tags.yaml"]
    return json.loads(subprocess.run([generator, "ir", *files], cwd=ROOT, check=True, capture_output=True).stdout)


def samples():
    """{base name of an operator: the arguments of its rows, simplest first}."""
    found = collections.defaultdict(list)
    for path in sorted((ROOT / "tests/ops/samples").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text()) or []:
            for name in row.get("ops") or [row.get("op")]:
                if name and "error" not in row:
                    dtype = next((one for one in row.get("for", []) if one in DTYPES), "f32")
                    found[name.partition(".")[0]].append(of_dtype((row.get("args", []), row.get("kwargs", {})), dtype))
    return found


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


def example(base, rows):
    """The code and what it prints, of the first row that can be shown; or None."""
    if base.startswith(("empty", "new_empty")):
        return None  # memory that is not initialised
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
            expression = f"{name}({', '.join(call + named)})"
            scope = {"tenon": tenon}
            tenon.manual_seed(0)
            exec("\n".join(lines), scope)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = eval(expression, scope)
        except (ValueError, TypeError, RuntimeError, NotImplementedError, IndexError, StopIteration, UserWarning):
            continue  # the next row may do
        if result is None:
            continue
        shown = str(result)
        if len(shown) < 1500 and len("\n".join(lines)) < 1200:
            return "\n".join([*lines, f"print({expression})"]), shown
    return None


def plot(base, operators):
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
    x = tenon.linspace(-4, 4, 401, dtype=tenon.float64, requires_grad=True)
    try:
        y = resolve(name)(x)
    except NotImplementedError:  # of integers alone
        return None
    if y.dtype != tenon.float64:
        return None
    curves = [("value", y.detach())]
    if y.requires_grad:
        curves.append(("derivative", tenon.autograd.grad(y.sum(), x)[0]))
    top = 4.0
    across, down = 320 / 8, 240 / (2 * top)
    out = [
        '<svg viewBox="0 0 360 260" class="plot" role="img" width="420">'
        f"<title>{base}: value and derivative between -4 and 4</title>"
        '<path class="axis" d="M20 130H340M180 10V250"/>'
    ]
    for at in (-4, -2, 2, 4):
        out.append(
            f'<text x="{180 + at * across:.0f}" y="144">{at}</text><text x="168" y="{134 - at * down:.0f}">{at}</text>'
        )
    for kind, values in curves:
        path, pen = "", False
        for place, value in zip(x.tolist(), values.tolist()):
            seen = math.isfinite(value) and abs(value) <= top
            if seen:
                path += f"{'L' if pen else 'M'}{180 + place * across:.1f} {130 - value * down:.1f}"
            pen = seen
        out.append(f'<path class="{kind}" d="{path}"/>')
    out.append("</svg>")
    legend = "Solid: value." + (" Dashed: derivative." if len(curves) > 1 else "")
    return "".join(out) + f"\n\n{legend}"


def declaration(form):
    parameters = [
        f"{p['type']} {p['name']}" + (f" = {p['default_text']}" if p["default_text"] else "")
        for p in form["api"]["parameters"]
    ]
    name = form["name"].rpartition(":")[2] + ("_out" if form["kind"] == "out" else "")
    head = f"{form['return_type']} {form['cpp_namespace']}::{name}("

    def short(text):
        return text.replace("::std::", "std::").replace("tenon::Tensor", "Tensor").replace("tenon::Scalar", "Scalar")

    line = short(f"{head}{', '.join(parameters)});")
    return line if len(line) < 100 else short(head + ",".join(f"\n    {one}" for one in parameters) + ");")


def helpers(operators, every):
    """The operators without a page that compositions of `operators` call."""
    called = [name for o in operators if o["composition"] for name in o["composition"]["operators"]]
    return [o for o in every if o["base"] in called and is_internal(o["base"])]


def is_internal(base):
    return base.startswith("_") or base.endswith("_backward")


def backends(form):
    """How each backend computes a form: the backends that do it alike share a row."""
    if not form["dispatch"]:
        return
    kinds = {thunk["symbol"]: thunk["kind"] for thunk in form["dispatch"]["thunks"]}
    by_kind = collections.defaultdict(list)
    for backend, symbol in form["dispatch"]["table"].items():
        by_kind[KERNELS.get(kinds.get(symbol), kinds.get(symbol, "written by hand"))].append(backend)
    for kind, names in by_kind.items():
        every = "None" in names
        named = [{"PrivateUse1": "devices of other libraries"}.get(name, name) for name in names]
        yield ("every backend" if every else ", ".join(named)), kind


def derivative(operators):
    for operator in operators:
        node = operator["node"]
        if not node:
            continue
        inputs = [one["name"] for one in node["inputs"]]
        rows = [
            (", ".join(inputs[i] for i in f["outputs"]), f["original"], "derivatives.yaml") for f in node["formulas"]
        ]
        rows += [(inputs[one["input"]], one["readable"], "derived") for one in node["pointwise"]]
        if node["rowwise"]:
            rows += [(inputs[one["input"]], one["readable"], "derived") for one in node["rowwise"]["gradients"]]
        if rows:
            saved = [one["shown"] for one in node["saved"]]
            yield operator["name"], node["name"], rows, saved


PROMOTIONS = {
    "kDefault": "The result has the promoted dtype.",
    "kFloat": "The result has the promoted dtype; integers and Bool become the default dtype.",
    "kBool": "The result is Bool; the computation has the promoted dtype.",
    "kComplexToFloat": "The result has the promoted dtype, or the real dtype of a complex one.",
    "kBoolToLong": "The result has the promoted dtype; Bool becomes int64.",
    "kNone": "All tensors must have one dtype, which the result has.",
    "kElements": "The result has the dtype that the elements are promoted to.",
    "kFloatToBool": "The result is Bool; integers become the default dtype first.",
}
DTYPES_OF_KERNELS = {
    "F32": "float32",
    "F64": "float64",
    "I32": "int32",
    "I64": "int64",
    "C64": "complex64",
    "C128": "complex128",
    "Bool": "bool",
}


def rules(operator):
    """What is known of shapes and dtypes, in sentences."""
    kernel = operator["kernel"]
    if kernel:
        types = dict.fromkeys(DTYPES_OF_KERNELS[one] for body in kernel["bodies"] for one in body["types"])
        yield f"The tensors are broadcast. {PROMOTIONS[kernel['promotion']]} Kernels compute in {', '.join(types)}."
    for function in operator["declarations"]:
        if function["kind"] == "meta":
            yield f"`{function['name']}` in `aten/meta` checks the arguments and gives shape and dtype."
        if function["kind"] == "check":
            yield f"`{function['name']}` in `aten/meta` checks the arguments."
    if operator["rowwise"]:
        yield "A row's dimensions are those of the key `over`. [Rows](../../language.md#dtypes-of-rows) has the rules of dtypes."
    if operator["composition"]:
        yield "Shapes, dtypes and errors are those of the operators called."


def code(text):
    return "`` " + text.replace("|", "\\|") + " ``"


def one_line(text):
    return " ".join(text.split())


def alias_of(operators):
    return next((o["alias"]["base"] for o in operators if o["alias"]), None)


def page(base, operators, internal, table, text, rows, related):
    family = table[entry_at(table, operators[0]["place"]["line"])][0]
    out = [f"# {base}", "", f"Family: [{family}](index.md#{anchor(family)}).", ""]
    if text:
        out += [text, ""]
    alias = alias_of(operators)
    if alias:
        out += [f"Another name of [`{alias}`]({page_name(alias)}.md).", ""]
    name = python_name(base)
    if name:
        forms = [line for line in (resolve(name).__doc__ or "").splitlines() if line.startswith(f"{base}(")]
        out += ["## Python", "", f"`{name}`"]
        if hasattr(tenon.Tensor, base):
            out[-1] += f", and the method `Tensor.{base}`"
        out[-1] += "."
        out += ["", "```text", *forms, "```", ""] if forms else [""]
    elif hasattr(tenon.Tensor, base):
        out += ["## Python", "", f"The method `Tensor.{base}`.", ""]
    picture = plot(base, operators)
    if picture:
        out += [picture, ""]
    shown = example(base, rows)
    if shown:
        out += ["```python", shown[0], "```", "", "```text", shown[1], "```", ""]
    out += ["## C++", "", "```cpp", f'#include "{operators[0]["header"]}"', ""]
    for operator in operators:
        for form in operator["forms"]:
            if form["function"]:
                out.append(declaration(form))
    out += ["```", "", "## Entry", "", "```yaml"]
    lines = sorted({entry_at(table, o["place"]["line"]) for o in operators + internal})
    out += [one for line in lines for one in (*table[line][2].rstrip().splitlines(), "")]
    out[-1] = "```"
    found = list(dict.fromkeys(rule for operator in operators + internal for rule in rules(operator)))
    if found:
        out += ["", "## Shapes and dtypes", "", *(f"- {rule}" for rule in found)]
    out += ["", "## Forms", "", "| form | | backend | computed by |", "| --- | --- | --- | --- |"]
    for operator in operators:
        for form in operator["forms"]:
            how = list(backends(form)) or [("", "")]
            for i, (where, kind) in enumerate(how):
                first = (code(form["schema"]), "derived" if form["derived"] else "written") if i == 0 else ("", "")
                out.append(f"| {first[0]} | {first[1]} | {where} | {kind} |")
    out += ["", "## Derivative", ""]
    derivatives = list(derivative(operators + internal))
    for operator, node, formulas, saved in derivatives:
        out += [f"`{operator}`, node `{node}`:", "", "| gradient of | | from |", "| --- | --- | --- |"]
        out += [f"| {inputs} | {code(one_line(formula))} | {origin} |" for inputs, formula, origin in formulas]
        out += ["", "Saved for backward: " + (", ".join(f"`{one}`" for one in saved) if saved else "nothing") + ".", ""]
    if not derivatives:
        out += [
            "The operator has no node of its own. If it is composed of other operators, theirs give the gradient.",
            "",
        ]
    out += ["## Related", "", ", ".join(f"[{one}]({page_name(one)}.md)" for one in related), ""]
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
    table, ir, rows, comments = entries(), document(), samples(), texts()
    by_name, families = collections.defaultdict(list), collections.defaultdict(list)
    for operator in ir["operators"]:
        base = operator["base"]
        if not is_internal(base) and operator["cpp_namespace"] == "tenon":
            by_name[base].append(operator)
    for base, operators in by_name.items():
        families[table[entry_at(table, operators[0]["place"]["line"])][0]].append(base)
    order = list(dict.fromkeys(family for family, _, _ in table.values()))
    out = [
        "# Operators",
        "",
        "Every public operator has a page: its signatures, its entry, its forms and its derivative.",
        "",
    ]
    for family in sorted(families, key=order.index):
        out += [f"## {family}", "", ", ".join(f"[{base}]({page_name(base)}.md)" for base in families[family]), ""]
        for base in families[family]:
            operators = by_name[base]
            own = table[entry_at(table, operators[0]["place"]["line"])][1]
            near = families[family]
            place = near.index(base)
            related = [one for one in near[max(0, place - 6) : place + 7] if one != base]
            internal = helpers(operators, ir["operators"])
            content = page(
                base,
                operators,
                internal,
                table,
                comments.get(base, own),
                rows.get(base) or rows.get(alias_of(operators), []),
                related,
            )
            yield f"{FOLDER}/{page_name(base)}.md", content
    yield f"{FOLDER}/index.md", "\n".join(out)
