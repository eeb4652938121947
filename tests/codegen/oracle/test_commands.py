"""The built generator's commands on PyTorch's own YAML files; TENONC names the program."""

import json
import shutil
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "codegen" / "emit")]
from oracle_environment import enter, upstream_files  # noqa: E402
from support import Workspace, tenonc  # noqa: E402

DIALECT = ["--dialect", "upstream"]


class Commands(Workspace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = upstream_files()
        cls.copies = {name: cls.folder / f"{name}.yaml" for name in ("native_functions", "derivatives", "tags")}
        for name, path in cls.copies.items():
            shutil.copy(cls.files[name], path)

    def test_check_finds_nothing(self):
        result = tenonc(
            "check",
            *DIALECT,
            "--format=json",
            "--native",
            self.files["native_functions"],
            "--derivatives",
            self.files["derivatives"],
            "--tags",
            self.files["tags"],
        )
        self.check_ok(result)
        self.assertEqual(json.loads(result.stdout)["diagnostics"], [])

    def test_a_slip_is_reported_at_its_place(self):
        text = self.files["native_functions"].read_text()
        at = text.index("- func: addmm(Tensor self")
        slip = self.write("slip/native_functions.yaml", text[:at] + text[at:].replace("Tensor", "Tensr", 1))
        result = tenonc("check", *DIALECT, "--format=json", "--native", slip, "--tags", self.files["tags"])
        self.assertEqual(result.returncode, 1, result.stderr)
        (message,) = (m for m in json.loads(result.stdout)["diagnostics"] if m["line"] == text[:at].count("\n") + 1)
        self.assertEqual((message["column"], message["fix"]), (len("- func: addmm(") + 1, "Tensor"))

    def test_schemas_accept_the_files(self):
        for name, path in self.copies.items():
            result = tenonc("schema", name, *DIALECT, "--tags", self.files["tags"])
            self.check_ok(result)
            accept = fastjsonschema.compile(json.loads(result.stdout))
            data = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
            accept(data)
            with self.assertRaises(fastjsonschema.JsonSchemaValueException):
                accept([{**data[0], "no such key": [1]}])

    def test_formatting_settles(self):
        formatted = self.folder / "formatted"
        formatted.mkdir()
        files = [shutil.copy(path, formatted) for path in self.copies.values()]
        self.check_ok(tenonc("fmt", *DIALECT, *files))
        self.check_ok(tenonc("fmt", "--check", *DIALECT, *files))
        self.assertNotEqual(*((folder / "derivatives.yaml").read_text() for folder in (self.folder, formatted)))
        changes = tenonc("diff", *DIALECT, "--format=json", self.folder, formatted)
        self.check_ok(changes)
        self.assertEqual(json.loads(changes.stdout)["changes"], [])

    def test_a_lost_operator_is_found(self):
        text = self.copies["native_functions"].read_text()
        begin = text.index("- func: cosine_similarity(")
        new = self.write("new/native_functions.yaml", text[:begin] + text[text.index("\n- func:", begin) + 1 :])
        result = tenonc("diff", *DIALECT, "--format=json", self.copies["native_functions"], new)
        self.assertEqual(result.returncode, 1, result.stderr)
        changes = json.loads(result.stdout)["changes"]
        self.assertEqual([(c["kind"], c["operator"]) for c in changes], [("removed-operator", "cosine_similarity")])


if __name__ == "__main__":
    enter()
    import fastjsonschema
    import yaml

    unittest.main()
