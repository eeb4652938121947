"""The lint checks find what they are for: each test plants a violation in a tree of its own."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "cmake" / "lint"), str(ROOT / "cmake" / "site")]

import cpp_interface  # noqa: E402
import definitions  # noqa: E402
import layers  # noqa: E402
import names  # noqa: E402
import pages  # noqa: E402
import public_headers  # noqa: E402
import repository_pages  # noqa: E402
import sources  # noqa: E402


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


class Layers(Tree):
    def check(self, path, header):
        self.plant(path, f'// first\n#include "{header}"\n')
        return layers.check(self.root)[1]

    def test_upward_includes_are_named_with_their_line(self):
        for path, header in (
            ("codegen/schema/parser.cpp", "aten/core/error.h"),
            ("codegen/schema/lexer.h", "codegen/model/model.h"),
            ("aten/core/tensor_base.h", "tenon/tensor.h"),
            ("aten/dispatch/value.cpp", "autograd/engine/node.h"),
            ("aten/iterator/plan.h", "aten/cpu/pointwise.h"),
            ("aten/cpu/mm.cpp", "autograd/engine/engine.h"),
            ("aten/cpu/bmm.cpp", "tenon/tenon.h"),
            ("aten/cpu/dot.cpp", "tenon/ops.h"),
            ("tests/aten/test_add.cpp", "tenon/ops.h"),
            ("benchmarks/support/library.h", "tenon/tenon.h"),
            ("autograd/engine/engine.cpp", "runtime/nn/module.h"),
            ("runtime/nn/module.h", "bindings/python/tensor.h"),
            ("runtime/nn/module.h", "runtime/serialization/serialize.h"),
            ("runtime/serialization/load.h", "runtime/hub/hub.h"),
        ):
            with self.subTest(path=path, header=header):
                problems = self.check(path, header)
                self.assertEqual(1, len(problems), problems)
                self.assertTrue(problems[0].startswith(f"{path}:2: [layers] "), problems[0])
                self.assertIn(header, problems[0])
                (self.root / path).unlink()

    def test_paths_that_are_not_root_relative(self):
        problems = self.check("aten/core/storage.cpp", "storage.h")
        self.assertIn("root-relative", problems[0])

    def test_downward_includes_pass(self):
        for path, header in (
            ("aten/dispatch/operator_entry.cpp", "codegen/schema/parser.h"),
            ("aten/core/parallel.cpp", "tenon/config.h"),
            ("aten/cpu/mm.cpp", "tenon/native/mm.h"),
            ("aten/composite/linear.cpp", "tenon/ops/addmm.h"),
            ("autograd/engine/engine.cpp", "tenon/ops/add.h"),
            ("runtime/nn/linear.h", "autograd/engine/node.h"),
            ("tests/aten/test_add.cpp", "tenon/ops/add.h"),
            ("tests/aten/test_add.cpp", "tests/aten/test_support.h"),
            ("benchmarks/own_operator.cpp", "custom/ops/swiglu.h"),
        ):
            self.assertEqual([], self.check(path, header))


class Definitions(unittest.TestCase):
    HEADER = """
    #pragma once
    // int compute_type(int) {}
    namespace tenon::native {
    /// A comment with a { brace.
    inline ScalarType compute_type(ScalarType t) { return t == kHalf ? kFloat : t; }
    template <class T>
    struct Box {
      int value() const { return 1; }
    };
    TENON_API void run(const Options& options = {}, char open = '{');
    }  // namespace tenon::native
    """

    def check(self, other):
        return definitions.check([("a.h", self.HEADER), ("b.cpp", other)])

    def test_a_second_definition_is_named_whatever_it_returns(self):
        for other, name in (
            ("namespace tenon { int native::compute_type(ScalarType dtype) { return 1; } }", "native::compute_type"),
            (
                "namespace tenon::native {\nconstexpr auto compute_type(ScalarType) -> int { return 1; }\n}",
                "compute_type",
            ),
            ("namespace tenon { namespace native { template <class U> class Box final : Base { }; } }", "native::Box"),
        ):
            with self.subTest(other=other):
                problems = self.check(other)
                self.assertEqual(1, len(problems), problems)
                self.assertTrue(problems[0].startswith("b.cpp:"), problems[0])
                self.assertIn(name, problems[0])
                self.assertIn("a.h:6" if "compute" in name else "a.h:7", problems[0])

    def test_other_things_of_the_name_pass(self):
        for other in (
            "namespace tenon::native { inline int compute_type(int) { return 1; } }",
            "namespace tenon::native { ScalarType compute_type(ScalarType t); struct Box; }",
            "namespace tenon::native { namespace { int compute_type(ScalarType) { return 1; } struct Box {}; } }",
            "namespace tenon::native { static int compute_type(ScalarType) { return 1; } }",
            "namespace tenon::cuda { inline int compute_type(ScalarType) { return 1; } }",
            "namespace tenon::native { int f() { struct Box { int i; } b; return compute_type(b); } }",
            "namespace tenon::native { void run(const Options& options, char) { } }",
            "namespace tenon::native { template <> struct Box<int> { }; }",
        ):
            with self.subTest(other=other):
                self.assertEqual([], self.check(other))


class Sources(Tree):
    def test_lists_are_completed_sorted_and_kept(self):
        for name in ("core/b.cpp", "core/a.cpp", "core/skip/c.cpp", "cuda/k.cu"):
            self.plant("aten/" + name, "")
        path = self.plant(
            "aten/CMakeLists.txt",
            "tenon_target_sources(tenon\n"
            '  FOLDERS core cuda\n  EXCLUDE "^core/skip/"\n  SOURCES\n    core/b.cpp ${MORE}\n)\n',
        )
        old, new = sources.rewrite(path)
        self.assertNotEqual(old, new)
        self.assertIn("SOURCES\n    core/a.cpp\n    core/b.cpp\n    cuda/k.cu\n    ${MORE}\n)", new)
        path.write_text(new)
        old, new = sources.rewrite(path)
        self.assertEqual(old, new)


class Names(Tree):
    def test_a_folder_of_more_than_forty_files(self):
        for i in range(41):
            self.plant(f"autograd/engine/file_{i}.cpp", "")
            self.plant(f"aten/cpu/kernel_{i}.cpp", "")
        problems = names.check(self.root)
        self.assertEqual(["autograd/engine: [names] 41 files; split a folder of more than 40 by idea"], problems)

    def test_two_files_of_one_name(self):
        self.plant("codegen/check/update.cpp", "")
        self.plant("codegen/emit/update.cpp", "")
        for allowed in (
            "aten/cpu/mm.cpp",
            "aten/cuda/mm.cu",
            "aten/iterator/draw.h",
            "aten/cpu/draw.cpp",
            "runtime/nn/update.cpp",
        ):
            self.plant(allowed, "")
        problems = names.check(self.root)
        self.assertEqual(["update: [names] files of codegen/check, codegen/emit have one name"], problems)


class KernelFiles(Tree):
    KERNEL = "void native::{}(const Tensor& self,\n    const Tensor& out) {{\n}}\n"

    def check(self, path, *kernels):
        self.plant(path, "".join(map(self.KERNEL.format, kernels)))
        return names.check(self.root)

    def test_the_operator_or_the_beginning_of_its_name(self):
        self.assertEqual([], self.check("aten/cpu/mm.cpp", "mm_cpu"))
        self.assertEqual([], self.check("aten/cpu/fill.cpp", "fill_cpu_", "zero_cpu_"))
        self.assertEqual([], self.check("aten/cuda/nll_loss.cu", "nll_loss_forward_cuda", "nll_loss_backward_cuda"))

    def test_another_file(self):
        problems = self.check("aten/cuda/mm.cu", "mm_cuda", "bmm_cuda")
        expected = (
            "aten/cuda/mm.cu: [names] bmm_cuda is expected in aten/cuda/bmm; move it, or name the file in FAMILIES"
        )
        self.assertEqual([expected], problems)

    def test_calls_and_members_are_no_kernels(self):
        self.plant("aten/cpu/mm.cpp", "void run() {\n  native::bmm_cpu(a, b);\n  if (native::bmm_cpu(a)) {\n  }\n}\n")
        self.assertEqual([], names.check(self.root))

    def test_families_that_are_no_more(self):
        problems = self.check("aten/cpu/sort.cpp", "sort_cpu")
        self.assertEqual(
            ["aten/cpu/sort.cpp: [names] FAMILIES expects a kernel of topk here, and there is none"], problems
        )


class PublicHeaders(Tree):
    def setUp(self):
        super().setUp()
        self.plant("aten/core/tensor.h", '#include "aten/core/storage.h"\n#include <vector>\n')
        self.plant("aten/core/storage.h", "")
        self.plant("aten/cpu/kernel-inl.h", "")
        self.plant("aten/cpu/gemm.h", "")
        self.plant("codegen/templates/kernel.cpp.j2", '#include "aten/cpu/kernel-inl.h"\n')
        self.plant("codegen/emit/emit.cpp", '#include "codegen/schema/type.h"\n')
        self.plant("codegen/schema/type.h", "")
        self.list = self.plant(
            "cmake/TenonPublicHeaders.cmake",
            "set(TENON_PUBLIC_ENTRIES\n  aten/core/tensor.h\n)\n\nset(TENON_PUBLIC_HEADERS\n  aten/cpu/gemm.h\n)\n",
        )

    def test_entries_and_generated_code_bring_what_they_include(self):
        problems, text = public_headers.check(self.root)
        self.assertEqual([], problems)
        listed = public_headers.entries(text, "TENON_PUBLIC_HEADERS")
        self.assertEqual(["aten/core/storage.h", "aten/core/tensor.h", "aten/cpu/kernel-inl.h"], listed)
        self.list.write_text(text)
        self.assertEqual(([], text), public_headers.check(self.root))

    def test_examples_and_documents_use_public_headers_only(self):
        self.plant("examples/one/main.cpp", '#include "aten/core/storage.h"\n#include "aten/cpu/gemm.h"\n')
        self.plant("docs/page.md", '    #include "aten/core/tensor.h"\n')
        problems, _ = public_headers.check(self.root)
        self.assertEqual(1, len(problems), problems)
        self.assertTrue(problems[0].startswith("examples/one/main.cpp: [public] aten/cpu/gemm.h"), problems[0])


class Docs(Tree):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.plant("mkdocs.yml", "site_name: x\nnav:\n  - Home: index.md\n  - reference/operators/index.md\n")
        self.plant("docs/index.md", "# Home\n\n## Two words\n\nA [link](#two-words), [out](../README.md#top). Short.\n")
        self.plant(
            "README.md", "# Top\n\n[docs](docs/index.md#two-words), [operators](docs/reference/operators/add.md).\n"
        )
        self.plant("aten/file.cpp", "// docs/index.md says why.\n")

    def test_good_pages(self):
        self.assertEqual([], pages.check(self.root))

    def test_dead_links_and_mentions(self):
        self.plant(
            "docs/index.md", "# Home\n\n[a](no.md), [b](#no-heading), `[c](no.md)`, [d](https://example.org/no.md).\n"
        )
        self.plant("README.md", "[docs](docs/index.md#three-words)\n")
        self.plant("aten/file.cpp", "// docs/gone.md says why.\n")
        self.assertEqual(
            [
                "README.md: [link] docs/index.md#three-words: the page has no such heading",
                "aten/file.cpp: [mention] there is no docs/gone.md",
                "docs/index.md: [link] no.md leads to no file",
                "docs/index.md: [link] #no-heading: the page has no such heading",
            ],
            pages.check(self.root),
        )

    def test_pages_and_navigation(self):
        self.plant("docs/guide/other.md", "# Other\n")
        self.plant("mkdocs.yml", "nav:\n  - index.md\n  - Gone: gone.md\n")
        self.assertEqual(
            [
                "docs/guide/other.md: [orphan] the navigation of mkdocs.yml lacks this page",
                "mkdocs.yml: [navigation] there is no docs/gone.md",
            ],
            pages.check(self.root),
        )

    def test_words_of_all_pages(self):
        self.plant(
            "docs/index.md",
            "# Home\n\n## Two words\n\n" + "A short one.\n\n" * 10_000 + "```\n" + "code " * 500 + "\n```\n",
        )
        self.assertEqual(
            ["docs: [words] 30006 words in all pages, more than 30000: --report has the words of each"],
            pages.check(self.root),
        )

    def test_long_sentences(self):
        self.plant("docs/index.md", "word " * 16 + ".\n\n```\n" + "code " * 50 + "\n```\n\n| " + "cell " * 50 + "|\n")
        self.plant("README.md", "word " * 15 + ".\n")
        self.assertEqual(
            ["docs/index.md: [sentences] 16.0 words on average, more than 15: split the long ones"],
            pages.check(self.root),
        )


class Site(unittest.TestCase):
    def test_links_of_files_beside_their_code(self):
        text = (
            "[rows](../../../docs/language.md#rows), [the tests](../../../tests/autograd/README.md), [rule](row_schedule.h),\n"
            "![picture](../../../docs/graph.svg), [gone](gone.md)\n```\n[code](row_schedule.h)\n```\n"
        )
        self.assertEqual(
            "[rows](../language.md#rows), [the tests](autograd.md), rule (`codegen/expr/rows/row_schedule.h`),\n"
            "![picture](../../../docs/graph.svg), [gone](gone.md)\n```\n[code](row_schedule.h)\n```\n",
            repository_pages.led_to_pages(text, "codegen/expr/rows", "reports/rows.md"),
        )

    def test_declarations_of_a_header(self):
        text = """#pragma once
// No documentation.
int unseen();
/// Adds.
TENON_API inline int add(int a, int b) {
  return a + b;
}
namespace detail {
/// Hidden.
int hidden();
}  // namespace detail
/// A pair,
/// of two.
template <class T>
class Pair {
 public:
  /// The first.
  T first() const { return first_; }

 private:
  T first_;
};
"""
        found = list(cpp_interface.declarations(text))
        self.assertEqual(
            [
                ("Adds.", "inline int add(int a, int b);"),
                (
                    "A pair, of two.",
                    "template <class T>\nclass Pair {\n public:\n  /// The first.\n  T first() const { return first_; }\n};",
                ),
            ],
            found,
        )
        self.assertEqual(["`add`", "`Pair`"], [cpp_interface.name_of(code) for _, code in found])


if __name__ == "__main__":
    unittest.main()
