"""tenon-ckpt, end to end. TENON_CKPT names the program."""

import json
import os
import pty
import shutil
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
    return result.stdout if status != 2 else result.stderr


def listed(path):
    return {t["name"]: t for t in json.loads(run("ls", "--json", path))["tensors"]}


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
        self.assertIn("occur not for the first time", run("ls", path, status=2))

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
        self.assertIn("DAMAGED", run("verify", self.folder / "none.pt", status=1))

    def test_diff(self):
        mixed, other = DATA / "mixed.pt", self.folder / "other.safetensors"
        self.assertEqual(run("diff", mixed, mixed), "")
        run("convert", "--quiet", DATA / "shapes.safetensors", other)
        data = bytearray(other.read_bytes())
        data[-1] += 2
        other.write_bytes(data)
        text = run("diff", DATA / "shapes.safetensors", other, status=1)
        self.assertEqual(text, 'values   "quoted\\\n\u00e9: largest difference 2\n')
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
        for arguments in [[], ["lsx"], ["ls"], ["ls", "a", "b"], ["ls", "--what", "a"], ["convert", "a", "b", "--to"],
                          ["diff", "--tolerance", "x", "a", "b"], ["convert", "--deflate", "10", "a", "b"]]:
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
