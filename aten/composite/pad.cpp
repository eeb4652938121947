#include "tenon/native/pad.h"

#include <algorithm>

#include "aten/composite/in_format.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

enum class Mode { Reflect, Replicate, Circular };

Mode mode_of(std::string_view name) {
  if (name == "reflect") return Mode::Reflect;
  if (name == "replicate") return Mode::Replicate;
  TENON_CHECK_NOT_IMPLEMENTED(name == "circular", "[pad] Unrecognised padding mode ", name,
                              ", expected constant, reflect, replicate or circular");
  return Mode::Circular;
}

/// Which of n elements stands at place i, from -before to n + after - 1, of the padded ones. What
/// wraps around are the elements from `first` on, `kept` of them, that no negative pad cuts off.
int64_t source(Mode mode, int64_t i, int64_t n, int64_t first, int64_t kept) {
  switch (mode) {
  case Mode::Reflect: return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
  case Mode::Replicate: return std::clamp<int64_t>(i, 0, n - 1);
  case Mode::Circular: break;
  }
  const int64_t place = (i - first) % kept;
  return first + (place < 0 ? place + kept : place);
}

Tensor padded(Mode mode, const Tensor& self, int64_t d, int64_t before, int64_t after) {
  const int64_t n = self.size(d);
  TENON_CHECK(mode != Mode::Reflect || (before < n && after < n),
              "[pad] Padding size should be less than the corresponding input dimension, but got: "
              "padding (",
              before, ", ", after, ") at dimension ", d, " of input ", self.sizes());
  TENON_CHECK(mode != Mode::Circular || (before <= n && after <= n),
              "[pad] Padding value causes wrapping around more than once, got padding (", before,
              ", ", after, ") at dimension ", d, " of input ", self.sizes());
  int64_t size = 0;
  TENON_CHECK(!__builtin_add_overflow(n, before, &size) &&
                  !__builtin_add_overflow(size, after, &size) &&
                  (size > 0 || (size == 0 && mode == Mode::Circular)),
              "[pad] padding (", before, ", ", after, ") at dimension ", d, " of input ",
              self.sizes(), " leaves no element, or more than can be counted");
  TENON_CHECK(n > 0, "[pad] Expected dimension ", d, " of input ", self.sizes(),
              " to have elements to pad with");
  const int64_t first = std::max<int64_t>(-before, 0);
  const int64_t kept = n - first - std::max<int64_t>(-after, 0);
  TENON_CHECK(mode != Mode::Circular || kept > 0 || size == 0, "[pad] padding (", before, ", ",
              after, ") at dimension ", d, " of input ", self.sizes(),
              " leaves no element to repeat");
  if (self.is_meta()) return index_select(self, d, empty({size}, kLong, kMeta));
  const Tensor index(empty({size}, kLong, kCPU));
  auto* to = static_cast<int64_t*>(index.data_ptr());
  for (int64_t i = 0; i < size; ++i) to[i] = source(mode, i - before, n, first, kept);
  return index_select(self, d, self.is_cpu() ? index : index.to(self.device()));
}

}  // namespace

/// pad = (before, after) of the last dimension, then of the one before it, ...; negative pads cut
/// off. "constant" pads with `value`; "reflect" with the elements mirrored at the border's,
/// "replicate" with the border's, "circular" with those from the other end, all three of the last
/// one to three dimensions of a tensor that has one or two more.
Tensor native::pad(const Tensor& self, IntArrayRef pad, std::string_view mode,
                   std::optional<double> value) {
  TENON_CHECK(pad.size() % 2 == 0, "[pad] Padding length must be divisible by 2, got ", pad);
  const auto count = static_cast<int64_t>(pad.size() / 2);
  TENON_CHECK(count <= self.dim(),
              "[pad] Padding length should be less than or equal to two times the input dimension "
              "but got padding length ",
              pad.size(), " and input of dimension ", self.dim());
  if (mode == "constant") return constant_pad_nd(self, pad, value.value_or(0.0));
  const Mode how = mode_of(mode);
  TENON_CHECK(value.value_or(0) == 0, "[pad] Padding mode \"", mode,
              "\" doesn't take in value argument, got ", value.value_or(0));
  TENON_CHECK_NOT_IMPLEMENTED(
      count >= 1 && count <= 3 && (self.dim() == count + 1 || self.dim() == count + 2),
      "[pad] Padding size ", pad.size(), " is not supported for ", self.dim(),
      "D input tensor: padding that is not constant is of the last one to three dimensions, with "
      "one or two before them; got padding ",
      pad, " of sizes ", self.sizes());
  for (int64_t d = self.dim() - count - 1; how != Mode::Circular && d < self.dim(); ++d) {
    TENON_CHECK(
        self.size(d) > 0, "[pad] Expected ", count + 1, "D or ", count + 2,
        "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
        "input, but got: ",
        self.sizes());
  }
  Tensor result = self;
  for (int64_t i = 0; i < count; ++i) {
    if (pad[2 * i] != 0 || pad[2 * i + 1] != 0)
      result = padded(how, result, self.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]);
  }
  if (result.is_same(self)) return clone(self);
  const bool batched = self.dim() == count + 2;
  return batched && how != Mode::Circular ? in_format(result, self.suggest_memory_format())
                                          : result;
}

}  // namespace tenon
