"""What PyTorch's own generator, torchgen, makes of native_functions.yaml and derivatives.yaml, as plain lines that
the tests compare with what Tenon's model says.

    python facts.py NATIVE DERIVATIVES TAGS OUT

needs a Python with torchgen (it comes with PyTorch) and writes OUT/operators.txt and OUT/derivatives.txt.

operators.txt, one line for each operator, generated ones included:

    family kind name [flags]       family: number of the first line of operators that are forms of one another
    = schema                       follows a generated operator

derivatives.txt, for each set of formulas (name, or name:key for another key than Default):

    entry NAME [node]              the canonical operator; `node` when some gradient is computed
      inputs A B                   arguments with a gradient
      outputs R S                  differentiable results
      backward A B [undefined]     a formula; `undefined`: no gradient in, no gradient out, without evaluating it
        input NAME EXPRESSION      what it keeps of the arguments and of the results
        output NAME EXPRESSION
      guard NAME 0 2               kept only if a gradient of one of these inputs is wanted
      forward R tangents A B primals C [original]
        TEXT                       the formula once auto_linear and auto_element_wise are replaced
    inherit NAME SOURCE            an operator that is differentiated by another one's formulas
"""

import pathlib
import re
import sys

from torchgen.api import autograd
from torchgen.api.autograd import gen_differentiable_outputs, match_differentiability_info
from torchgen.context import native_function_manager
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import NativeFunctionsGroup
from torchgen.native_function_generation import pre_group_native_functions
from torchgen.packaged.autograd import gen_autograd_functions, gen_variable_type, load_derivatives


def operator_facts(native, tags):
    functions = parse_native_yaml(native, tags).native_functions
    lines = []
    structured = set()
    grouped = set()
    for group in get_grouped_native_functions(functions):
        if isinstance(group, NativeFunctionsGroup):
            for function in group.functions():
                grouped.add(function.func)
                if group.structured:
                    structured.add(function.func)
    families = list(pre_group_native_functions(functions).values())
    families.sort(key=lambda family: min(str(f.func.name) for f in family.values()))
    for number, family in enumerate(families, 1):
        for function in sorted(family.values(), key=lambda f: str(f.func.name)):
            generated = "generated" in function.tags
            flags = [
                ("grouped", function.func in grouped),
                ("structured", function.func in structured),
                ("view", function.is_view_op),
                ("generated", generated),
            ]
            words = [str(number), function.func.kind().name, str(function.func.name)]
            lines.append(" ".join(words + [word for word, holds in flags if holds]))
            if generated:
                lines.append(f"= {function.func}")
    return lines


def variable_name(attribute):
    name = attribute.nctype.name
    return name if isinstance(name, str) else name.name


def guards(text):
    """{variable: inputs} of the statements `if (grad_fn->should_compute_output(...)) { grad_fn->variable = ...; }`."""
    found = {}
    for condition, body in re.findall(r"if \((grad_fn->should_compute_output[^\n]*)\) \{\n([^}]*)\}", text):
        for variable in re.findall(r"grad_fn->(\w+?)_? = ", body):
            found[variable] = " ".join(re.findall(r"should_compute_output\((\d+)\)", condition))
    return found


def entry_facts(pair, key, info, label):
    lines = [f"entry {label}" + (" node" if info.has_derivatives else "")]
    if not info.has_derivatives:
        return lines
    lines.append("  inputs " + " ".join(a.name for a in info.args_with_derivatives))
    with native_function_manager(pair.func):
        lines.append("  outputs " + " ".join(o.name for o in gen_differentiable_outputs(pair, key)))
        body = "\n".join(gen_variable_type.emit_body(pair, key))
    node = gen_autograd_functions.process_function(info, gen_autograd_functions.FUNCTION_DEFINITION)
    for derivative in info.derivatives:
        undefined = f"any_grad_defined ? ({derivative.formula}) : Tensor()" in node
        lines.append("  backward " + " ".join(derivative.var_names) + (" undefined" if undefined else ""))
        lines += sorted(f"    input {variable_name(a)} {a.expr}" for a in derivative.saved_inputs)
        lines += sorted(f"    output {variable_name(a)} {a.expr}" for a in derivative.saved_outputs)
    lines += [f"  guard {name} {users}" for name, users in sorted(guards(body).items())]
    for forward in pair.fw_derivatives[key]:
        words = ["  forward", *forward.var_names, "tangents", *sorted(forward.required_inputs_fw_grad or ())]
        words += ["primals", *sorted(set(forward.required_inputs_primal or ()))]
        lines.append(" ".join(words + ["original"] * forward.required_original_self_value))
        lines.append("    " + " ".join(forward.formula.split()))
    return lines


def load_infos(native, derivatives, tags):
    """What load_derivatives returns, and the schemas whose formulas it took over from a view."""
    add = load_derivatives.add_view_copy_derivatives
    copies = set()

    def recording(infos, groups):
        written = set(infos)
        add(infos, groups)
        copies.update(set(infos) - written)

    load_derivatives.add_view_copy_derivatives = recording
    infos, _ = load_derivatives.load_derivatives(derivatives, native, tags)
    load_derivatives.add_view_copy_derivatives = add
    return infos, copies


def derivative_facts(native, derivatives, tags):
    infos, copies = load_infos(native, derivatives, tags)
    written = set(infos) - copies
    names = {}  # of the operators whose formulas there are, by what is_reference_for_foreach sees of them
    for schema in infos:
        names.setdefault(schema.signature(strip_default=True), schema.name)
    references = {}
    is_reference = autograd.is_reference_for_foreach

    def recording(function, schema):
        if not is_reference(function, schema):
            return False
        references[str(function.func.name)] = names[schema]
        return True

    autograd.is_reference_for_foreach = recording
    functions = sorted(parse_native_yaml(native, tags).native_functions, key=lambda f: str(f.func.name))
    pairs = match_differentiability_info(functions, infos)
    autograd.is_reference_for_foreach = is_reference
    entries, inherited = [], []
    for pair in pairs:
        name = str(pair.func.func.name)
        if pair.info is None:
            continue
        if pair.func.func in written:
            for key, info in pair.info.items():
                entries += entry_facts(pair, key, info, name if key == "Default" else f"{name}:{key}")
        elif pair.func.func in copies:
            view = [
                s.name
                for s in written
                if infos[s].get("Default") is not None
                and infos[s]["Default"].derivatives is pair.info["Default"].derivatives
            ]
            inherited.append(f"inherit {name} {view[0]}")
        else:
            source = references.get(name) or next(iter(pair.info.values())).func.func.name
            inherited.append(f"inherit {name} {source}")
    return entries + inherited


def main(native, derivatives, tags, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "operators.txt").write_text("\n".join(operator_facts(native, tags)) + "\n")
    (out / "derivatives.txt").write_text("\n".join(derivative_facts(native, derivatives, tags)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
