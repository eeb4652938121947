"""Typesets an expression of the operator language as MathML, which browsers show without a library.

`typeset("t = exp(self); t / (1 + t)", "result")` gives a block for each equation. An expression that is no formula, such as one with a
loop, gives None.
"""

import html
import re

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[A-Za-z_]\w*(?:::\w+)*)|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<mark>\?\?|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%<>=!~&|^?:;.,(){}\[\]]))"
)
# Binary operators: precedence and sign.
BINARY = {
    "??": (1, "or"),
    "||": (2, "∨"),
    "&&": (3, "∧"),
    "|": (4, "|"),
    "^": (5, "⊕"),
    "&": (6, "&amp;"),
    "==": (7, "="),
    "!=": (7, "≠"),
    "<": (8, "&lt;"),
    "<=": (8, "≤"),
    ">": (8, "&gt;"),
    ">=": (8, "≥"),
    "<<": (9, "≪"),
    ">>": (9, "≫"),
    "+": (10, "+"),
    "-": (10, "−"),
    "*": (11, "⋅"),
    "/": (11, "/"),
    "%": (11, "mod"),
}
UNARY, CALL = 12, 14
GREEK = dict(
    zip(
        "alpha beta gamma delta eps epsilon theta lambda lambd mu nu rho sigma tau phi chi psi omega pi".split(),
        "α β γ δ ε ε θ λ λ μ ν ρ σ τ φ χ ψ ω π".split(),
    )
)
CONSTANTS = {"inf": "∞", "nan": "NaN", "pi": "π", "e": "e", "true": "true", "false": "false"}
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}


class NoFormula(Exception):
    """The text has a part that no formula has."""


class Parser:
    """A tree of tuples: ("number", text), ("name", text), ("text", text), ("list", items), ("call", name, arguments),
    ("unary", sign, x), ("binary", sign, x, y), ("if", condition, x, y)."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise NoFormula(text[at:])
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self.tokens.append(("end", ""))
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def take(self, expected=None):
        kind, text = self.tokens[self.at]
        if expected is not None and text != expected:
            raise NoFormula(f"expected {expected}, got {text}")
        self.at += 1
        return kind, text

    def equations(self):
        """(name, tree) of each local, then (None, tree) of the result."""
        found = []
        while self.tokens[self.at][0] == "name" and self.peek(1) == "=":
            name = self.take()[1]
            self.take("=")
            found.append((name, self.expression()))
            self.take(";")
        found.append((None, self.expression()))
        if self.tokens[self.at][0] != "end":
            raise NoFormula(self.peek())
        return found

    def expression(self):
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.take()
        chosen = self.expression()
        self.take(":")
        return ("if", condition, chosen, self.expression())

    def binary(self, lowest):
        left = self.unary()
        while self.peek() in BINARY and BINARY[self.peek()][0] >= lowest:
            sign = self.take()[1]
            left = ("binary", sign, left, self.binary(BINARY[sign][0] + 1))
        return left

    def unary(self):
        if self.peek() in ("-", "+", "!", "~"):
            sign = self.take()[1]
            return ("unary", sign, self.unary())
        return self.postfix()

    def postfix(self):
        value = self.primary()
        while self.peek() == ".":
            self.take()
            kind, name = self.take()
            if kind != "name" or self.peek() != "(":
                raise NoFormula(name)
            value = ("call", name, [value, *self.arguments("(", ")")])
        return value

    def primary(self):
        kind, text = self.take()
        if kind == "number" or kind == "text":
            return (kind, text)
        if kind == "name":
            return ("call", text, self.arguments("(", ")")) if self.peek() == "(" else ("name", text)
        if text == "(":
            value = self.expression()
            self.take(")")
            return value
        if text == "{":
            self.at -= 1
            return ("list", self.arguments("{", "}"))
        raise NoFormula(text)

    def arguments(self, begin, end):
        self.take(begin)
        found = []
        while self.peek() != end:
            found.append(self.expression())
            if self.peek() != end:
                self.take(",")
        self.take(end)
        return found


def row(*parts):
    return "<mrow>" + "".join(parts) + "</mrow>"


def sign(text):
    return f"<mo>{text}</mo>"


def name(text):
    text = text.rpartition("::")[2]
    if text in GREEK:
        return f"<mi>{GREEK[text]}</mi>"
    indexed = re.fullmatch(r"([a-z]+?)_?(\d+)", text)
    if indexed and indexed[1] not in ("log", "exp", "atan"):
        return f"<msub>{name(indexed[1])}<mn>{indexed[2]}</mn></msub>"
    return f"<mi>{html.escape(text)}</mi>"


def parenthesised(tree, precedence):
    """The tree, in parentheses if it binds less than `precedence`."""
    text = render(tree)
    binds = {"binary": lambda: BINARY[tree[1]][0], "unary": lambda: UNARY, "if": lambda: 0}.get(tree[0], lambda: CALL)()
    if tree[0] == "binary" and tree[1] == "/":
        binds = CALL  # a fraction shows what belongs to it
    return text if binds >= precedence else row(sign("("), text, sign(")"))


def applied(function, arguments):
    inside = "<mo>,</mo>".join(render(one) for one in arguments)
    return row(function, "<mo>&#x2061;</mo>", sign("("), inside, sign(")"))


def cases(*branches):
    """Pairs of a value and the text or tree of its condition."""
    left = '<mtd style="text-align: left">'
    lines = "".join(f"<mtr>{left}{render(value)}</mtd>{left}{condition}</mtd></mtr>" for value, condition in branches)
    return row(sign("{"), f'<mtable displaystyle="true">{lines}</mtable>')


def chosen(condition, value, other):
    return cases(
        (value, row("<mtext>if&nbsp;</mtext>", render(condition))),
        (other, "<mtext>otherwise</mtext>"),
    )


def call(function, arguments):
    short = function.rpartition("::")[2]
    one, two = len(arguments) == 1, len(arguments) == 2
    if short == "detach" and one:
        return render(arguments[0])
    if short in ("sqrt",) and one:
        return f"<msqrt>{render(arguments[0])}</msqrt>"
    if short == "rsqrt" and one:
        return f"<mfrac><mn>1</mn><msqrt>{render(arguments[0])}</msqrt></mfrac>"
    if short == "reciprocal" and one:
        return f"<mfrac><mn>1</mn>{render(arguments[0])}</mfrac>"
    if short == "square" and one:
        return f"<msup>{parenthesised(arguments[0], CALL)}<mn>2</mn></msup>"
    if short == "exp2" and one:
        return f"<msup><mn>2</mn>{render(arguments[0])}</msup>"
    if short == "pow" and two:
        return f"<msup>{parenthesised(arguments[0], CALL)}{render(arguments[1])}</msup>"
    if short == "abs" and one:
        return row(sign("|"), render(arguments[0]), sign("|"))
    if short == "floor" and one:
        return row(sign("⌊"), render(arguments[0]), sign("⌋"))
    if short == "ceil" and one:
        return row(sign("⌈"), render(arguments[0]), sign("⌉"))
    if short == "conj" and one:
        return f"<mover>{render(arguments[0])}<mo>¯</mo></mover>"
    if short == "neg" and one:
        return render(("unary", "-", arguments[0]))
    if short in ("sum", "prod") and one:
        return row(sign("∑" if short == "sum" else "∏"), parenthesised(arguments[0], 11))
    if short == "where" and len(arguments) == 3:
        return chosen(*arguments)
    if short == "pick" and two:
        return f"<msub>{parenthesised(arguments[0], CALL)}{render(arguments[1])}</msub>"
    if short in OPERATORS and two:
        return render(("binary", OPERATORS[short], *arguments))
    if short == "sigmoid" and one:
        return applied("<mi>σ</mi>", arguments)
    return applied(f'<mi mathvariant="normal">{html.escape(short)}</mi>', arguments)


def render(tree):
    kind = tree[0]
    if kind == "number":
        return f"<mn>{tree[1]}</mn>"
    if kind == "name":
        return f"<mi>{CONSTANTS[tree[1]]}</mi>" if tree[1] in CONSTANTS else name(tree[1])
    if kind == "text":
        return f"<mtext>{html.escape(tree[1])}</mtext>"
    if kind == "list":
        return row(sign("{"), "<mo>,</mo>".join(render(one) for one in tree[1]), sign("}"))
    if kind == "call":
        return call(tree[1], tree[2])
    if kind == "if":
        return chosen(*tree[1:])
    if kind == "unary":
        return row(sign({"-": "−", "!": "¬", "~": "∼", "+": "+"}[tree[1]]), parenthesised(tree[2], UNARY))
    mark, left, right = tree[1:]
    if mark == "/":
        return f"<mfrac>{render(left)}{render(right)}</mfrac>"
    precedence, shown = BINARY[mark]
    between = f"<mtext>&nbsp;{shown}&nbsp;</mtext>" if shown in ("or", "mod") else sign(shown)
    return row(parenthesised(left, precedence), between, parenthesised(right, precedence + 1))


def typeset(text, result):
    """MathML of the locals and of `result`, or None. A text of a single name or number is no formula either."""
    try:
        found = Parser(text).equations()
    except NoFormula:
        return None
    if len(found) == 1 and found[0][1][0] in ("name", "number"):
        return None
    lines = [
        f'<math display="block">{row(name(left or result), sign("="), render(tree))}</math>' for left, tree in found
    ]
    return "\n".join(lines)
