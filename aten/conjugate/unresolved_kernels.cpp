#include "aten/conjugate/unresolved.h"
#include "aten/conjugate/unresolved_fallback.h"
#include "aten/registration/library.h"
#include "tenon/native/resize.h"
#include "tenon/native/resize_as.h"
#include "tenon/ops/_conj_physical.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/neg.h"

namespace tenon::unresolved {
namespace {

/// The elements in memory, as a tensor that no gradient goes to.
Tensor in_memory(const Tensor& t) {
  Tensor plain(make_detached(t));
  plain.unsafe_impl()->set_unresolved(false, false);
  return plain;
}

/// Of one dtype and shape in one pass. Otherwise the elements of memory are copied, and then
/// conjugated or negated in place.
Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor to = in_memory(self);
  const Tensor from = in_memory(src);
  // Only complex numbers have conjugates: neither real parts nor what real numbers become do.
  const bool conj = self.is_complex() && src.is_complex() && self.is_conj() != src.is_conj();
  const bool neg = self.is_neg() != src.is_neg() && self.scalar_type() != kBool;
  const bool direct = self.scalar_type() == src.scalar_type() && self.sizes() == src.sizes() &&
                      self.device() == src.device() && !is_storage_only(self.scalar_type());
  if (direct && conj != neg) {
    conj ? ops::_conj_physical_out::call(from, to) : ops::neg_out::call(from, to);
    return self;
  }
  ops::copy_::call(to, from, non_blocking);
  if (conj) ops::_conj_physical_out::call(to, to);
  if (neg) ops::neg_::call(to);
  return self;
}

// These change what the tensor shows of its memory, whatever its bits.
Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> format) {
  return native::resize_(self, size, format);
}
Tensor& resize_as_(Tensor& self, const Tensor& other, std::optional<MemoryFormat> format) {
  return native::resize_as_(self, other, format);
}

Library* make_kernels() {
  auto* const library = new Library("aten", Library::IMPL);
  library->fallback(DispatchKey::Unresolved, fallback);
  library->impl("copy_", DispatchKey::Unresolved, TENON_FN(copy_));
  library->impl("resize_", DispatchKey::Unresolved, TENON_FN(resize_));
  library->impl("resize_as_", DispatchKey::Unresolved, TENON_FN(resize_as_));
  return library;
}

}  // namespace

void register_kernels() {
  // Kept for the life of the program: tensors may outlive static objects.
  static Library* const library = make_kernels();
  static_cast<void>(library);
}

Tensor with_bits(const Tensor& self, bool conj, bool neg) {
  if (conj || neg) register_kernels();
  Tensor view(make_view(self, self.sizes(), self.strides(), self.storage_offset()));
  view.unsafe_impl()->set_unresolved(conj, neg);
  return view;
}

}  // namespace tenon::unresolved
