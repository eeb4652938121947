"""`--format json` and `--format sarif`: golden documents, the demands of SARIF 2.1.0, what a fix does."""

import json
import os
import pathlib
import unittest
import urllib.parse

from support import ROOT, Workspace, tenonc

REPORT = ROOT / "tests" / "codegen" / "report"
BAD = ROOT / "tests" / "codegen" / "bad"

# What SARIF 2.1.0 (sections 3.13 to 3.57) allows here: the properties of each object, required ones with `!`.
SARIF = {
    "log": {"$schema": str, "version!": str, "runs!": ["run"]},
    "run": {"tool!": "tool", "columnKind": str, "results": ["result"]},
    "tool": {"driver!": "driver"},
    "driver": {"name!": str, "version": str, "rules": ["rule"]},
    "rule": {"id!": str, "shortDescription": "message"},
    "result": {
        "ruleId": str,
        "ruleIndex": int,
        "level": str,
        "message!": "message",
        "locations": ["location"],
        "relatedLocations": ["location"],
        "fixes": ["fix"],
    },
    "message": {"text!": str},
    "location": {"id": int, "physicalLocation": "physical", "message": "message"},
    "physical": {"artifactLocation!": "artifact", "region": "region"},
    "artifact": {"uri!": str},
    "region": {"startLine!": int, "startColumn": int, "endLine": int, "endColumn": int},
    "fix": {"description": "message", "artifactChanges!": ["change"]},
    "change": {"artifactLocation!": "artifact", "replacements!": ["replacement"]},
    "replacement": {"deletedRegion!": "region", "insertedContent": "message"},
}


def violations(value, kind, where="log"):
    """What of `value` SARIF does not allow, one line each."""
    if isinstance(kind, type):
        return [] if type(value) is kind else [f"{where}: {value!r} is no {kind.__name__}"]
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [line for i, item in enumerate(value) for line in violations(item, kind[0], f"{where}[{i}]")]
    if not isinstance(value, dict):
        return [f"{where}: no object"]
    known = {key.rstrip("!"): inner for key, inner in SARIF[kind].items()}
    found = [f"{where}: lacks {key[:-1]}" for key in SARIF[kind] if key.endswith("!") and key[:-1] not in value]
    for key, inner in value.items():
        found += violations(inner, known[key], f"{where}.{key}") if key in known else [f"{where}: has {key}"]
    return found


def arguments(native):
    """The files of a test: `x.yaml` with x.derivatives.yaml and x.tags.yaml where they exist."""
    result = ["--native", native]
    derivatives, tags = native.with_suffix(".derivatives.yaml"), native.with_suffix(".tags.yaml")
    if derivatives.exists():
        result += ["--derivatives", derivatives]
    upstream = native.read_bytes().startswith(b"# dialect: upstream\n")
    return result + [
        "--dialect",
        "upstream" if upstream else "tenon",
        "--tags",
        tags if tags.exists() else ROOT / "tags.yaml",
    ]


def check(*options):
    result = tenonc("check", "--format=json", *options)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return json.loads(result.stdout)


def replaced(text, message, new):
    """The text with the message's region replaced; its columns count bytes."""
    lines = text.encode().split(b"\n")
    line = lines[message["line"] - 1]
    lines[message["line"] - 1] = line[: message["column"] - 1] + new.encode() + line[message["endColumn"] - 1 :]
    return b"\n".join(lines).decode()


class Golden(Workspace):
    maxDiff = None

    def report(self, name, *options):
        return tenonc(
            "check",
            "--native",
            "native.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            "../../../tags.yaml",
            f"--format={name}",
            *options,
            cwd=REPORT,
        )

    def test_golden(self):
        for name in ("text", "json", "sarif"):
            with self.subTest(name):
                result = self.report(name)
                self.assertEqual(result.returncode, 1)
                text, other = (result.stderr, result.stdout) if name == "text" else (result.stdout, result.stderr)
                self.assertEqual(other, "")
                if name == "sarif":
                    text = self.without_rules(text)
                path = REPORT / f"expected.{name}"
                if os.environ.get("TENON_ACCEPT"):
                    path.write_text(text)
                self.assertEqual(text, path.read_text())

    @staticmethod
    def without_rules(text):
        """The document without the list of all rules, which grows with each of them."""
        document = json.loads(text)
        del document["runs"][0]["tool"]["driver"]["rules"]
        for result in document["runs"][0]["results"]:
            del result["ruleIndex"]
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    def test_no_errors(self):
        path = self.write("clean.yaml", "- func: twice(Tensor self) -> Tensor\n  pointwise: 2 * self\n")
        result = tenonc("check", "--native", path, "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout), {"version": 1, "errors": 0, "warnings": 0, "diagnostics": []})
        result = tenonc("check", "--native", path, "--format", "sarif")
        self.assertEqual(json.loads(result.stdout)["runs"][0]["results"], [])

    def test_a_commands_own_output_stays_apart(self):
        path = self.write("clean.yaml", "- func: twice(Tensor self) -> Tensor\n  pointwise: 2 * self\n")
        result = tenonc("ir", "--native", path, "--format=json")
        self.assertIn("operators", json.loads(result.stdout))
        self.assertEqual(json.loads(result.stderr)["errors"], 0)

    def test_unknown_format(self):
        result = self.report("sariff")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--format must be text, json or sarif, got 'sariff'", result.stderr)


class Sarif(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = tenonc(
            "check",
            "--native",
            REPORT / "native.yaml",
            "--derivatives",
            REPORT / "derivatives.yaml",
            "--tags",
            ROOT / "tags.yaml",
            "--format=sarif",
        )
        cls.log = json.loads(result.stdout)
        cls.run_ = cls.log["runs"][0]

    def test_form(self):
        self.assertEqual(violations(self.log, "log"), [])
        self.assertEqual(self.log["version"], "2.1.0")
        self.assertEqual(self.run_["columnKind"], "unicodeCodePoints")

    def test_the_check_can_fail(self):
        self.assertEqual(
            violations({"version": 1, "run": []}, "log"),
            ["log: lacks runs", "log.version: 1 is no str", "log: has run"],
        )

    def test_rules(self):
        ids = [rule["id"] for rule in self.run_["tool"]["driver"]["rules"]]
        self.assertEqual(ids, sorted(set(ids)))
        for result in self.run_["results"]:
            self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], ("error", "warning", "note"))

    def test_regions_hold_the_mistakes(self):
        words = []
        for result in self.run_["results"]:
            place = result["locations"][0]["physicalLocation"]
            path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(place["artifactLocation"]["uri"]).path))
            region = place["region"]
            self.assertEqual(region["startLine"], region["endLine"])
            line = path.read_text().split("\n")[region["startLine"] - 1]
            words.append(line[region["startColumn"] - 1 : region["endColumn"] - 1])
        self.assertEqual(words, ["Tensr", "é", "intt", "poinwise", "func", "pointwise", "slef"])


class Rules(unittest.TestCase):
    """Over all files of tests/codegen/bad."""

    files = sorted(path for path in BAD.glob("*.yaml") if "." not in path.stem)

    # Files that the loader and the checks accept; only the emitter finds the mistake.
    EMITTED = {
        "pointwise_expression": ("- func: f(Tensor self) -> Tensor\n  pointwise: sigmiod(self)\n", ""),
        "derivable_expression": ("- func: f(Tensor self) -> Tensor\n  pointwise: nextafter(self, 1)\n", ""),
        "formula_calls": (
            "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n",
            "- name: f\n  self: grad.mmm(self)\n",
        ),
    }

    def test_each_message_has_a_rule_and_each_rule_a_file(self):
        sarif = json.loads(tenonc("check", "--native", self.files[0], "--format=sarif").stdout)
        known = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
        seen = {"unreadable_file", "missing_kernel", "backend_operators", "base_operator"}  # by the tests below
        for path in self.files:
            rules = {message["rule"] for message in check(*arguments(path))["diagnostics"]}
            self.assertLessEqual(rules, known, path)
            seen |= rules
        of_optimizers = {rule for rule in known if rule.startswith("optimizer_")}  # codegen/optimizers has their tests
        self.assertEqual(known - seen - set(self.EMITTED) - of_optimizers, set())

    def test_a_fix_mends_its_mistake(self):
        fixes = 0
        for path in self.files:
            before = check(*arguments(path))["diagnostics"]
            for message in before:
                if "fix" not in message:
                    continue
                fixes += 1
                file = pathlib.Path(message["file"])
                text = file.read_text()
                with Scratch(path) as scratch:
                    (scratch / file.name).write_text(replaced(text, message, message["fix"]))
                    after = check(*arguments(scratch / path.name))["diagnostics"]
                same = [m for m in after if (m.get("line"), m["message"]) == (message["line"], message["message"])]
                self.assertEqual(same, [], f"{file}: {message}")
        self.assertGreater(fixes, 10)


class Scratch(Workspace):
    """A copy of a bad file and its companions."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def __enter__(self):
        self.setUpClass()
        for file in BAD.glob(self.path.stem + ".*yaml"):
            (self.folder / file.name).write_bytes(file.read_bytes())
        return self.folder

    def __exit__(self, *_):
        self.tearDownClass()

    def runTest(self):
        pass


class Emitted(Workspace):
    def test_mistakes_that_the_emitter_finds(self):
        for rule, (native, derivatives) in Rules.EMITTED.items():
            with self.subTest(rule):
                files = ["--native", self.write("n.yaml", native), "--derivatives", self.write("d.yaml", derivatives)]
                messages = check(*files)["diagnostics"]
                self.assertEqual([message["rule"] for message in messages], [rule])

    def test_files_and_kernels(self):
        missing = check("--native", self.folder / "nowhere.yaml")["diagnostics"]
        self.assertEqual([m["rule"] for m in missing], ["unreadable_file"])
        self.assertNotIn("file", missing[0])
        path = self.write(
            "k.yaml", "- func: f(Tensor self) -> Tensor\n  composite: explicit\n  non_differentiable: True\n"
        )
        (self.folder / "kernels").mkdir(exist_ok=True)
        result = tenonc("check-kernels", "--native", path, "--kernels", self.folder / "kernels", "--format=json")
        self.assertEqual([m["rule"] for m in json.loads(result.stdout)["diagnostics"]], ["missing_kernel"])

    def test_names_of_the_base(self):
        base = self.write("base.yaml", "- func: f.x(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n")
        path = self.write(
            "own.yaml",
            "- func: f(Tensor self, int n) -> Tensor\n  composite: implicit\n"
            "- func: my::f(Tensor self, int n) -> Tensor\n  composite: implicit\n"
            "- func: aten::g(Tensor self) -> Tensor\n  composite: implicit\n  variants: function, method\n",
        )
        messages = check("--base", base, "--native", path)["diagnostics"]
        self.assertEqual([(m["line"], m["rule"]) for m in messages], [(1, "base_operator"), (7, "base_operator")])

    def test_a_backends_file(self):
        base = self.write("base.yaml", "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu}\n")
        path = self.write("toy.yaml", "backend: CPU\ncpp_namespace: 1\nsupported: [f, g]\nmore: 1\nsupported: f\n")
        messages = check("--base", base, "--backend", path)["diagnostics"]
        self.assertEqual(
            [(m["line"], m["rule"]) for m in messages],
            [(1, "known_word"), (2, "value_form"), (3, "backend_operators"), (4, "known_key"), (5, "duplicate_key")],
        )
        path.write_text("backend: PrivateUse1\n")
        self.assertEqual({m["rule"] for m in check("--base", base, "--backend", path)["diagnostics"]}, {"missing_key"})


if __name__ == "__main__":
    unittest.main()
