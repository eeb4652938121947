#pragma once

/// What libtorch's tests share, written for Tenon: fixtures, comparisons and checks of errors.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tenon/torch.h"

namespace tenon::autograd {
/// libtorch's names for why a view may not be changed in place.
struct CreationMeta {
  static constexpr auto DEFAULT = tenon::CreationMeta::Default;
  static constexpr auto NO_GRAD_MODE = tenon::CreationMeta::NoGrad;
  static constexpr auto INFERENCE_MODE = tenon::CreationMeta::Inference;
  static constexpr auto MULTI_OUTPUT_NODE = tenon::CreationMeta::MultiOutput;
  static constexpr auto IN_CUSTOM_FUNCTION = tenon::CreationMeta::CustomFunction;
};

/// Passes a tensor on, and an undefined gradient back.
struct UndefinedGrad {
  struct Passing : Function<Passing> {
    static Variable forward(AutogradContext*, const Variable& x) { return x.clone(); }
    static variable_list backward(AutogradContext*, variable_list) { return {Variable()}; }
  };
  variable_list apply(const variable_list& inputs) { return {Passing::apply(inputs[0])}; }
};
}  // namespace tenon::autograd

namespace torch::test {

inline void assert_tensor_creation_meta(const Tensor& view, tenon::CreationMeta expected) {
  ASSERT_TRUE(view.is_view());
  ASSERT_EQ(view.unsafe_impl()->creation_meta, expected);
}

/// A module that takes parts of any kind.
class SimpleContainer : public nn::Cloneable<SimpleContainer> {
 public:
  void reset() override {}
  template <class Holder>
  Holder add(Holder part, std::string name = {}) {
    return this->register_module(std::move(name), part);
  }
};

/// Each test starts from the same seed.
struct SeedingFixture : ::testing::Test {
  SeedingFixture() { manual_seed(0); }
};

/// Keeps this thread's warnings while it lives.
class WarningCapture : public WarningHandler {
 public:
  WarningCapture() : guard_(this) {}
  void process(const Warning& warning) override { messages_.push_back(warning.msg()); }
  const std::vector<std::string>& messages() const { return messages_; }
  std::string str() const {
    std::string all;
    for (const std::string& message : messages_) all += (all.empty() ? "" : "\n") + message;
    return all;
  }

 private:
  WarningUtils::WarningHandlerGuard guard_;
  std::vector<std::string> messages_;
};

inline bool pointer_equal(const Tensor& a, const Tensor& b) { return a.data_ptr() == b.data_ptr(); }

/// The largest difference between elements, as doubles, NaN beside NaN being none.
inline double largest_difference(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(kDouble), y = b.to(kDouble);
  const Tensor same = (x == y).logical_or(x.isnan().logical_and(y.isnan()));
  const Tensor difference = (x - y).abs().masked_fill(same, 0);
  return difference.numel() == 0 ? 0 : difference.max().item<double>();
}

/// Same sizes, both or neither of bool, elements that differ by at most 1e-5. Infinities are equal
/// only if `allow_inf`.
inline void assert_tensor_equal(const Tensor& a, const Tensor& b, bool allow_inf = false) {
  ASSERT_EQ(a.sizes(), b.sizes());
  if (a.numel() == 0) return;
  const Tensor other = b.to(a.device());
  ASSERT_EQ(a.scalar_type() == kBool, other.scalar_type() == kBool);
  if (!allow_inf) ASSERT_FALSE(a.to(kDouble).isinf().any().item<bool>());
  ASSERT_LE(largest_difference(a, other), 1e-5);
}

inline void assert_tensor_not_equal(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) return;
  ASSERT_GT(a.numel(), 0);
  ASSERT_GE(largest_difference(a, b.to(a.device())), 1e-5);
}

inline int count_substr_occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// Sets the default dtype until the end of the scope; one thread at a time.
class AutoDefaultDtypeMode {
 public:
  explicit AutoDefaultDtypeMode(ScalarType dtype) : lock_(mutex()), previous_(get_default_dtype()) {
    set_default_dtype(dtype);
  }
  ~AutoDefaultDtypeMode() { set_default_dtype(previous_); }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  std::unique_lock<std::mutex> lock_;
  ScalarType previous_;
};

}  // namespace torch::test

/// The statement throws, and the message contains `part`.
#define ASSERT_THROWS_WITH(statement, part)                                            \
  {                                                                                    \
    std::string thrown_message;                                                        \
    bool has_thrown = false;                                                           \
    try {                                                                              \
      (void)statement;                                                                 \
    } catch (const std::exception& error) {                                            \
      has_thrown = true;                                                               \
      thrown_message = error.what();                                                   \
    }                                                                                  \
    ASSERT_TRUE(has_thrown) << #statement " did not throw";                            \
    ASSERT_NE(thrown_message.find(part), std::string::npos)                            \
        << "the message is \"" << thrown_message << "\", without \"" << (part) << '"'; \
  }
