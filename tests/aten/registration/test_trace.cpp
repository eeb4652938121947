// Noting which operators are called.
#include "aten/dispatch/trace_operators.h"
#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/add.h"
#include "tenon/ops/empty.h"

#include <cstdio>
#include <fstream>

#include "aten/registration/library.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("trace: the operators called, inner ones and those of backward included") {
  Tensor x = tensor({1., 2.}).requires_grad_();
  start_operator_trace();
  check_error([] { start_operator_trace(); }, "running already");
  const Tensor y = (x * x).sum();
  y.backward();
  x.detach().add_(1);
  x.detach().add_(1);
  const auto called = stop_operator_trace();
  check_error([] { stop_operator_trace(); }, "no trace is running");
  const auto has = [&](const char* name) {
    return std::find(called.begin(), called.end(), name) != called.end();
  };
  CHECK(has("aten::mul.Tensor"));
  CHECK(has("aten::sum"));
  CHECK(has("aten::add_.Scalar"));
  CHECK(!has("aten::sub.Tensor"));
  CHECK(std::is_sorted(called.begin(), called.end()));
  // What is traced computes the same, recorded as ever.
  CHECK(y.item<double>() == 5);
  CHECK(values(x.grad()) == std::vector<double>{2, 4});
  CHECK(values(x.detach()) == std::vector<double>{3, 4});
}

TEST_CASE("trace: registered kernels and out forms survive it") {
  Library library("aten", Library::IMPL);
  library.impl("abs", DispatchKey::CPU, [](const Tensor& self) { return self * 100; });
  const Tensor x = tensor({-1.});
  start_operator_trace();
  CHECK(values(x.abs()) == std::vector<double>{-100});
  Tensor out = empty({0});
  CHECK(&tenon::add_out(out, x, x) == &out);
  CHECK(values(out) == std::vector<double>{-2});
  const auto called = stop_operator_trace();
  CHECK(std::count(called.begin(), called.end(), "aten::abs") == 1);
  CHECK(std::count(called.begin(), called.end(), "aten::add.out") == 1);
  CHECK(values(x.abs()) == std::vector<double>{-100});
  CHECK(values(x.exp().log()) == std::vector<double>{-1});
}

TEST_CASE("trace: written one per line; a path that cannot be written is an error") {
  const std::string path = std::tmpnam(nullptr);
  write_operator_trace(path, {"aten::abs", "aten::add.Tensor"});
  std::ifstream in(path);
  std::string comment, first, second;
  std::getline(in, comment);
  in >> first >> second;
  CHECK(comment[0] == '#');
  CHECK(first == "aten::abs");
  CHECK(second == "aten::add.Tensor");
  std::remove(path.c_str());
  check_error([] { write_operator_trace("/nonexistent/file", {}); },
              "cannot write /nonexistent/file");
}
