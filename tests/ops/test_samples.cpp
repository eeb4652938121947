// Runs every sample of samples/*.yaml through every check that applies; README.md explains.
// TENON_SAMPLE=text restricts the run to samples whose place, operator or line contains the text.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <set>

#include "aten/core/thread_state.h"
#include "aten/dispatch/operator_entry.h"
#include "tests/ops/checks.h"

namespace tenon::ops_test {
namespace {

bool selected(const Sample& sample) {
  const char* wanted = std::getenv("TENON_SAMPLE");
  return !wanted || (sample.where() + " " + sample.row->line).find(wanted) != std::string::npos;
}

/// Runs one check, which reports what it finds; an exception is a failure of the sample, not of the
/// run.
void run_check(const Case& c, const char* name, void (*check)(const Case&)) {
  try {
    check(c);
  } catch (const std::exception& error) {
    c.fail(name, error.what());
  }
  if (!GradMode::is_enabled() || thread_state.excluded_layers != 0 ||
      thread_state.skipped_layers != kThreadLayers) {
    c.fail(name, "the call left the thread's grad mode or excluded layers changed");
    thread_state = ThreadState();
  }
}

using Checks = std::vector<std::tuple<const char*, const char*, void (*)(const Case&)>>;

/// Name for messages, name of the row's option that turns it off, function.
const Checks kValueChecks = {
    {"result", "result", check_results},    {"non-contiguous", "noncontig", check_noncontiguous},
    {"meta", "meta", check_meta},           {"out=", "out", check_out},
    {"in place", "inplace", check_inplace}, {"aliases", "aliases", check_aliases},
    {"edges", "edges", check_edges},        {"cuda", "cuda", check_cuda},
};
const Checks kGradientChecks = {
    {"gradient", "grad", check_gradients},
    {"gradient in place", "inplace", check_inplace_gradients},
    {"undefined gradient", "grad", check_undefined_gradients},
    {"finite differences", "fd", check_finite_differences},
    {"forward", "forward", check_forward},
};

void run_family(const std::string& family, bool gradients) {
  const auto rows = load_rows(family);
  const auto golden = load_golden(family);
  for (const Sample& sample : samples_of(rows)) {
    if (!selected(sample)) continue;
    auto forms = all_forms().find(sample.op);
    if (const OperatorEntry* op = find_operator(sample.op); forms == all_forms().end() && op) {
      forms = all_forms().find(op->qualified_name().substr(sizeof("aten::") - 1));  // an alias
    }
    if (forms == all_forms().end()) {
      if (!gradients) FAIL_CHECK(sample.where() << ": no operator " << sample.op);
      continue;
    }
    const auto expected = golden.find(sample.key());
    if (expected == golden.end()) {
      if (!gradients)
        FAIL_CHECK(sample.where() << ": no golden; run tests/ops/make_golden.py " << family);
      continue;
    }
    const Case c{sample, forms->second, expected->second};
    if (expected->second.error) {
      if (!gradients) run_check(c, "error", check_error);
      continue;
    }
    for (const auto& [name, option, check] : gradients ? kGradientChecks : kValueChecks) {
      if (c.wants(option)) run_check(c, name, check);
    }
  }
  SUCCEED();
}

}  // namespace

TEST_CASE("samples: pointwise unary operators") { run_family("unary", false); }
TEST_CASE("samples: pointwise binary operators") { run_family("binary", false); }
TEST_CASE("samples: comparisons, bits, selection") { run_family("comparison", false); }
TEST_CASE("samples: views and copies") { run_family("views", false); }
TEST_CASE("samples: joining and reordering") { run_family("joining", false); }
TEST_CASE("samples: indexing and sorting") { run_family("indexing", false); }
TEST_CASE("samples: reductions") { run_family("reductions", false); }
TEST_CASE("samples: creation and random numbers") { run_family("creation", false); }
TEST_CASE("samples: matrix products and convolution") { run_family("matmul", false); }
TEST_CASE("samples: factorizations of matrices") { run_family("factorizations", false); }
TEST_CASE("samples: network operators") { run_family("nn", false); }
TEST_CASE("samples: compositions") { run_family("everyday", false); }
TEST_CASE("samples: recurrent layers") { run_family("recurrent", false); }
TEST_CASE("samples: linear systems") { run_family("linalg", false); }
TEST_CASE("samples: Fourier transforms and windows") { run_family("signals", false); }
TEST_CASE("samples: operators of lists") { run_family("lists", false); }
TEST_CASE("samples: attention, losses of sequences") { run_family("attention", false); }
TEST_CASE("samples: sampling") { run_family("sampling", false); }
TEST_CASE("samples: reductions by index, histograms, draws") { run_family("scattering", false); }
TEST_CASE("samples: sparse layouts") { run_family("sparse", false); }

TEST_CASE("gradients: pointwise unary operators") { run_family("unary", true); }
TEST_CASE("gradients: pointwise binary operators") { run_family("binary", true); }
TEST_CASE("gradients: comparisons, bits, selection") { run_family("comparison", true); }
TEST_CASE("gradients: views and copies") { run_family("views", true); }
TEST_CASE("gradients: joining and reordering") { run_family("joining", true); }
TEST_CASE("gradients: indexing and sorting") { run_family("indexing", true); }
TEST_CASE("gradients: reductions") { run_family("reductions", true); }
TEST_CASE("gradients: creation and random numbers") { run_family("creation", true); }
TEST_CASE("gradients: matrix products and convolution") { run_family("matmul", true); }
TEST_CASE("gradients: factorizations of matrices") { run_family("factorizations", true); }
TEST_CASE("gradients: network operators") { run_family("nn", true); }
TEST_CASE("gradients: compositions") { run_family("everyday", true); }
TEST_CASE("gradients: recurrent layers") { run_family("recurrent", true); }
TEST_CASE("gradients: linear systems") { run_family("linalg", true); }
TEST_CASE("gradients: Fourier transforms and windows") { run_family("signals", true); }
TEST_CASE("gradients: operators of lists") { run_family("lists", true); }
TEST_CASE("gradients: attention, losses of sequences") { run_family("attention", true); }
TEST_CASE("gradients: sampling") { run_family("sampling", true); }
TEST_CASE("gradients: reductions by index, histograms, draws") { run_family("scattering", true); }
TEST_CASE("gradients: sparse layouts") { run_family("sparse", true); }

namespace {

std::set<std::string> sampled_operators() {
  std::set<std::string> sampled;
  for (const auto& family : families()) {
    for (const Row& row : load_rows(family))
      sampled.insert(row.operators.begin(), row.operators.end());
  }
  return sampled;
}

/// Operators that no row names, with the file that declares them.
std::vector<std::string> gaps() {
  const auto sampled = sampled_operators();
  std::vector<std::string> missing;
  for (const auto& [name, forms] : all_forms()) {
    if (forms.derived || sampled.count(name)) continue;
    missing.push_back(name + " (" + forms.op->info->source + ")");
  }
  return missing;
}

}  // namespace

TEST_CASE("every operator has a sample") {
  const std::set<std::string> tested = {"unary",    "binary",     "comparison", "views",
                                        "joining",  "everyday",   "indexing",   "reductions",
                                        "creation", "matmul",     "nn",         "recurrent",
                                        "lists",    "attention",  "sampling",   "factorizations",
                                        "linalg",   "scattering", "signals",    "sparse"};
  for (const auto& family : families()) {
    INFO("samples/" << family << ".yaml has no TEST_CASE here");
    CHECK(tested.count(family));
  }
  for (const std::string& name : gaps()) FAIL_CHECK(name << " has no row in tests/ops/samples");
  CHECK(all_forms().size() > 300);
}

TEST_CASE("list of operators without samples", "[.gaps]") {
  const auto missing = gaps();
  std::cout << "operators without samples: " << (missing.empty() ? "none" : "") << '\n';
  for (const std::string& name : missing) std::cout << "  " << name << '\n';
}

}  // namespace tenon::ops_test
