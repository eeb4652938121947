"""The page of an operator, in Markdown, from the intermediate representation and the YAML files.

`cmake/site` adds Python's names, examples and plots for Tenon's own operators; `tenonc docs` (write_pages.py) writes the pages of other
libraries.
"""

import collections
import re

import formula

HEADING = re.compile(r"^# ([A-Z][^.\n]*)\n$")
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


def read_entries(path):
    """{line: (heading above it, comment, text)} of a file of operators."""
    found, heading, comment, start = {}, "", [], 0
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    for number, line in enumerate(lines, 1):
        title = HEADING.match(line)
        if title and lines[number : number + 1] == ["\n"]:
            heading, comment = title[1], []
        elif line.startswith("# "):
            comment.append(line[2:].strip())
        elif line.startswith("- "):
            start = number
            found[start] = [heading, " ".join(comment), line]
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


def unquoted(text):
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1].replace('\\"', '"')
    return text


def expressions(entry):
    """(key, text) of an entry's `pointwise` or `rowwise`; the key is empty if there is one expression."""
    match = re.search(r"^  (?:pointwise|rowwise):(.*)\n((?: {4,}.*\n?|\n)*)", entry, re.M)
    if not match:
        return []
    head, body = match[1].strip(), match[2]
    if head and head not in ("|", ">", "|-", ">-"):
        return [("", unquoted(head + " " + " ".join(body.split())))]
    if head:
        return [("", body)]
    found = re.findall(r"^    (\w+):(.*(?:\n {6,}.*)*)", body, re.M)
    return [(key, unquoted(re.sub(r"^\s*[|>]-?\n", "", text))) for key, text in found]


def is_internal(base):
    return base.startswith("_") or base.endswith("_backward")


def helpers(operators, every):
    """The operators without a page that compositions of `operators` call."""
    called = [name for o in operators if o["composition"] for name in o["composition"]["operators"]]
    return [o for o in every if o["name"].partition(".")[0] in called and is_internal(o["base"])]


def code(text):
    return "`` " + text.replace("|", "\\|") + " ``"


def one_line(text):
    return " ".join(text.split())


def joined(names):
    """a, b and c."""
    names = [f"`{one}`" for one in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


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


def rules(operator, language):
    """Sentences about shapes and dtypes. `language` is the address of the page of the operator language, or empty."""
    kernel = operator["kernel"]
    if kernel:
        types = dict.fromkeys(DTYPES_OF_KERNELS[one] for body in kernel["bodies"] for one in body["types"])
        yield f"The tensors are broadcast. {PROMOTIONS[kernel['promotion']]} Kernels compute in {', '.join(types)}."
    for function in operator["declarations"]:
        if function["kind"] == "meta":
            yield f"`{function['name']}` checks the arguments and gives shape and dtype."
    if operator["check"]:
        yield f"`{operator['check']}` checks the arguments."
    if operator["rowwise"]:
        more = f" [Rows]({language}#dtypes-of-rows) has the rules of dtypes." if language else ""
        yield f"A row's dimensions are those of the key `over`.{more}"
    if operator["composition"]:
        yield "Shapes, dtypes and errors are those of the operators called."


def passes(kernel):
    """A sentence for each pass of a row kernel."""
    number = 0
    for step in kernel["steps"]:
        made = [one["kind"] for one in step["reductions"]]
        given = [f"the reduction{'s' if len(made) > 1 else ''} {', '.join(made)}"] if made else []
        given += ["values that a later pass reads"] if step["spills"] else []
        given += ["a result"] if len(step["stores"]) == 1 else ["results"] if step["stores"] else []
        given = " and ".join(given)
        if step["kind"] == "pass":
            number += 1
            reads = [one for one in step["loads"] if not one.startswith("spill")]
            source = joined(reads) if reads else "kept values"
            yield f"Pass {number} reads {source}" + (f" and gives {given}." if given else ".")
        elif step["stores"]:
            yield f"Values of the row give {given}."


def kernels(operator):
    """(title, sentences) of the kernels that are generated for an operator."""
    name, node = operator["name"], operator["node"]
    if operator["kernel"]:
        kernel = operator["kernel"]
        reads = f"reads {joined(kernel['inputs'])}" if kernel["inputs"] else "reads no tensor"
        number = kernel["num_outputs"]
        results = "one result" if number == 1 else f"{number} results"
        yield f"`{name}`", [f"One pass {reads} and writes {results}."]
    if operator["rowwise"]:
        yield f"`{name}`", list(passes(operator["rowwise"]["kernel"]))
    if node and node["rowwise"]:
        yield f"The gradient, `{node['name']}`", list(passes(node["rowwise"]["kernel"]))
    elif node and node["kernels"]:
        sets = [joined(node["inputs"][i]["name"] for i in one["outputs"]) for one in node["kernels"]]
        yield f"The gradient, `{node['name']}`", [f"One pass for {one}." for one in sets]


def derivative(operators):
    for operator in operators:
        node = operator["node"]
        if not node:
            continue
        inputs = [one["name"] for one in node["inputs"]]
        rows = [
            (", ".join(inputs[i] for i in f["outputs"]), f["original"], f["place"]["source"]) for f in node["formulas"]
        ]
        origin = "derived" if operator["expression"] else node["place"]["source"]
        rows += [(inputs[one["input"]], one["readable"], origin) for one in node["pointwise"]]
        if node["rowwise"]:
            rows += [(inputs[one["input"]], one["readable"], "derived") for one in node["rowwise"]["gradients"]]
        if rows:
            saved = [one["shown"] for one in node["saved"]]
            yield operator["name"], node["name"], rows, saved


def under_vmap(form):
    rule = form["batching"]
    if rule is None:
        return "a rule by hand, or one example after another"
    return "a rule that follows from the entry" if rule else "the rules of its operators"


def shown_expressions(text):
    """(key, text) of an entry's expressions; of one for each category of dtypes the most general."""
    found = expressions(text)
    keys = {key for key, _ in found}
    if keys & {"floating", "integral", "complex", "bool"}:
        best = next((key for key in ("floating", "integral", "complex") if key in keys), None)
        found = [("", expression) for key, expression in found if key == best]
    return found


def formulas(texts):
    """MathML of the entries' expressions: one block for each."""
    seen = []
    for text in texts:
        for key, expression in shown_expressions(text):
            block = formula.typeset(one_line(expression), key or "result")
            if block and block not in seen:
                seen.append(block)
    return seen


def section(title, lines):
    return [f"## {title}", "", *lines, ""] if lines else []


def cpp(operators):
    lines = ["```cpp", f'#include "{operators[0]["header"]}"', ""]
    lines += [declaration(form) for operator in operators for form in operator["forms"] if form["function"]]
    return [*lines, "```"]


def forms(operators):
    lines = ["| form | | backend | computed by |", "| --- | --- | --- | --- |"]
    for operator in operators:
        for form in operator["forms"]:
            for i, (where, kind) in enumerate(list(backends(form)) or [("", "")]):
                first = (code(form["schema"]), "derived" if form["derived"] else "written") if i == 0 else ("", "")
                lines.append(f"| {first[0]} | {first[1]} | {where} | {kind} |")
    form = operators[0]["forms"][0]
    if form["keys"]:
        lines += ["", f"A call is dispatched by {joined(form['keys'])}. Under `vmap` it has {under_vmap(form)}."]
    return lines


def gradients(operators):
    lines = []
    for operator, node, rows, saved in derivative(operators):
        lines += [f"`{operator}`, node `{node}`:", "", "| gradient of | | from |", "| --- | --- | --- |"]
        lines += [f"| {inputs} | {code(one_line(text))} | {origin} |" for inputs, text, origin in rows]
        lines += [
            "",
            "Saved for backward: " + (", ".join(f"`{one}`" for one in saved) if saved else "nothing") + ".",
            "",
        ]
    if lines:
        return lines[:-1]
    return ["The operator has no node. If it is composed of other operators, theirs give the gradient."]


def sections(operators, internal, texts, language):
    """All sections that follow from the entries: C++, entry, shapes and dtypes, forms, kernels, derivative."""
    lines = section("C++", cpp(operators))
    lines += section("Entry", ["```yaml", "\n\n".join(text.rstrip() for text in texts), "```"])
    found = dict.fromkeys(rule for operator in operators + internal for rule in rules(operator, language))
    lines += section("Shapes and dtypes", [f"- {rule}" for rule in found])
    lines += section("Forms", forms(operators))
    made = [(title, done) for operator in operators + internal for title, done in kernels(operator) if done]
    lines += section("Kernels", [f"- {title}: {' '.join(done)}" for title, done in made])
    return lines + section("Derivative", gradients(operators + internal))
