// entries FIRST COUNT: random row operators as YAML, randomrows::f<seed>.
#include <cstdlib>
#include <iostream>

#include "tests/codegen/rows/random_entry.h"

using namespace tenon::codegen::rows;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: entries FIRST COUNT\n";
    return 2;
  }
  const size_t first = std::strtoull(argv[1], nullptr, 10);
  for (size_t seed = first; seed < first + std::strtoull(argv[2], nullptr, 10); ++seed) {
    const RandomEntry entry = random_entry(seed);
    const size_t n = entry.results.size();
    std::cout << "- func: randomrows::f" << seed << "(" << kRandomArguments << ") -> (";
    for (size_t i = 0; i < n; ++i)
      std::cout << (i == 0 ? "Tensor " : ", Tensor ") << RandomEntry::result_name(i, n);
    std::cout << ")\n  over: -1\n  columns: [w, v]\n  rows: [r, place]\n  rowwise:\n";
    for (size_t i = 0; i < n; ++i)
      std::cout << "    " << RandomEntry::result_name(i, n) << ": \"" << entry.text(i) << "\"\n";
  }
}
