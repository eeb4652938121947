// Structured operators in place write self directly where they can.
#include <catch2/catch.hpp>

#include "aten/core/allocator.h"
#include "aten/meta/structured.h"
#include "tenon/ops/addmm.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/baddbmm.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/cumsum.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_fill.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/remainder.h"
#include "tenon/ops/scatter.h"
#include "tenon/ops/scatter_add.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/tril.h"
#include "tenon/ops/triu.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

using namespace tenon;

namespace {

/// 0, 1, ..., 6, 0, 1, ...
Tensor cycle(IntArrayRef sizes) {
  return remainder(arange(numel_of(sizes)), 7).to(kFloat).view(sizes);
}

struct Form {
  const char* name;
  Tensor (*functional)(const Tensor& self);
  void (*in_place)(Tensor& self);
};

Tensor few() { return arange(4).view({4, 1}).expand({4, 2048}); }

// clang-format off
const Form kForms[] = {
    {"index_add", [](const Tensor& t) { return t.index_add(0, arange(4), cycle({4, 2048}), 3); },
     [](Tensor& t) { t.index_add_(0, arange(4), cycle({4, 2048}), 3); }},
    {"index_fill", [](const Tensor& t) { return t.index_fill(0, arange(4), 9); },
     [](Tensor& t) { t.index_fill_(0, arange(4), 9); }},
    {"scatter.src", [](const Tensor& t) { return t.scatter(0, few(), cycle({4, 2048})); },
     [](Tensor& t) { t.scatter_(0, few(), cycle({4, 2048})); }},
    {"scatter.value", [](const Tensor& t) { return t.scatter(0, few(), 5); },
     [](Tensor& t) { t.scatter_(0, few(), 5); }},
    {"scatter_add", [](const Tensor& t) { return t.scatter_add(0, few(), cycle({4, 2048})); },
     [](Tensor& t) { t.scatter_add_(0, few(), cycle({4, 2048})); }},
    {"tril", [](const Tensor& t) { return t.tril(-3); }, [](Tensor& t) { t.tril_(-3); }},
    {"triu", [](const Tensor& t) { return t.triu(700); }, [](Tensor& t) { t.triu_(700); }},
    {"cumsum", [](const Tensor& t) { return t.cumsum(0); }, [](Tensor& t) { t.cumsum_(0); }},
    {"addmm", [](const Tensor& t) { return t.addmm(cycle({1024, 4}), cycle({4, 2048}), 2, 3); },
     [](Tensor& t) { t.addmm_(cycle({1024, 4}), cycle({4, 2048}), 2, 3); }},
};
// clang-format on

}  // namespace

TEST_CASE("in place, structured operators take no second tensor") {
  for (const Form& form : kForms) {
    INFO(form.name);
    Tensor self = cycle({1024, 2048});
    const Tensor wanted = form.functional(self);
    memory::empty_cache();
    form.in_place(self);
    // What a call has freed is in the cache.
    CHECK(memory::stats().cached_bytes < self.nbytes());
    CHECK(self.equal(wanted));
  }
  Tensor batch = cycle({2, 64, 512});
  const Tensor a = cycle({2, 64, 3}), b = cycle({2, 3, 512});
  const Tensor wanted = batch.baddbmm(a, b, 2, 3);
  CHECK(batch.baddbmm_(a, b, 2, 3).equal(wanted));
}

TEST_CASE("in place, which inputs may share self's memory") {
  const Tensor self = cycle({5, 5}), order = remainder(arange(5) + 2, 5);
  Tensor x = self.clone();
  CHECK(x.addmm_(x, x.t()).equal(self.addmm(self, self.t())));
  x = self.clone();
  Tensor index = arange(5);
  const auto shared = Catch::Contains("refer to a single memory location");
  CHECK_THROWS_WITH(x.index_add_(0, order, x), shared);
  CHECK_THROWS_WITH(x.index_add_(0, order, x.t()), shared);
  CHECK_THROWS_WITH(x.scatter_(1, order.view({1, 5}).expand({5, 5}), x), shared);
  CHECK_THROWS_WITH(index.index_fill_(0, index, 1), shared);
  CHECK(x.equal(self));
  CHECK(index.equal(arange(5)));
}

TEST_CASE("in place, self keeps its strides and dtype") {
  for (const Form& form : kForms) {
    INFO(form.name);
    Tensor self = cycle({2048, 1024}).t();
    const Tensor wanted = form.functional(self.clone());
    const void* data = self.const_data_ptr();
    form.in_place(self);
    CHECK(self.equal(wanted));
    CHECK(self.const_data_ptr() == data);
    CHECK(self.stride(0) == 1);
  }
  Tensor half = ones({4}).to(kHalf);
  half.cumsum_(0, kFloat);
  CHECK(half.scalar_type() == kHalf);
  CHECK(half.to(kFloat).equal(arange(1, 5).to(kFloat)));
  Tensor same = ones({2, 3}).expand({4, 2, 3});
  CHECK_THROWS_WITH(same.tril_(),
                    Catch::Contains("more than one element of the written-to tensor"));
}

TEST_CASE("in place, an error leaves self alone") {
  const Tensor self = cycle({4, 3});
  Tensor x = self.clone();
  const Tensor wrong = arange(6, 8);
  CHECK_THROWS_AS(x.index_add_(0, wrong, ones({2, 3})), IndexError);
  CHECK_THROWS_AS(x.index_fill_(0, wrong, 1), IndexError);
  CHECK_THROWS_AS(x.scatter_(0, wrong.view({2, 1}), ones({2, 1})), Error);
  CHECK_THROWS_AS(x.addmm_(ones({3, 3}), ones({3, 3})), Error);
  CHECK(x.equal(self));
}

TEST_CASE("what a kernel is given to write in place") {
  const TensorBase self = empty({2, 3}, kFloat, kCPU), other = empty({2, 3}, kFloat, kCPU);
  const TensorSpec spec({2, 3}, self);
  const TensorBase* inputs[] = {&other, &other};
  const auto given = [&](const TensorBase& t, const TensorSpec& s) {
    return structured::prepare_inplace("op", t, s, inputs);
  };
  CHECK(given(self, spec).is_same(self));
  CHECK_FALSE(given(other, spec).is_same(other));  // an input as well
  CHECK_FALSE(given(self, TensorSpec({2, 3}, kInt, kCPU)).is_same(self));
  CHECK_FALSE(given(self, TensorSpec({2, 3}, {1, 2}, kFloat, kCPU)).is_same(self));
  const TensorBase turned = empty_strided({2, 3}, {1, 2}, kFloat, kCPU);
  CHECK_FALSE(given(turned, spec).is_same(turned));
  CHECK(given(turned, TensorSpec({2, 3}, {1, 2}, kFloat, kCPU)).is_same(turned));
  CHECK_THROWS_WITH(given(self, TensorSpec({2, 3}, kFloat, kMeta)),
                    "[op] expected self on meta, got cpu");
}
