#include "tenon/ops/add.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/imag.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/real.h"
#include "tenon/ops/unsafe_split.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// The names of the nodes from the tensor's on, along their first edges.
std::vector<std::string> names(const Tensor& t) {
  std::vector<std::string> found;
  for (const autograd::Node* node = t.grad_fn().get(); node;) {
    found.push_back(node->name());
    node = node->num_outputs() ? node->next_edges()[0].function.get() : nullptr;
  }
  return found;
}

}  // namespace

TEST_CASE("Gradients through complex and real views agree with finite differences", "[inplace]") {
  using Case = std::pair<const char*, autograd::CheckedFunction>;
  const Case cases[] = {
      {"the base of real views",
       [](const Tensors& in) {
         const Tensor z = view_as_complex(in[0]) * 1;
         const Tensor part = imag(z), pairs = view_as_real(z);
         z.mul_(z.clone());
         return Tensors{part * 2, pairs * pairs};
       }},
      {"real views",
       [](const Tensors& in) {
         const Tensor z = view_as_complex(in[0]) * 1;
         view_as_real(z).select(-1, 1).slice(0, 0, 2).mul_(in[1]);
         real(z).exp_();
         return Tensors{view_as_real(z)};
       }},
      {"complex views",
       [](const Tensors& in) {
         const Tensor x = in[0] * 1;
         const Tensor part = view_as_complex(x.slice(0, 1, 3));
         x.mul_(x.clone());
         part.mul_(part.clone());
         return Tensors{x * x, view_as_real(part)};
       }},
      {"a base whose first element is at an odd place",
       [](const Tensors& in) {
         Tensor x = zeros({7}, in[0].options()).slice(0, 1).detach();
         const Tensor part = view_as_complex(x.slice(0, 1, 5).view({2, 2}));
         x.add_(in[0].view({6}));
         part.mul_(part.clone());
         return Tensors{x, view_as_real(part)};
       }},
  };
  for (const auto& [name, f] : cases) {
    INFO(name);
    const Tensors inputs{sample({3, 2}), sample({2})};
    CHECK(autograd::gradcheck(f, inputs));
    CHECK(autograd::gradgradcheck(f, inputs));
  }
}

TEST_CASE("A view keeps the function that made it", "[inplace]") {
  const Tensor x = sample({3, 2});
  const Tensor z = view_as_complex(x) * 1;
  const Tensor part = imag(z);
  CHECK(part._base().is_same(z));
  z.mul_(2);
  using Names = std::vector<std::string>;
  const Names rest{"MulBackward1", "MulBackward1", "ViewAsComplexBackward0", "AccumulateGrad"};
  Names expected{"AsStridedBackward0", "ViewAsRealBackward0"};
  expected.insert(expected.end(), rest.begin(), rest.end());
  CHECK(names(part) == expected);
  part.mul_(2);
  expected = {"CopySlices"};
  expected.insert(expected.end(), rest.begin(), rest.end());
  CHECK(names(z) == expected);
  // The base has no history any more, and the view's ends with it.
  z.detach_();
  z.mul_(2);
  part.sum().backward();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Parts of unsafe_split may be changed in place", "[inplace]") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  const Tensors parts = unsafe_split(y, 2);
  CHECK_FALSE(parts[0].is_view());
  parts[0].mul_(5);
  CHECK(values(y) == std::vector<double>{5, 10, 3, 4});
  CHECK((parts[0]._version() == 1 && y._version() == 0));
  (parts[0].sum() + parts[1].sum()).backward();
  CHECK(values(x.grad()) == std::vector<double>{5, 5, 1, 1});
}
