// Mutated files must give diagnostics, never a crash, a hang or an exception. The mutations are the
// same in every run; TENON_FUZZ sets their number.

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

const std::string kNative =
    R"y(- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method, inplace, out
  pointwise: {floating: self + alpha * other, integral: {cpu: self, cuda: other}}
- func: "sort.dim(Tensor(a!)[] self, int[2]? dim=[-2,-1], str s=\"x\") -> (Tensor(a!) values, Tensor b)"
  structured: True
  dispatch:
    CPU, CUDA: at::sort_cpu
  tags: &t [core, pointwise]
- func: >-
    split(Tensor(a -> *) self, SymInt[] sizes,
      float eps=1e-05) -> Tensor(a)[]
  composite: explicit
  tags: *t
)y";
const std::string kDerivatives = R"y(- name: add.Tensor
  self, other: add_backward(grad, alpha)
  result: auto_linear
- name: split(Tensor(a -> *) self, SymInt[] sizes, float eps=1e-05) -> Tensor(a)[]
  dispatch:
    Default: {self: grads, result: auto_linear}
  output_differentiability: [True]
)y";

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (size_t i = 1 + below(3); i > 0; --i) once(text);
    return text;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }

  void once(std::string& text) {
    static const std::vector<std::string> words = {"(",
                                                   ")",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   ",",
                                                   ": ",
                                                   "\n",
                                                   "\n  ",
                                                   "- ",
                                                   "*",
                                                   "&a ",
                                                   "*t",
                                                   "!",
                                                   "?",
                                                   "|",
                                                   ">",
                                                   "\"",
                                                   "'",
                                                   "\\",
                                                   "#",
                                                   "->",
                                                   "=",
                                                   "\t",
                                                   "\r",
                                                   "Tensor",
                                                   "int",
                                                   "::",
                                                   ".",
                                                   "%",
                                                   "\xC3\xA9",
                                                   "\xFF",
                                                   std::string(1, '\0'),
                                                   "99999999999999999999",
                                                   "func: ",
                                                   "- name: "};
    const size_t at = below(text.size() + 1);
    switch (below(5)) {
    case 0: text.insert(at, words[below(words.size())]); break;
    case 1: text.erase(at, 1 + below(12)); break;
    case 2: text.insert(at, text.substr(below(text.size() + 1), below(30))); break;
    case 3: text.resize(at); break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random_());
    }
  }

  std::mt19937 random_;
};

size_t rounds() {
  const char* count = std::getenv("TENON_FUZZ");
  return count != nullptr ? static_cast<size_t>(std::atol(count)) : 3000;
}

TEST_CASE("mutated files give diagnostics", "[model][fuzz]") {
  // Three entries, and the copying form of the view.
  REQUIRE(read_text(kNative, kDerivatives).model.operators().size() == 4);
  Mutator mutator(1);
  for (size_t i = 0; i < rounds(); ++i) {
    const bool native = i % 3 != 0;
    const Read read = read_text(native ? mutator.mutate(kNative) : kNative,
                                native ? kDerivatives : mutator.mutate(kDerivatives),
                                i % 2 == 0 ? Dialect::kTenon : Dialect::kUpstream);
    if (read.num_errors > 0 && read.messages.empty()) FAIL("errors without messages");
  }
}

TEST_CASE("what a mutated schema parses to prints back", "[schema][fuzz]") {
  const std::string seed =
      "ns::f.out(Tensor(a|b -> *)? self, int[2] x=[0, 1], *, str s='q', Tensor(a!)[] out) -> "
      "(Tensor(a!) y, __torch__.torch.classes.a.B z)";
  Mutator mutator(2);
  for (size_t i = 0; i < rounds(); ++i) {
    const schema::ParseResult result = schema::parse_schema(mutator.mutate(seed));
    if (!result.ok()) continue;
    const std::string canonical = schema::to_string(*result.schema);
    const schema::ParseResult again = schema::parse_schema(canonical);
    if (!again.ok() || schema::to_string(*again.schema) != canonical) FAIL_CHECK(canonical);
  }
}

}  // namespace
}  // namespace tenon::codegen
