"""Renders the generator's intermediate representation (JSON) through the Jinja2 templates.

Called by tenonc:  render.py IR TEMPLATES OUT
Writes every file that the IR names and whose text changed, removes files of an earlier run that the IR
no longer names, and keeps the files and the digests of what each was rendered from in OUT/.files: a file
whose digest stays is not rendered again. Prints the number of files written.
"""

import hashlib
import json
import os
import sys

import jinja2


def identifier(text):
    """What CMake's string(MAKE_C_IDENTIFIER) makes of a text that begins with a letter."""
    return "".join(c if c.isascii() and c.isalnum() else "_" * len(c.encode()) for c in text)


def pointwise_kernels(op):
    """All that an entry has: of the forward call, of its writes, of its gradients."""
    kernels = [op["kernel"]] if op["kernel"] else []
    for part in ("updates", "node"):
        kernels += op[part]["kernels"] if op[part] else []
    return kernels


def has_loop(op):
    """Whether an element's code loops until no lane takes another step."""
    bodies = [body for kernel in pointwise_kernels(op) for body in kernel["bodies"]]
    return any("m::any" in line for body in bodies for line in body["statements"])


def row_kernels(op):
    return [part["rowwise"]["kernel"] for part in (op, op["node"]) if part and part["rowwise"]]


def environment(folder):
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    env.filters["parameters"] = lambda args: ", ".join(f"{a['type']} {a['name']}" for a in args)
    env.filters["names"] = lambda args: ", ".join(a["name"] for a in args)
    # Each item in a pattern: "%s", or "%(name)s" of an object's keys.
    env.filters["each"] = lambda items, pattern, between=", ": between.join(pattern % item for item in items)
    env.filters["quoted"] = lambda text: json.dumps(text)
    env.filters["pointwise_kernels"] = pointwise_kernels
    env.tests["with_loop"] = has_loop
    env.filters["row_kernels"] = row_kernels
    env.filters["truth"] = lambda value: "true" if value else "false"
    env.filters["identifier"] = identifier
    return env


def write_if_changed(path, text):
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
    return True


def digest(*parts):
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def read_listing(listing):
    """What the last run wrote: path -> (digest of what it was rendered from, time it was written)."""
    try:
        with open(listing, encoding="utf-8") as file:
            lines = [line.split("\t") for line in file.read().splitlines()]
        return {path: (digest, time) for path, digest, time in lines}
    except (FileNotFoundError, ValueError):
        return {}


def written_at(path):
    try:
        return str(os.stat(path).st_mtime_ns)
    except FileNotFoundError:
        return None


def remove_stale(out, previous, current):
    """Deletes what the previous run wrote and this one did not."""
    for path in set(previous) - set(current):
        try:
            os.remove(os.path.join(out, path))
        except FileNotFoundError:
            pass


def renderer_digest(templates):
    """Of all that text is made from besides the IR."""
    texts = [jinja2.__version__]
    for folder, _, names in sorted(os.walk(templates)):
        texts += [os.path.join(folder, name) for name in sorted(names)]
    for path in [os.path.abspath(__file__), *texts[1:]]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return digest(*texts)


def template_place(error, template):
    """file:line of the innermost template that the error came from."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename or template}:{error.lineno}"
    place, trace = template, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(".j2"):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def main():
    ir_path, templates, out = sys.argv[1:4]
    with open(ir_path, encoding="utf-8") as file:
        ir = json.load(file)
    env = environment(templates)
    listing = os.path.join(out, ".files")
    previous = read_listing(listing)
    # A file is made from its own description, its operators, and this.
    library = {key: value for key, value in ir.items() if key not in ("operators", "optimizers", "files")}
    common = digest(renderer_digest(templates), os.path.abspath(out), json.dumps(library))
    texts = [json.dumps(operator) for operator in ir["operators"]]
    written = 0
    current = {}
    for file in ir["files"]:
        path = os.path.join(out, file["path"])
        optimizer = ir["optimizers"][file["optimizer"]] if file.get("optimizer") is not None else None
        source = digest(common, json.dumps(file), json.dumps(optimizer), *(texts[i] for i in file["operators"]))
        if previous.get(file["path"]) != (source, written_at(path)):
            operators = [ir["operators"][i] for i in file["operators"]]
            try:
                text = env.get_template(file["template_name"]).render(
                    file,
                    file=file,
                    operators=operators,
                    optimizer=optimizer,
                    ir=library,
                    out=os.path.abspath(out),
                )
            except jinja2.TemplateError as error:
                place = template_place(error, os.path.join(templates, file["template_name"]))
                sys.exit(f"{place}: error: {error.message} (while writing {file['path']})")
            written += write_if_changed(path, text)
        current[file["path"]] = (source, written_at(path))
    remove_stale(out, previous, current)
    write_if_changed(
        listing, "".join(f"{path}\t{source}\t{time}\n" for path, (source, time) in sorted(current.items()))
    )
    print(f"{written} of {len(current)} files written")


if __name__ == "__main__":
    main()
