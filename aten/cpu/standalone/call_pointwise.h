#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>

#include "aten/core/parallel.h"
#include "aten/cpu/standalone/array.h"
#include "aten/cpu/standalone/convert_elements.h"
#include "aten/iterator/pointwise_op.h"
#include "aten/iterator/zero_division.h"

namespace tenon::standalone {

inline constexpr int kMaxDims = 16, kMaxArrays = 12;

inline ScalarType dtype_of(const tenon_array& a) { return static_cast<ScalarType>(a.dtype); }

inline native::ComputeType compute_type_of(ScalarType common) {
  using native::ComputeType;
  return common == kDouble            ? ComputeType::F64
         : common == kLong            ? ComputeType::I64
         : common == kComplexFloat    ? ComputeType::C64
         : common == kComplexDouble   ? ComputeType::C128
         : common == kBool            ? ComputeType::Bool
         : is_integral(common, false) ? ComputeType::I32
                                      : ComputeType::F32;
}

/// One pointwise loop over arrays in memory: broadcast, strided, of dtypes that are converted.
class PointwiseCall {
 public:
  /// Gives the text of an error, or null after the results are written. `arrays`: the outputs,
  /// then the inputs; an output may have no data. Inputs that decide the dtype have the same one.
  static const char* run_alike(const native::PointwiseOp& op,
                               std::initializer_list<const tenon_array*> arrays,
                               std::initializer_list<Scalar> scalars) {
    int k = -static_cast<int>(op.num_outputs);
    const tenon_array *first = nullptr, *some = nullptr;
    for (const tenon_array* a : arrays) {
      if (!a && k < 0) {
        ++k;
        continue;
      }
      if (!a) return fail("[%s] argument %d is null", op.name, k);
      const bool counts = k >= 0 && (op.promoting_inputs >> k & 1) != 0;
      if (counts && first && a->dtype != first->dtype)
        return fail("[%s] tensors must have one dtype, got %s and %s", op.name,
                    to_string(dtype_of(*first)), to_string(dtype_of(*a)));
      if (counts && !first) first = a;
      if (!first) some = a;
      ++k;
    }
    ScalarType common = dtype_of(first ? *first : *some);
    if (schema::makes_floating(op.promotion) && is_integral(common, true)) common = kFloat;
    if (op.promotion == schema::Promotion::kBoolToLong && common == kBool) common = kLong;
    return run(op, common, arrays.begin(), scalars.begin());
  }

  /// The loop of the promoted dtype, `common`.
  static const char* run(const native::PointwiseOp& op, ScalarType common,
                         const tenon_array* const* arrays, const Scalar* scalars) {
    PointwiseCall call;
    call.outputs_ = op.num_outputs;
    call.count_ = op.num_outputs + op.num_inputs;
    call.scalars_ = scalars;
    if (const char* error = call.choose_loop(op, common, arrays)) return error;
    if (const char* error = call.lay_out(op, arrays)) return error;
    if (call.numel_ == 0) return nullptr;
    const int64_t grain = 262144 / (op.cost + 7);
    std::atomic<bool> divided{false};
    const bool integral = is_integral(call.stored_, false);
    parallel_for(0, call.numel_, grain, [&](int64_t begin, int64_t end) {
      call.range(begin, end);
      if (integral && native::take_zero_division()) divided = true;  // of this thread
    });
    return divided ? fail("[%s] integer division by zero", op.name) : nullptr;
  }

 private:
  const char* choose_loop(const native::PointwiseOp& op, ScalarType common,
                          const tenon_array* const* arrays) {
    using native::ComputeType;
    const native::PointwiseLoops* const loops = op.cpu();
    ComputeType compute = compute_type_of(common);
    const auto at = [&](ComputeType type) { return loops->loop[static_cast<int>(type)]; };
    if (compute == ComputeType::Bool && !at(compute)) compute = ComputeType::I32;
    if (compute == ComputeType::I32 && !at(compute)) compute = ComputeType::I64;
    constexpr ScalarType kTypes[] = {kFloat,        kDouble,        kInt, kLong,
                                     kComplexFloat, kComplexDouble, kInt};
    stored_ = kTypes[static_cast<int>(compute)];
    loop_ = at(compute);
    if (!loop_) return fail("[%s] is not implemented for '%s'", op.name, to_string(common));
    bool same = true;
    const ScalarType first = dtype_of(*arrays[count_ - 1]);
    for (int k = 0; k < count_; ++k) {
      dtypes_[k] = stored_;
      sizes_of_[k] = 1;
      if (!arrays[k]) continue;
      dtypes_[k] = dtype_of(*arrays[k]);
      if (!with_type(dtypes_[k], [](auto) {}))
        return fail("[%s] operand %d has dtype %d, which kernels do not know", op.name, k,
                    arrays[k]->dtype);
      sizes_of_[k] = static_cast<int64_t>(element_size(dtypes_[k]));
      same &= dtypes_[k] == first;
    }
    const native::PointwiseLoop narrow = same ? loops->narrow(first, compute) : nullptr;
    if (narrow) loop_ = narrow, stored_ = first;
    return nullptr;
  }

  const char* lay_out(const native::PointwiseOp& op, const tenon_array* const* arrays) {
    while (shown_ < outputs_ && !arrays[shown_]) ++shown_;
    if (shown_ == outputs_) return nullptr;  // nothing is wanted
    const tenon_array& shape = *arrays[shown_];
    numel_ = 1;
    if (shape.ndim > kMaxDims)
      return fail("[%s] a result has %d dimensions, at most 16 are supported", op.name, shape.ndim);
    for (int k = 0; k < count_; ++k) {
      data_[k] = nullptr;
      if (!arrays[k]) continue;
      data_[k] = static_cast<char*>(arrays[k]->data);
      if (arrays[k]->ndim > shape.ndim || (k < outputs_ && arrays[k]->ndim != shape.ndim))
        return fail("[%s] operand %d has %d dimensions, the result %d", op.name, k, arrays[k]->ndim,
                    shape.ndim);
      if (k >= outputs_ && !data_[k] && numel_of(shape) > 0)
        return fail("[%s] operand %d has no data", op.name, k);
    }
    // Dimensions from the last to the first, those of one element left out, merged where all
    // operands allow it.
    for (int d = shape.ndim - 1; d >= 0; --d) {
      const int64_t size = shape.sizes[d];
      int64_t strides[kMaxArrays];
      for (int k = 0; k < count_; ++k) {
        strides[k] = 0;
        if (!arrays[k]) continue;
        const tenon_array& a = *arrays[k];
        const int own = d - (shape.ndim - a.ndim);
        strides[k] = own < 0 || a.sizes[own] == 1 ? 0 : a.strides[own] * sizes_of_[k];
        if (own < 0 || a.sizes[own] == size || (k >= outputs_ && a.sizes[own] == 1)) continue;
        return fail("[%s] operand %d has size %lld in dimension %d, the result %lld", op.name, k,
                    static_cast<long long>(a.sizes[own]), own, static_cast<long long>(size));
      }
      numel_ *= size;
      if (size != 1) add_dim(size, strides);
    }
    if (ndim_ == 0) sizes_[ndim_++] = 1;
    return nullptr;
  }

  static int64_t numel_of(const tenon_array& a) {
    int64_t n = 1;
    for (int d = 0; d < a.ndim; ++d) n *= a.sizes[d];
    return n;
  }

  void add_dim(int64_t size, const int64_t* strides) {
    const auto follows = [&](int d) {
      for (int k = 0; k < count_; ++k) {
        if (strides[k] != strides_[k][d] * sizes_[d]) return false;
      }
      return true;
    };
    if (ndim_ > 0 && follows(ndim_ - 1)) {
      sizes_[ndim_ - 1] *= size;
      return;
    }
    // Before those that are slower in the first result's memory.
    int at = ndim_++;
    for (; at > 0 && std::abs(strides_[shown_][at - 1]) > std::abs(strides[shown_]); --at) {
      sizes_[at] = sizes_[at - 1];
      for (int k = 0; k < count_; ++k) strides_[k][at] = strides_[k][at - 1];
    }
    sizes_[at] = size;
    for (int k = 0; k < count_; ++k) strides_[k][at] = strides[k];
  }

  /// Elements [begin, end) in the order of the dimensions.
  void range(int64_t begin, int64_t end) const {
    while (begin < end) {
      int64_t rest = begin / sizes_[0];
      const int64_t first = begin - rest * sizes_[0];
      const int64_t n = std::min(sizes_[0] - first, end - begin);
      int64_t offsets[kMaxArrays];
      for (int k = 0; k < count_; ++k) offsets[k] = first * strides_[k][0];
      for (int d = 1; d < ndim_; ++d) {
        const int64_t next = rest / sizes_[d], index = rest - next * sizes_[d];
        for (int k = 0; k < count_; ++k) offsets[k] += index * strides_[k][d];
        rest = next;
      }
      char* data[kMaxArrays];
      for (int k = 0; k < count_; ++k) data[k] = data_[k] ? data_[k] + offsets[k] : nullptr;
      line(data, n);
      begin += n;
    }
  }

  bool is_direct(int k) const {
    const int64_t stride = strides_[k][0];
    return !data_[k] ||
           (dtypes_[k] == stored_ && (stride == sizes_of_[k] || (k >= outputs_ && stride == 0)));
  }

  void line(char* const* data, int64_t n) const {
    bool direct = true;
    for (int k = 0; k < count_; ++k) direct &= n == 1 ? dtypes_[k] == stored_ : is_direct(k);
    void* out[kMaxArrays];
    const void* in[kMaxArrays];
    int64_t steps[kMaxArrays];
    for (int k = 0; k < count_; ++k) {
      if (k < outputs_) {
        out[k] = data[k];
      } else {
        in[k - outputs_] = data[k];
        steps[k - outputs_] = strides_[k][0] != 0;
      }
    }
    if (!direct) return chunks(data, n, steps);
    const int64_t head = std::min(n, unaligned_head(data, n));
    loop_(out, in, steps, scalars_, head, false);
    if (head == n) return;
    for (int k = 0; k < outputs_; ++k) out[k] = data[k] + head * sizes_of_[k];
    for (int k = outputs_; k < count_; ++k) in[k - outputs_] = data[k] + head * strides_[k][0];
    loop_(out, in, steps, scalars_, n - head, true);
    hwy::FlushStream();
  }

  /// Elements before those that are written past the caches: results that are too large to be
  /// found there later, and of one alignment.
  int64_t unaligned_head(char* const* data, int64_t n) const {
    constexpr int64_t kStreamBytes = int64_t{16} << 20;
    const auto place = [&](int k) {
      return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data[k]) %
                                  uintptr_t{native::kStreamAlignment});
    };
    for (int k = 0; k < outputs_; ++k) {
      const bool large = numel_ * sizes_of_[k] >= kStreamBytes;
      if (!large || !data[k] || sizes_of_[k] != sizes_of_[0] || place(k) != place(0)) return n;
    }
    const int64_t bytes = (native::kStreamAlignment - place(0)) % native::kStreamAlignment;
    return bytes % sizes_of_[0] == 0 ? bytes / sizes_of_[0] : n;
  }

  /// By way of buffers in the first cache.
  [[gnu::noinline]] void chunks(char* const* data, int64_t n, const int64_t* steps) const {
    constexpr int64_t kBytes = 4096;
    const auto width = static_cast<int64_t>(element_size(stored_));
    const int64_t chunk = kBytes / width;
    alignas(64) char buffers[kMaxArrays][kBytes];
    void* out[kMaxArrays];
    const void* in[kMaxArrays];
    for (int64_t at = 0; at < n; at += chunk) {
      const int64_t count = std::min(chunk, n - at);
      for (int k = 0; k < count_; ++k) {
        const int64_t stride = strides_[k][0];
        char* const p = data[k] ? data[k] + at * stride : nullptr;
        const bool direct = is_direct(k);
        if (k < outputs_) {
          out[k] = direct ? p : buffers[k];
          continue;
        }
        in[k - outputs_] = direct ? p : buffers[k];
        if (!direct && (stride != 0 || at == 0))
          convert(buffers[k], stored_, width, p, dtypes_[k], stride, stride != 0 ? count : 1);
      }
      loop_(out, in, steps, scalars_, count, false);
      for (int k = 0; k < outputs_; ++k) {
        if (out[k] == buffers[k])
          convert(data[k] + at * strides_[k][0], dtypes_[k], strides_[k][0], buffers[k], stored_,
                  width, count);
      }
    }
  }

  int outputs_ = 0, count_ = 0, ndim_ = 0;
  int shown_ = 0;  ///< the first output that is wanted: it has the shape
  int64_t numel_ = 0;
  native::PointwiseLoop loop_ = nullptr;
  ScalarType stored_ = ScalarType::Undefined;  ///< of the elements that the loop reads
  const Scalar* scalars_ = nullptr;
  ScalarType dtypes_[kMaxArrays];
  int64_t sizes_of_[kMaxArrays];  ///< of an element, in bytes
  char* data_[kMaxArrays];
  int64_t sizes_[kMaxDims];                ///< fastest first
  int64_t strides_[kMaxArrays][kMaxDims];  ///< in bytes
};

/// `to` = `from`, broadcast, or 0 without it.
inline const char* copy(const char* op, const tenon_array* to, const tenon_array* from) {
  int64_t numel = 1;
  for (int d = 0; d < to->ndim; ++d) numel *= to->sizes[d];
  for (int64_t i = 0; i < numel; ++i) {
    int64_t rest = i, at = 0, of = 0;
    for (int d = to->ndim - 1; d >= 0; --d) {
      const int64_t index = rest % to->sizes[d];
      rest /= to->sizes[d];
      at += index * to->strides[d];
      const int own = from ? d - (to->ndim - from->ndim) : -1;
      if (own >= 0 && from->sizes[own] != 1 && from->sizes[own] != to->sizes[d])
        return fail("[%s] a gradient does not have the result's shape", op);
      if (own >= 0 && from->sizes[own] != 1) of += index * from->strides[own];
    }
    const auto size = static_cast<int64_t>(element_size(dtype_of(*to)));
    const double zero = 0;
    if (from && from->dtype != to->dtype)
      return fail("[%s] a gradient is of another dtype than the result's", op);
    char* const target = static_cast<char*>(to->data) + at * size;
    if (from) {
      std::memcpy(target, static_cast<const char*>(from->data) + of * size, size);
    } else {
      convert(target, dtype_of(*to), size, &zero, kDouble, 8, 1);
    }
  }
  return nullptr;
}

}  // namespace tenon::standalone
