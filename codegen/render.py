"""Renders the generator's intermediate representation (JSON) through the Jinja2 templates.

Called by tenonc:  render.py IR TEMPLATES OUT
Writes every file that the IR names and whose text changed, removes files of an earlier run that the IR
no longer names, and keeps the list of files in OUT/.files. Prints the number of files written.
"""

import json
import os
import sys

import jinja2


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
    env.filters["quoted"] = lambda text: json.dumps(text)
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


def remove_stale(out, current):
    """Deletes what the previous run wrote and this one did not."""
    listing = os.path.join(out, ".files")
    try:
        with open(listing, encoding="utf-8") as file:
            previous = file.read().split("\n")
    except FileNotFoundError:
        previous = []
    for path in set(filter(None, previous)) - set(current):
        try:
            os.remove(os.path.join(out, path))
        except FileNotFoundError:
            pass
    write_if_changed(listing, "\n".join(sorted(current)) + "\n")


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
    written = 0
    paths = []
    for file in ir["files"]:
        operators = [ir["operators"][i] for i in file["operators"]]
        try:
            text = env.get_template(file["template"]).render(
                file, file=file, operators=operators, ir=ir, out=os.path.abspath(out)
            )
        except jinja2.TemplateError as error:
            place = template_place(error, os.path.join(templates, file["template"]))
            sys.exit(f"{place}: error: {error.message} (while writing {file['path']})")
        paths.append(file["path"])
        written += write_if_changed(os.path.join(out, file["path"]), text)
    remove_stale(out, paths)
    print(f"{written} of {len(paths)} files written")


if __name__ == "__main__":
    main()
