#include "runtime/optim/fields.h"

#include <algorithm>
#include <type_traits>

#include "tenon/ops/equal.h"

namespace tenon::optim {
namespace {

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

bool same(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return tenon::equal(a, b);
}

template <class List>
bool same_lists(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return same(x, y); });
}

bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b) { return same_lists(a, b); }

bool same(const std::optional<std::vector<Tensor>>& a,
          const std::optional<std::vector<Tensor>>& b) {
  return a.has_value() == b.has_value() && (!a || same_lists(*a, *b));
}

bool same(const Field& a, const Field& b) {
  return a.name == b.name && std::visit(
                                 [](auto* x, auto* y) {
                                   if constexpr (std::is_same_v<decltype(x), decltype(y)>)
                                     return same(*x, *y);
                                   else
                                     return false;
                                 },
                                 a.value, b.value);
}

}  // namespace

bool equal(const Fields& a, const Fields& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Field& x, const Field& y) { return same(x, y); });
}

}  // namespace tenon::optim
