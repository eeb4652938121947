"""Plots of functions of one number, as SVG; and their values, computed from the expression of an operator."""

import math

import formula

LEFT, RIGHT, TOP, STEPS = -4.0, 4.0, 4.0, 400


def clipped(function):
    """The function, NaN where it has no value and infinite where it has no room."""

    def value(*arguments):
        try:
            return float(function(*arguments))
        except (ValueError, ZeroDivisionError):
            return math.nan
        except OverflowError:
            return math.inf

    return value


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


FUNCTIONS = {
    name: clipped(function)
    for name, function in {
        **{name: getattr(math, name) for name in "exp expm1 log log1p log2 log10 sqrt sin cos tan asin acos".split()},
        **{
            name: getattr(math, name)
            for name in "atan sinh cosh tanh asinh acosh atanh erf erfc floor ceil trunc".split()
        },
        "abs": abs,
        "atan2": math.atan2,
        "conj": lambda x: x,
        "exp2": lambda x: 2**x,
        "maximum": max,
        "minimum": min,
        "neg": lambda x: -x,
        "pow": math.pow,
        "reciprocal": lambda x: 1 / x,
        "relu": lambda x: max(x, 0.0),
        "round": round,
        "rsqrt": lambda x: 1 / math.sqrt(x),
        "sigmoid": sigmoid,
        "sign": lambda x: math.copysign(1, x) if x else 0.0,
        "silu": lambda x: x * sigmoid(x),
        "softplus": lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0.0),
        "square": lambda x: x * x,
    }.items()
}
BINARY = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "%": lambda x, y: x % y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "&&": lambda x, y: bool(x) and bool(y),
    "||": lambda x, y: bool(x) or bool(y),
}
CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e, "true": 1.0, "false": 0.0}


def evaluate(tree, names):
    """The number of a tree of formula.Parser; KeyError for a name or a function that is not known here."""
    kind = tree[0]
    if kind == "number":
        return float(tree[1])
    if kind == "name":
        return names[tree[1]] if tree[1] in names else CONSTANTS[tree[1]]
    if kind == "unary":
        value = evaluate(tree[2], names)
        return -value if tree[1] == "-" else not value if tree[1] == "!" else {"+": value}[tree[1]]
    if kind == "binary":
        return clipped(BINARY[tree[1]])(evaluate(tree[2], names), evaluate(tree[3], names))
    if kind == "if" or (kind == "call" and tree[1] == "where"):
        condition, chosen, other = tree[1:] if kind == "if" else tree[2]
        return evaluate(chosen if evaluate(condition, names) else other, names)
    if kind == "call":
        return FUNCTIONS[tree[1]](*(evaluate(one, names) for one in tree[2]))
    raise KeyError(kind)


def sampled(text, names, variable, results=None):
    """(x, y) of an expression as a function of `variable`, or None if it has parts that are not known here. `results` are the values of
    the name `result`."""
    try:
        equations = formula.Parser(text).equations()
        points = []
        for i in range(STEPS + 1):
            scope = {**names, variable: LEFT + (RIGHT - LEFT) * i / STEPS}
            if results:
                scope["result"] = results[i][1]
            for name, tree in equations:
                scope[name] = evaluate(tree, scope)
            points.append((scope[variable], scope[None]))
        return points
    except (formula.NoFormula, KeyError, TypeError):
        return None


def curves(operator, expression):
    """The value, and the derivative if it is derived, of a pointwise operator of one tensor whose numbers have defaults."""
    arguments = operator["forms"][0]["arguments"]
    tensors = [one["name"] for one in arguments if one["is_tensor"] or one["is_optional_tensor"]]
    if operator["forms"][0]["kind"] != "functional" or len(tensors) != 1:
        return []
    try:
        names = {one["name"]: float(one["default_text"]) for one in arguments if not one["is_tensor"]}
    except ValueError:
        return []
    value = sampled(expression, names, tensors[0])
    if not value:
        return []
    found = [("value", value)]
    for gradient in operator["node"]["pointwise"] if operator["node"] else []:
        slope = sampled(gradient["readable"], {**names, "grad": 1.0}, tensors[0], value)
        if slope:
            found.append(("derivative", slope))
    return found


def draw(title, found):
    """SVG of curves, pairs of a kind and its points, with a legend."""
    across, down = 320 / (RIGHT - LEFT), 240 / (2 * TOP)
    out = [
        '<svg viewBox="0 0 360 260" class="plot" role="img" width="420">'
        f"<title>{title}: value and derivative between -4 and 4</title>"
        '<path class="axis" stroke="gray" d="M20 130H340M180 10V250"/>'
    ]
    for at in (-4, -2, 2, 4):
        out.append(
            f'<text x="{180 + at * across:.0f}" y="144">{at}</text><text x="168" y="{134 - at * down:.0f}">{at}</text>'
        )
    for kind, points in found:
        path, pen = "", False
        for x, y in points:
            seen = math.isfinite(y) and abs(y) <= TOP
            if seen:
                path += f"{'L' if pen else 'M'}{180 + x * across:.1f} {130 - y * down:.1f}"
            pen = seen
        # A style sheet, as the site's, takes the place of these colours.
        colour = 'stroke="royalblue"' if kind == "value" else 'stroke="crimson" stroke-dasharray="6 4"'
        out.append(f'<path class="{kind}" fill="none" stroke-width="2" {colour} d="{path}"/>')
    legend = "Solid: value." + (" Dashed: derivative." if len(found) > 1 else "")
    return "".join([*out, "</svg>"]) + f"\n\n{legend}"
