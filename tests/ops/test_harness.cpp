// What the sample tests rely on: the same cells as make_golden.py, comparisons that can fail.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/ops/compare.h"
#include "tests/ops/sample.h"

namespace tenon::ops_test {
namespace {

ExpectedResult expected_of(ScalarType dtype, std::vector<std::complex<double>> numbers) {
  ExpectedResult result;
  result.sizes = {static_cast<int64_t>(numbers.size())};
  result.has_values = true;
  result.cells.dtype = dtype;
  result.cells.numbers = std::move(numbers);
  return result;
}

}  // namespace

TEST_CASE("recipes: dtype, sizes, options") {
  const Recipe recipe = parse_recipe("bf16[2,0,3] in(-1,0.5) t nograd stream(7)");
  CHECK(recipe.dtype == kBFloat16);
  CHECK(recipe.sizes == std::vector<int64_t>{2, 0, 3});
  CHECK(recipe.arrangement == Arrangement::kReversed);
  CHECK(recipe.range == std::pair(-1.0, 0.5));
  CHECK(recipe.stream == 7);
  CHECK_FALSE(recipe.wants_grad());
  CHECK(parse_recipe("f32[]").sizes.empty());
  CHECK_THROWS_AS(parse_recipe("f33[2]"), ValueError);
  CHECK_THROWS_AS(parse_recipe("f32"), ValueError);
  CHECK_THROWS_AS(parse_recipe("f32[2] wide"), ValueError);
}

TEST_CASE("recipes: cells are make_golden.py's") {
  // python3 -c 'from make_golden import *; print(Spec("f64[2]").make(1), Spec("i64[4]").make(0))'
  const Cells floats = read_cells(make_tensor(parse_recipe("f64[2]"), 1));
  CHECK(floats.numbers[0].real() == 0.55517578125);
  CHECK(floats.numbers[1].real() == 1.95849609375);
  CHECK(read_cells(make_tensor(parse_recipe("i64[4]"), 0)).ints ==
        std::vector<int64_t>{2, 1, 2, -5});
}

TEST_CASE("recipes: arrangements hold the same elements") {
  const TensorBase plain = make_tensor(parse_recipe("f32[2,3,2,2]"), 0);
  const Cells cells = read_cells(plain);
  for (const auto arrangement :
       {Arrangement::kReversed, Arrangement::kEverySecond, Arrangement::kChannelsLast}) {
    const TensorBase other =
        rearranged(plain, arrangement, arrangement == Arrangement::kEverySecond ? 3 : 0);
    CHECK(read_cells(other) == cells);
    CHECK_FALSE(other.is_contiguous());
    CHECK(other.sizes() == plain.sizes());
  }
  const TensorBase expanded = make_tensor(parse_recipe("i32[2,3] expand"), 0);
  CHECK(expanded.stride(0) == 0);
  const auto ints = read_cells(expanded).ints;
  CHECK(std::vector(ints.begin(), ints.begin() + 3) == std::vector(ints.begin() + 3, ints.end()));
}

TEST_CASE("numbers keep the kind they are spelled in") {
  CHECK(parse_number("3").is_integral(false));
  CHECK(parse_number("true").is_boolean());
  CHECK(parse_number("3.0").is_floating_point());
  CHECK(parse_number("-inf").toDouble() == -std::numeric_limits<double>::infinity());
  CHECK(parse_number("1.5-2j").toComplexDouble() == std::complex<double>(1.5, -2));
  CHECK(parse_number("2j").toComplexDouble() == std::complex<double>(0, 2));
  CHECK_THROWS_AS(parse_number("three"), ValueError);
}

TEST_CASE("comparisons find what differs") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expected = expected_of(kFloat, {1.0, nan});
  const TensorBase found = empty({2}, kFloat, kCPU);
  write_cells(found, expected.cells);
  CHECK(compare_tensor(expected, found, 0) == "");
  found.data_ptr<float>()[0] = 1.001f;
  CHECK(compare_tensor(expected, found, 8).starts_with("element 0: expected 1, found 1.00"));
  found.data_ptr<float>()[0] = 1.0f;
  found.data_ptr<float>()[1] = 0.0f;
  CHECK(compare_tensor(expected, found, 8) == "element 1: expected nan, found 0 (1 of 2 differ)");
  CHECK(compare_tensor(expected, empty({3}, kFloat, kCPU), 8) == "expected sizes [2], found [3]");
  CHECK(compare_tensor(expected, empty({2}, kDouble, kCPU), 8) ==
        "expected dtype Float, found Double");
  CHECK(compare_tensor(expected, TensorBase(), 8) == "expected a tensor, found none");
}

TEST_CASE("samples: keys name operator, dtype and the row's text") {
  Row row;
  row.line = "- {op: exp, args: [\"f32[2]\"]}";
  const std::string key = Sample{&row, "exp", "f32"}.key();
  CHECK(key.starts_with("exp f32 "));
  row.line += " ";
  CHECK(Sample{&row, "exp", "f32"}.key() != key);
}

}  // namespace tenon::ops_test
