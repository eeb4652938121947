"""tenon-ckpt, end to end. TENON_CKPT names the program."""

import json
import os
import pty
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

PROGRAM = os.environ["TENON_CKPT"]
DATA = Path(__file__).resolve().parent.parent / "serialization/data"


def run(*arguments, status=0):
    """Standard output of a call, which must end with `status`."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert result.returncode == status, f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout if status != 2 else result.stderr or result.stdout


def listed(path):
    return {t["name"]: t for t in json.loads(run("ls", "--json", path))["tensors"]}


# Opcodes of pickles.


def text(s):
    data = s.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(n):
    data = n.to_bytes(9, "little")
    return b"\x8a" + bytes([len(data)]) + data


def numbers(values):
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(key, elements="Float", count=1, legacy=False):
    key = number(key) if isinstance(key, int) else text(key)
    return (
        b"("
        + text("storage")
        + f"ctorch\n{elements}Storage\n".encode()
        + key
        + text("cpu")
        + number(count)
        + (b"N" if legacy else b"")
        + b"tQ"
    )


def tensor(of, sizes, strides, offset=0):
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + of
        + number(offset)
        + numbers(sizes)
        + numbers(strides)
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def meta_tensor(dtype, sizes):
    return (
        f"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\n{dtype}\n".encode()
        + numbers(sizes)
        + numbers([1] * len(sizes))
        + b"\x89tR"
    )


def dict_of(items):
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def zip_file(path, opcodes, storages=None):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02" + opcodes + b".")
        archive.writestr("x/version", "3\n")
        for key, data in (storages or {}).items():
            archive.writestr(f"x/data/{key}", data)
    return path


def legacy_file(path, opcodes, storages=None):
    """`storages` has for each key the elements' number and the data."""
    storages = storages or {}

    def pickle(code):
        return b"\x80\x02" + code + b"."

    keys = b"](" + b"".join(number(k) if isinstance(k, int) else text(k) for k in storages) + b"e"
    magic = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
    data = b"".join(struct.pack("<Q", count) + content for count, content in storages.values())
    path.write_bytes(pickle(magic) + pickle(number(1001)) + pickle(b"}") + pickle(opcodes) + pickle(keys) + data)
    return path


class CkptTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tenon_ckpt_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, name):
        return Path(shutil.copy(DATA / name, self.folder / name))

    def test_ls(self):
        text = run("ls", DATA / "mixed.pt")
        self.assertRegex(text, r"(?m)^a +float32 +\[2, 3\] +24 B$")
        self.assertRegex(text, r"(?m)^big +uint8 +\[300, 1\] +300 B$")
        self.assertRegex(text, r"11 tensors, .*, format zip\n$")
        tensors = listed(DATA / "mixed.pt")
        self.assertEqual(tensors["five"], {"name": "five", "dtype": "bfloat16", "shape": [1, 1, 1, 2, 3], "bytes": 12})
        self.assertEqual(len(tensors), 11)

    def test_ls_shows_what_load_refuses(self):
        info = json.loads(run("ls", "--json", DATA / "whole_module.pt"))
        self.assertIn("_parameters.weight", [t["name"] for t in info["tensors"]])
        self.assertIn("torch.nn.modules.linear Linear", info["values"][0]["value"])

    def test_values_that_occur_without_end(self):
        pickle = b"\x80\x02](K\x01K\x02e" + b"q\x010](h\x01h\x01e" * 60 + b"."
        path = self.folder / "x.pt"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x/data.pkl", pickle)
            archive.writestr("x/version", "3\n")
        self.assertIn("takes more than", run("ls", path, status=2))

    def test_meta_tensors(self):
        paths = [
            zip_file(self.folder / "meta.pt", meta_tensor("float32", [2, 3])),
            legacy_file(self.folder / "meta.leg", meta_tensor("float32", [2, 3])),
        ]
        for path in paths:
            self.assertEqual(run("show", path, ""), "  float32 meta [2, 3]  24 B\n")
            self.assertEqual(json.loads(run("show", "--json", path, ""))["kind"], "meta")
            self.assertIn("1 tensors", run("ls", path))
        self.assertEqual(run("diff", *paths), "")
        real = zip_file(self.folder / "real.pt", tensor(storage("0", count=6), [2, 3], [3, 1]), {"0": bytes(24)})
        self.assertIn("float32 meta [2, 3] -> float32 [2, 3]", run("diff", paths[0], real, status=1))
        large = zip_file(self.folder / "large.pt", meta_tensor("float32", [2**31, 2**31]))
        self.assertIn("16.0 EiB", run("ls", large))

    def test_legacy_files_of_all_kinds(self):
        eight = struct.pack("<4q", 0, 1, 1, 0)
        indices = tensor(storage("i", "Long", 4, True), [2, 2], [2, 1])
        values = tensor(storage("v", "Float", 2, True), [2], [1])
        layout = b"ctorch.serialization\n_get_layout\n" + text("torch.sparse_coo") + b"\x85R"
        sparse = (
            b"ctorch._utils\n_rebuild_sparse_tensor\n" + layout + b"(" + indices + values + numbers([3, 3]) + b"t\x86R"
        )
        quantized = (
            b"ctorch._utils\n_rebuild_qtensor\n("
            + storage("q", "QInt8", 4, True)
            + number(0)
            + numbers([4])
            + numbers([1])
            + b"(ctorch\nper_tensor_affine\nG"
            + struct.pack(">d", 0.5)
            + number(3)
            + b"t\x89ccollections\nOrderedDict\n)RtR"
        )
        module = (
            b"("
            + text("module")
            + b"cmodel\nNet\n"
            + text("model.py")
            + text("class Net: pass")
            + b"tQ)\x81"
            + b"}"
            + text("weight")
            + values
            + b"sb"
        )
        subclass = b"cmodel\nState\n)R" + text("w") + values + b"s"
        files = {
            "sparse": (sparse, {"i": (4, eight), "v": (2, bytes(8))}, [3, 3]),
            "quantized": (quantized, {"q": (4, bytes(4))}, [4]),
            "module": (module, {"v": (2, bytes(8))}, [2]),
            "subclass": (subclass, {"v": (2, bytes(8))}, [2]),
            "int key": (tensor(storage(94, "Float", 2, True), [2], [1]), {94: (2, bytes(8))}, [2]),
        }
        for name, (opcodes, storages, shape) in files.items():
            path = legacy_file(self.folder / name, opcodes, storages)
            with self.subTest(name):
                self.assertIn(": whole", run("verify", path))
                self.assertIn("1 tensors", run("ls", path))
                self.assertEqual([t["shape"] for t in listed(path).values()], [shape])
                path.write_bytes(path.read_bytes()[:-1])
                self.assertIn("DAMAGED", run("verify", path, status=1))
        self.assertEqual(listed(self.copy("sparse_coo.pt"))["coo"]["kind"], "sparse_coo")
        self.assertEqual(listed(self.copy("quantized.pt")).popitem()[1]["dtype"], "qint8")
        self.assertIn("quantized", run("show", DATA / "quantized.pt", listed(DATA / "quantized.pt").popitem()[0]))

    def test_elements_that_are_shown_often(self):
        one = struct.pack("<f", 2.5)
        path = zip_file(self.folder / "x.pt", tensor(storage("0"), [2**20, 2**20], [0, 0]), {"0": one})
        shown = run("show", path, "")
        self.assertIn("[1048576, 1048576]  4.0 TiB", shown)
        self.assertIn("min 2.5  max 2.5  mean 2.5", shown)
        self.assertIn("2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 ...", shown)
        self.assertEqual(run("diff", path, path), "")
        zero = zip_file(self.folder / "zero.pt", tensor(storage("0"), [2**40], [0]), {"0": bytes(4)})
        self.assertIn(f"zero {2**40}", run("show", zero, ""))
        huge = zip_file(self.folder / "huge.pt", tensor(storage("0"), [2**62], [0]), {"0": one})
        self.assertIn("16.0 EiB", run("ls", huge))
        windows = zip_file(
            self.folder / "w.pt", tensor(storage("0", count=2**16), [2**15, 2**15], [1, 1]), {"0": bytes(4 * 2**16)}
        )
        self.assertIn("too often", run("show", windows, "", status=2))

    def test_text_from_files(self):
        names = {"a\x1b[2J\x00\u202eb": number(1), "c": text("\x1b]0;title\x07\r")}
        path = zip_file(self.folder / "x.pt", dict_of(names))
        for arguments in [["ls", path], ["ls", "--json", path], ["show", path, "c"], ["diff", path, DATA / "one.pt"]]:
            out = run(*arguments, status=1 if arguments[0] == "diff" else 0)
            self.assertTrue(all(c == "\n" or 32 <= ord(c) < 127 for c in out), out)
        self.assertIn("a\\x1b[2J\\x00\\u202eb", run("ls", path))
        self.assertEqual(json.loads(run("ls", "--json", path))["values"][0]["name"], "a\x1b[2J\x00\u202eb")

    def test_one_long_name_among_many(self):
        count = 20_000
        values = {"n" * 10_000: number(0), **{f"k{i}": number(i) for i in range(count)}}
        out = run("ls", zip_file(self.folder / "x.pt", dict_of(values)))
        self.assertEqual(out.count("\n"), count + 2)
        self.assertLess(len(out), 120 * count)
        # A long key over many leaves would make names of many times the file.
        over = b"}" + text("k" * 2**20) + b"(" + b"K\x01" * 20_000 + b"ls"
        self.assertIn("takes more than", run("ls", zip_file(self.folder / "y.pt", over, {}), status=2))

    def test_ls_safetensors(self):
        info = json.loads(run("ls", "--json", DATA / "shapes.safetensors"))
        self.assertEqual(info["format"], "safetensors")
        self.assertEqual(info["metadata"], {"format": "pt"})
        self.assertIn('"quoted\\\n\u00e9', [t["name"] for t in info["tensors"]])

    def test_show(self):
        shown = json.loads(run("show", "--json", DATA / "mixed.pt", "a"))
        self.assertEqual(shown["first"], [0, 1, 2, 3, 4, 5])
        self.assertEqual((shown["min"], shown["max"], shown["mean"], shown["nan"]), (0, 5, 2.5, 0))
        self.assertIn("min 0  max 5  mean 2.5", run("show", DATA / "mixed.pt", "a"))
        self.assertIn("has no 'nothing'", run("show", DATA / "mixed.pt", "nothing", status=2))
        self.assertEqual(json.loads(run("show", "--json", DATA / "mixed.pt", "e"))["bytes"], 0)

    def test_verify(self):
        names = ["mixed.pt", "module.pt", "shapes.safetensors"]
        text = run("verify", *(DATA / n for n in names))
        self.assertEqual(text.count(": whole"), 3)
        broken = self.copy("mixed.pt")
        data = bytearray(broken.read_bytes())
        at = data.index(b"\0\0\x80\x3f\0\0\0\x40")  # the floats 1 and 2
        data[at] ^= 1
        broken.write_bytes(data)
        text = run("verify", broken, DATA / "one.pt", status=1)
        self.assertRegex(text, r"mixed.pt: DAMAGED: .*record data/0 at byte \d+ is damaged: its CRC-32")
        self.assertIn("one.pt: whole", text)
        result = json.loads(run("verify", "--json", broken, status=1))
        self.assertEqual(result[0]["whole"], False)
        self.assertIn("none.pt: not verified: ", run("verify", self.folder / "none.pt", DATA / "one.pt", status=2))

    def test_verify_of_what_cannot_be_loaded(self):
        header = b'{"x":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]}}'
        scales = self.folder / "scales.safetensors"
        scales.write_bytes(struct.pack("<Q", len(header)) + header + b"ab")
        self.assertIn(": whole", run("verify", scales))
        scales.write_bytes(scales.read_bytes()[:-1])
        self.assertIn("DAMAGED", run("verify", scales, status=1))
        script = self.folder / "script.pt"
        with zipfile.ZipFile(script, "w") as archive:
            for name in ("data.pkl", "constants.pkl", "code/__torch__.py", "version"):
                archive.writestr("script/" + name, "3\n")
        self.assertIn(": whole (a TorchScript archive", run("verify", script))
        script.write_bytes(script.read_bytes().replace(b"3\n", b"4\n", 1))
        self.assertIn("DAMAGED", run("verify", script, status=1))

    def test_diff(self):
        mixed, other = DATA / "mixed.pt", self.folder / "other.safetensors"
        self.assertEqual(run("diff", mixed, mixed), "")
        run("convert", "--quiet", DATA / "shapes.safetensors", other)
        data = bytearray(other.read_bytes())
        data[-1] += 2
        other.write_bytes(data)
        text = run("diff", DATA / "shapes.safetensors", other, status=1)
        self.assertEqual(text, 'values   "quoted\\\\n\u00e9: largest difference 2\n')
        self.assertEqual(run("diff", "--tolerance", "2", DATA / "shapes.safetensors", other), "")
        found = json.loads(run("diff", "--json", mixed, DATA / "module.pt", status=1))
        self.assertEqual({f["what"] for f in found}, {"added", "removed"})
        self.assertEqual(len(found), 11 + 7)

    def test_convert_everywhere_and_back(self):
        source = DATA / "module.pt"
        for to, name in [("safetensors", "m.safetensors"), ("sharded", "m/"), ("legacy", "m.legacy"), ("zip", "m.pt")]:
            there, back = self.folder / name, self.folder / "back.pt"
            path = str(there) + ("/" if name.endswith("/") else "")
            run("convert", "--quiet", *(["--to", "legacy"] if to == "legacy" else []), source, path)
            self.assertEqual(json.loads(run("ls", "--json", there))["format"], to)
            self.assertEqual(run("diff", source, there), "")
            self.assertEqual(run("verify", there).count("whole"), 1)
            run("convert", "--quiet", there, back)
            self.assertEqual(run("diff", source, back), "")

    def test_convert_options(self):
        folder = self.folder / "sharded"
        run("convert", "--to", "sharded", "--sha256", "--deflate", 6, "--quiet", DATA / "module.pt", folder)
        index = json.loads((folder / "index.json").read_text())
        self.assertTrue(all(len(f["sha256"]) == 64 for f in index["files"].values()))
        self.assertEqual(run("diff", DATA / "module.pt", folder), "")

    def test_convert_needs_a_flat_dict(self):
        nested = DATA / "checkpoint.pt"
        target = self.folder / "x.safetensors"
        self.assertIn("--flatten", run("convert", nested, target, status=2))
        self.assertFalse(target.exists())
        run("convert", "--flatten", "--quiet", nested, target)
        self.assertTrue(set(listed(target)) <= set(listed(nested)))
        self.assertTrue(any("." in name for name in listed(target)))

    def test_what_is_no_checkpoint(self):
        text = self.folder / "page.pt"
        text.write_text("<html>not found</html>")
        self.assertIn("HTML", run("ls", text, status=2))
        self.assertIn("No such file", run("ls", self.folder / "none", status=2))
        self.assertIn("no sharded checkpoint", run("ls", self.folder, status=2))

    def test_usage(self):
        self.assertIn("usage: tenon-ckpt", run("--help"))
        self.assertIn("usage: tenon-ckpt", run("ls", "--help"))
        for arguments in [
            [],
            ["lsx"],
            ["ls"],
            ["ls", "a", "b"],
            ["ls", "--what", "a"],
            ["convert", "a", "b", "--to"],
            ["diff", "--tolerance", "x", "a", "b"],
            ["convert", "--deflate", "10", "a", "b"],
        ]:
            self.assertIn("--help", run(*arguments, status=2))
        self.assertIn("--to must be", run("convert", "--to", "x", DATA / "one.pt", self.folder / "y", status=2))

    def test_the_bar_is_for_terminals(self):
        arguments = [PROGRAM, "verify", str(DATA / "mixed.pt")]
        self.assertEqual(subprocess.run(arguments, capture_output=True, text=True).stderr, "")
        ours, theirs = pty.openpty()
        subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
        os.close(theirs)
        drawn = b""
        try:
            while piece := os.read(ours, 10000):
                drawn += piece
        except OSError:  # the terminal's other end is closed and all has been read
            pass
        os.close(ours)
        self.assertIn(b"100%", drawn)


if __name__ == "__main__":
    unittest.main()
