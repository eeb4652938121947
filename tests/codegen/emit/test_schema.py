"""The JSON Schemas of `tenonc schema`, with a validator of others: what the generator accepts is valid, and of the bad
files those whose mistake a schema can tell are not."""

import json
import unittest

from support import ROOT, Workspace, tenonc

try:
    import fastjsonschema
    import yaml
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is missing: pip install -r tests/requirements.txt") from None

TESTS = ROOT / "tests" / "codegen"

# Bad files whose form alone is wrong.
TELLING = {
    "entry_not_a_map",
    "missing_func",
    "not_a_list",
    "known_category_override",
    "known_dispatch_key",
    "unknown_key",
    "unknown_promotion",
    "known_python_module",
    "known_tag",
    "unknown_variant",
    "wrong_kind",
    "kernel_name",
}
TELLING_DERIVATIVES = {"derivative_form", "derivative_key"}


def load(path):
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader)


def schema(kind, *options):
    result = tenonc("schema", kind, *options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Schemas(Workspace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tags = ["--tags", ROOT / "tags.yaml"]
        cls.valid = {
            kind: fastjsonschema.compile(schema(kind, *tags))
            for kind in ("native_functions", "derivatives", "tags", "backend", "modules", "optimizers")
        }

    def is_valid(self, kind, data):
        try:
            self.valid[kind](data)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    def test_the_librarys_own_files(self):
        for kind in ("native_functions", "derivatives", "tags", "modules", "optimizers"):
            self.valid[kind](load(ROOT / f"{kind}.yaml"))
        for path in [*ROOT.glob("examples/*/*.yaml"), *TESTS.glob("golden/*.yaml")]:
            data = load(path)
            kind = "backend" if "backend" in data else "native_functions" if "func" in data[0] else "derivatives"
            self.valid[kind](data)

    def test_modules_and_optimizers(self):
        self.valid["modules"](load(ROOT / "tests/modules/mine.yaml"))
        module = {"module": "A(int n)", "forward(Tensor x)": "x"}
        self.assertTrue(self.is_valid("modules", {"layers": [module]}))
        for wrong in ({"call": "relu"}, {"parameters": {"w": {"sise": "n"}}}, {"modules": {"f": 1}}, {"only": "c"}):
            self.assertFalse(self.is_valid("modules", {"layers": [{**module, **wrong}]}), wrong)
        self.assertFalse(self.is_valid("modules", {"layers": [{"module": "A"}]}))
        self.assertFalse(self.is_valid("modules", [module]))
        optimizer = {"optimizer": "A(float lr=1e-3)", "update": "f_(param, grad, lr)"}
        self.assertTrue(self.is_valid("optimizers", [optimizer]))
        self.assertFalse(self.is_valid("optimizers", [{**optimizer, "updates": "g_(param)"}]))
        self.assertFalse(self.is_valid("optimizers", [{"update": "f_(param)"}]))

    def test_bad_files(self):
        for name in TELLING:
            self.assertFalse(self.is_valid("native_functions", load(TESTS / f"bad/{name}.yaml")), name)
        for name in TELLING_DERIVATIVES:
            self.assertFalse(self.is_valid("derivatives", load(TESTS / f"bad/{name}.derivatives.yaml")), name)
        self.assertFalse(self.is_valid("tags", load(TESTS / "bad/tags_form.tags.yaml")))

    def test_words(self):
        entry = {"func": "f(Tensor self) -> Tensor"}
        for more in (
            {"variants": "function, inplace"},
            {"variants": ["method", "out"]},
            {"tags": "core"},
            {"tags": ["core", "pointwise"]},
            {"dispatch": {"CPU, CUDA": "a", "Meta": "at::b"}},
            {"pointwise": {"integral, bool": "self", "floating": {"cpu": "-self"}}},
            {"pointwise": 1},
            {"func": "ns::f.x(\n  Tensor self)\n-> ()"},
            {"structured": True},
            {"structured": "CPU, CUDA"},
            {"dispatch": "CPU, CompositeExplicit"},
            {"dispatch": ["CPU"]},
            {"dtypes": "integral, bool"},
            {"out_name": "a||b"},
            {"check": "|c"},
            {"func": "f.|Scalar(Tensor self, Tensor|Scalar x, *, TensorOptions) -> Tensor"},
        ):
            self.assertTrue(self.is_valid("native_functions", [{**entry, **more}]), more)
        for more in (
            {"variants": "function inplace"},
            {"variants": ["methd"]},
            {"tags": "core, cor"},
            {"dispatch": {"CPU; CUDA": "a"}},
            {"dispatch": {"CPU": "a b"}},
            {"dispatch": []},
            {"pointwise": {}},
            {"pointwise": ["self"]},
            {"func": "f(Tensor self)"},
            {"structured": "yes please"},
            {"structured": "CPU, CPV"},
            {"dispatch": "CPV"},
            {"dtypes": "float"},
            {"composite": "implict"},
            {"autogen": 1},
        ):
            self.assertFalse(self.is_valid("native_functions", [{**entry, **more}]), more)
        for entry in (
            {"alias": "g(Tensor self) -> Tensor", "of": "f"},
            {"define": "g(x, y)", "as": "x * y"},
            {"func": "f(Tensor self) -> Tensor", "composite": "self * self"},
        ):
            self.assertTrue(self.is_valid("native_functions", [entry]), entry)
        for entry in (
            {"alias": "g(Tensor self) -> Tensor"},
            {"define": "g(x, y)"},
            {"define": "g", "as": "1"},
            {"alias": "g", "of": "f"},
            {"of": "f"},
        ):
            self.assertFalse(self.is_valid("native_functions", [entry]), entry)
        self.assertTrue(self.is_valid("native_functions", None))

    def test_backend(self):
        file = {"backend": "PrivateUse1", "cpp_namespace": "toy", "supported": ["add.Tensor", "mm"]}
        self.assertTrue(self.is_valid("backend", file))
        self.assertTrue(self.is_valid("backend", {**file, "supported": "add.Tensor, mm"}))
        for more in ({"backend": "CPU"}, {"cpp_namespace": "a b"}, {"supported": 1}, {"suported": ["mm"]}):
            self.assertFalse(self.is_valid("backend", {**file, **more}), more)
        self.assertFalse(self.is_valid("backend", {"backend": "PrivateUse1"}))
        self.assertFalse(self.is_valid("backend", [file]))

    def test_every_key_is_described(self):
        for kind in ("native_functions", "derivatives", "tags", "backend"):
            document = schema(kind)
            for name, value in document.get("items", document)["properties"].items():
                self.assertTrue(value["description"].endswith("."), name)

    def test_out(self):
        path = self.folder / "x.json"
        self.assertEqual(tenonc("schema", "tags", "--out", path).returncode, 0)
        self.assertEqual(json.loads(path.read_text()), schema("tags"))

    def test_unknown_kind(self):
        result = tenonc("schema", "tag")
        self.assertEqual(result.returncode, 2)
        self.assertIn("native_functions, derivatives, tags, backend, modules or optimizers, got 'tag'", result.stderr)


if __name__ == "__main__":
    unittest.main()
