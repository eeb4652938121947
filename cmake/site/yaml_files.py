"""The reference of the YAML files: the keys of each kind of file, from the JSON Schemas of `tenonc schema`; the types of schemas, from the
operators that use them; the tags."""

import json
import os
import pathlib
import subprocess

import yaml

ROOT = pathlib.Path(__file__).parents[2]
KINDS = {
    "native_functions": "Operators",
    "derivatives": "Derivatives",
    "backend": "Kernels of a device",
}
# Longer lists of words are left out: the generator's messages suggest the nearest one.
MANY = 10


def run(*arguments):
    done = subprocess.run([os.environ["TENON_GENERATOR"], *arguments], cwd=ROOT, check=True, capture_output=True)
    return json.loads(done.stdout)


def words(schema):
    """The words that a value can be, or nothing."""
    if "enum" in schema:
        return schema["enum"] if len(schema["enum"]) <= MANY else []
    return next((found for one in schema.get("anyOf", []) if (found := words(one))), [])


def kinds(schema):
    """What a value can be: text, list, ..."""
    named = {
        "string": "text",
        "object": "map",
        "array": "list",
        "boolean": "`True` or `False`",
        "integer": "integer",
        "number": "number",
    }
    found = schema.get("type", [])
    found = [found] if isinstance(found, str) else list(found)
    for one in schema.get("anyOf", []):
        found += [one["type"]] if isinstance(one.get("type"), str) else one.get("type", [])
    return ", ".join(dict.fromkeys(named.get(one, one) for one in found))


def keys(schema):
    lines = ["| key | value | meaning |", "| --- | --- | --- |"]
    table = schema["items"] if "items" in schema else schema
    for key, value in table["properties"].items():
        definition = schema.get("definitions", {}).get(value.get("$ref", "").rpartition("/")[2], {})
        shown = ", ".join(f"`{one}`" for one in words(value)) or kinds(value) or kinds(definition)
        needed = " Required." if key in table.get("required", []) else ""
        lines.append(f"| `{key}` | {shown} | {value.get('description', '').replace('|', chr(92) + '|')}{needed} |")
    return lines


def types():
    """The types of schemas that operators use, with their C++ parameter."""
    ir = run("ir", "--native", "native_functions.yaml", "--derivatives", "derivatives.yaml", "--tags", "tags.yaml")
    found = {}
    for operator in ir["operators"]:
        for form in operator["forms"]:
            for argument in form["arguments"]:
                kind = argument["schema_type"]
                kind = kind.partition("(")[0] + kind.rpartition(")")[2] if "(" in kind else kind
                known = found.get(kind)
                if not argument["is_mutable"] and (known is None or known[1].startswith("_")):
                    found[kind] = (argument["type"].replace("::std::", "std::"), operator["name"])
    lines = ["| type | C++ parameter | for example |", "| --- | --- | --- |"]
    return lines + [f"| `{kind}` | `{cpp}` | `{name}` |" for kind, (cpp, name) in sorted(found.items())]


def pages():
    out = [
        "# The YAML files",
        "",
        "The keys of each kind of file. [Adding an operator](../adding_an_operator.md) is the introduction, "
        "[the operator language](../language.md) has the expressions.",
        "",
    ]
    for kind, title in KINDS.items():
        out += [f"## {title}", "", *keys(run("schema", kind)), ""]
        if kind == "derivatives":
            out += [
                "Every other key is the name of an argument, or several, `self, other`: their formula. The formula of `result` is the tangent.",
                "",
            ]
    out += [
        "## Types of arguments",
        "",
        "`?` makes a type optional, `[]` a list, `(a!)` an argument that is written.",
        "",
        *types(),
        "",
    ]
    out += ["## Tags", "", "| tag | says |", "| --- | --- |"]
    for one in yaml.safe_load((ROOT / "tags.yaml").read_text()):
        out.append(f"| `{one['tag']}` | {' '.join(one['desc'].split()).replace('|', chr(92) + '|')} |")
    yield "reference/yaml.md", "\n".join(out) + "\n"
