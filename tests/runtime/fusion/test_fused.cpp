// fused(): functions as operators with fused kernels, against the functions themselves.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "aten/dispatch/warning.h"
#include "runtime/fusion/build.h"
#include "runtime/fusion/fused.h"
#include "runtime/fusion/shapes.h"
#include "runtime/fusion/trace_function.h"
#include "tenon/ops/allclose.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sigmoid.h"
#include "tenon/ops/silu.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Libraries are built anew, and are gone at the end.
struct OwnCache {
  OwnCache() {
    folder = std::filesystem::temp_directory_path() /
             ("tenon_test_fused_" + std::to_string(reinterpret_cast<uintptr_t>(this)));
    setenv("TENON_CACHE_DIR", folder.c_str(), 1);
  }
  ~OwnCache() {
    unsetenv("TENON_CACHE_DIR");
    std::filesystem::remove_all(folder);
  }
  size_t libraries() const {
    size_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder / "fused"))
      count += one.path().extension() == ".so";
    return count;
  }
  std::filesystem::path folder;
};

struct Kept final : WarningHandler {
  void process(const Warning& warning) override { messages.push_back(warning.msg()); }
  std::vector<std::string> messages;
};

void same(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  CHECK(a.scalar_type() == b.scalar_type());
  CHECK(allclose(a, b, 1e-4, 1e-5));
}

std::tuple<Tensor, Tensor> gated(const Tensor& x, const Tensor& weight, const Tensor& gate) {
  const Tensor normed = x * rsqrt(x.square().mean({-1}, true) + 1e-6) * weight;
  Tensor y = normed * silu(gate);
  y *= 2;  // of a tensor that the function has made
  return {y, softmax(y, -1)};
}

}  // namespace

TEST_CASE("fused: results and gradients of the function, kernels kept by their content") {
  const OwnCache cache;
  const Tensor x = leaf_like(randn({5, 33})), weight = leaf_like(randn({33})),
               gate = leaf_like(randn({5, 33}));
  const auto block = fused(gated, {.name = "gated"});
  const auto [y, p] = block(x, weight, gate);
  const auto [y0, p0] = gated(x, weight, gate);
  same(y, y0);
  same(p, p0);
  CHECK(y.grad_fn()->name().find("gated") == std::string::npos);
  CHECK(y.grad_fn()->name().find("Fused") != std::string::npos);
  const auto gradients = [&](const Tensor& a, const Tensor& b) {
    return autograd::grad({(a * a).sum() + b.select(0, 1).square().sum()}, {x, weight, gate});
  };
  const auto made = gradients(y, p), expected = gradients(y0, p0);
  for (size_t i = 0; i < made.size(); ++i) same(made[i], expected[i]);
  CHECK(cache.libraries() == 1);

  // Another function of the same operators has the same library.
  fused([](const Tensor& a, const Tensor& b, const Tensor& c) { return gated(a, b, c); })(x, weight,
                                                                                          gate);
  CHECK(cache.libraries() == 1);

  Kept kept;
  const WarningUtils::WarningHandlerGuard guard(&kept);
  block(x, weight, gate);
  CHECK(kept.messages.empty());
  const Tensor other = randn({2, 33});
  same(std::get<0>(block(other, weight, other)), std::get<0>(gated(other, weight, other)));
  REQUIRE(kept.messages.size() == 1);
  CHECK_THAT(kept.messages[0],
             Contains("[fuse] gated is traced again: argument 0 is [2, 33] of Float on cpu, was "
                      "[5, 33] of Float on cpu; argument 2 is [2, 33]"));
}

TEST_CASE("fused: kernels of another template are built again") {
  const OwnCache own;
  fusion::BuildTools tools = fusion::BuildTools::find();
  const auto key = [&] { return fusion::library_key(tools, "- func: f", {kFloat}); };
  const std::string before = key();
  CHECK(before == key());
  CHECK(before != fusion::library_key(tools, "- func: f", {kDouble}));
  const auto copy = own.folder / "templates";
  std::filesystem::create_directories(own.folder);
  std::filesystem::copy(tools.templates, copy, std::filesystem::copy_options::recursive);
  std::filesystem::copy(std::filesystem::path(tools.templates).parent_path() / "render.py",
                        own.folder);
  tools.templates = copy;
  std::string last = key();
  const auto changes = [&](const std::filesystem::path& file) {
    std::ofstream(file, std::ios::app) << "{# #}";
    return std::exchange(last, key()) != last;
  };
  CHECK(changes(copy / "rowwise.cpp.j2"));
  CHECK(changes(copy / "python" / "functions.cpp.j2"));
  CHECK(changes(own.folder / "render.py"));
}

TEST_CASE("fused: in the background the function runs until its kernels are there") {
  const OwnCache cache;
  int calls = 0;
  const Tensor scale = randn({4});
  const auto f = [&](const Tensor& x) {
    ++calls;
    return sigmoid(x * scale) * x;
  };
  const auto block = fused(f, {.background = true});
  const Tensor x = randn({3, 4});
  same(block(x), sigmoid(x * scale) * x);
  block.wait();
  const int before = calls;
  const Tensor y = randn({3, 4});
  same(block(y), sigmoid(y * scale) * y);
  CHECK(calls == before);  // the operator ran
  scale.fill_(3);          // a captured tensor is read in each call
  same(block(y), sigmoid(y * 3) * y);
}

TEST_CASE("fused: an operator that writes to an argument is called between compositions") {
  const OwnCache cache;
  const auto f = [](const Tensor& x, Tensor total) {
    const Tensor y = sigmoid(x) * 2;
    total.add_(y);
    return std::tuple(y * total, total);
  };
  const Tensor x = randn({3, 4}), total = zeros({3, 4}), expected = zeros({3, 4});
  const auto block = fused(f);
  for (int i = 0; i < 2; ++i) {
    const auto [y, same_total] = block(x, total);
    const auto [y0, total0] = f(x, expected);
    same(y, y0);
    same(total, expected);
    CHECK(same_total.is_same(total));
  }
  const auto traced = fusion::trace(
      [](const func::Tensors& in) -> func::Tensors {
        in[1].add_(in[0] * 2);
        return {in[1] + 1};
      },
      {x, total});
  CHECK(traced.steps.size() == 3);
  CHECK_FALSE(traced.is_one_operator());
}

TEST_CASE("fused: sizes of operands in another shape") {
  const auto sizes = [](IntArrayRef own, IntArrayRef shape, IntArrayRef source) {
    return fusion::sizes_in_shape(own, shape, source).value_or(std::vector<int64_t>{-1});
  };
  using Sizes = std::vector<int64_t>;
  CHECK(sizes({8, 1}, {2, 8, 5}, {2, 4, 2, 5}) == Sizes{4, 2, 1});
  CHECK(sizes({5}, {2, 8, 5}, {16, 5}) == Sizes{5});
  CHECK(sizes({2, 1, 1}, {2, 8, 5}, {2, 40}) == Sizes{2, 1});
  CHECK(sizes({8, 1}, {2, 8, 5}, {2, 40}) == Sizes{-1});
  CHECK(sizes({1, 1, 1}, {2, 8, 5}, {80}) == Sizes{});
  CHECK(sizes({2, 8, 5}, {2, 8, 5}, {4, 1, 20}) == Sizes{4, 1, 20});
}

TEST_CASE("fused: what a trace writes") {
  const Tensor x = randn({2, 6}), cosine = randn({2, 6});
  const auto text = [&](const func::ListFunction& f) {
    return fusion::trace(f, {x}).steps.at(0).yaml;
  };
  const std::string rotary = text([&](const func::Tensors& in) -> func::Tensors {
    const auto parts = in[0].chunk(2, -1);
    return {in[0] * cosine + cat({-parts[1], parts[0]}, -1)};
  });
  CHECK_THAT(rotary, Contains("(Tensor a0, Tensor c0) -> Tensor"));
  CHECK_THAT(rotary, Contains("chunk(a0, 2, -1)[1]"));
  // Each half of the sum is computed by itself.
  CHECK_THAT(rotary, Contains("narrow(c0, -1, 0, 3)"));
  CHECK_THAT(rotary, !Contains("a0 * c0"));
  const auto recorded = fusion::trace(
      [&](const func::Tensors& in) -> func::Tensors {
        const auto parts = in[0].chunk(2, -1);
        return {in[0] * cosine + cat({-parts[1], parts[0]}, -1)};
      },
      {leaf_like(x)});
  CHECK_THAT(recorded.steps.at(0).yaml, Contains("a0 * c0"));
  CHECK(recorded.depends_on_gradients);
  const std::string constants = text([](const func::Tensors& in) -> func::Tensors {
    Tensor total = zeros({2, 6});
    total += in[0] * 2;
    total.sub_(in[0].to(kDouble).to(kFloat));
    return {where(in[0] > -1, total, -0.5) + arange(6)};
  });
  CHECK_THAT(constants, Contains("a0 > (-1)"));
  CHECK_THAT(constants, Contains("to(a0, kDouble)"));
  const std::string unrecorded = text([](const func::Tensors& in) -> func::Tensors {
    const auto scale = [&] {
      const NoGradGuard guard;
      return in[0].abs().amax({-1}, true);
    }();
    return {in[0] / scale};
  });
  CHECK_THAT(unrecorded, Contains(".detach()"));
  const std::string straight = text([](const func::Tensors& in) -> func::Tensors {
    return {in[0] + (in[0].round() - in[0]).detach()};
  });
  CHECK_THAT(straight, Contains("v2 = v1.detach();\n    v3 = a0 + v2;"));
}

TEST_CASE("fused: errors name the operator") {
  const Tensor x = randn({2, 3});
  const auto error = [&](auto f) { return message_of([&] { fused(f)(x); }); };
  CHECK_THAT(error([](const Tensor& t) { return t.sum().item<float>() > 0 ? t * 2 : t; }),
             Contains("[fuse] aten::item depends on the values of a tensor"));
  const auto writes = [](const Tensor& t) {
    const Tensor part = t.select(0, 0);
    Tensor(t).mul_(2);
    return part;
  };
  CHECK_THAT(
      error(writes),
      Contains("[fuse] aten::mul_.Scalar writes to a tensor that shares memory with another"));
  CHECK_THAT(error([](const Tensor& t) { return t.masked_select(t > 0); }),
             Contains("[fuse] aten::masked_select depends on the values"));
  CHECK_THAT(error([](const Tensor& t) { return t + randn({3}); }),
             Contains("[fuse] aten::randn draws numbers for no tensor"));
  CHECK_THAT(error([](const Tensor& t) {
               const Tensor y = t + 1, row = y[0];
               y.mul_(2);
               return row;
             }),
             Contains("writes to a tensor that shares memory with another one"));
}
