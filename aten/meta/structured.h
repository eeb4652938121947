#pragma once

#include <initializer_list>

#include "aten/core/thread_state.h"
#include "aten/meta/tensor_spec.h"

/// What the generated wrappers of structured operators share.
namespace tenon::structured {

namespace detail {
TENON_API void forget_base(TensorImpl& result);
}

/// A fresh, uninitialised tensor as the spec says.
TENON_API TensorBase allocate(const TensorSpec& spec);

/// The tensor a kernel shall write for `out`: `out` itself, resized where it must be, or a
/// temporary where `out` has another dtype, is not laid out as the kernel expects or shares memory
/// with an input. Errors: "[op] Expected out tensor to have dtype float, but got double instead",
/// or where the spec lets it cast "[op] result type Float can't be cast to the desired output type
/// Long"; memory shared with an input where the spec forbids it; another device.
TENON_API TensorBase prepare_out(const char* op, const TensorBase& out, const TensorSpec& spec,
                                 ArrayRef<const TensorBase*> inputs);
/// The same for a result that replaces `self`, whose sizes must be the spec's: a kernel may be
/// given `self` as its output. `others` are the operator's inputs but `self`.
TENON_API TensorBase prepare_inplace(const char* op, const TensorBase& self, const TensorSpec& spec,
                                     ArrayRef<const TensorBase*> others);
/// Copies a temporary into place and counts the change.
TENON_API void finish(const TensorBase& out, const TensorBase& written);

/// Makes a result that a kernel gave as a view of a temporary a tensor of its own, and one that it
/// has just filled one without changes: how a result came to be does not count.
inline void own_result(const TensorBase& result) {
  if (!result.defined()) return;
  TensorImpl& impl = *result.unsafe_impl();
  if (TENON_UNLIKELY(impl.base)) detail::forget_base(impl);
  if (impl.refs.count() == 1 && !impl.shared_version)
    impl.own_version.store(0, std::memory_order_relaxed);
}

/// "[op] Expected out tensor to have dtype long int, but got int instead" unless it has the dtype.
TENON_API void check_out_dtype(const char* op, const TensorBase& out, ScalarType dtype);
/// Resizes `out` for a result of the given sizes and dtype, which is then copied into it.
TENON_API void resize_out(const char* op, const TensorBase& out, IntArrayRef sizes,
                          ScalarType dtype);
/// "[op] lo and hi are both written, so they must not share memory", unless the results of a call
/// lie apart.
TENON_API void check_outs_apart(const char* op, std::initializer_list<const TensorBase*> outs,
                                const char* const* names);
/// "[op] output with shape [3] doesn't match the broadcast shape [2, 3]" unless the sizes agree;
/// "[op] result type Float can't be cast to the desired output type Int" unless self can hold
/// dtype.
TENON_API void check_inplace(const char* op, const TensorBase& self, IntArrayRef sizes,
                             ScalarType dtype);

/// Whether a call with these keys may record a graph on this thread: its own, or in forward mode
/// that of its tangents. Then an in-place form that computes the functional one and copies computes
/// from a copy of self: the graph keeps that.
inline bool is_recorded(DispatchKeySet keys) {
  return (keys.layers & ~thread_state.skipped_layers &
          (DispatchKeySet(DispatchLayer::Autograd).layers |
           DispatchKeySet(DispatchLayer::ForwardGrad).layers)) != 0;
}

}  // namespace tenon::structured
