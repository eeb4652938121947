#pragma once

#include <algorithm>

#include "aten/iterator/convert.h"
#include "aten/iterator/plan.h"

namespace tenon::native {

/// The dtype whose memory a compute type's loop works on.
inline ScalarType to_scalar_type(ComputeType type) {
  constexpr ScalarType kTypes[] = {kFloat,        kDouble,        kInt, kLong,
                                   kComplexFloat, kComplexDouble, kInt};
  return kTypes[static_cast<int>(type)];
}

/// Runs a loop over rows whose operands may be strided or of other dtypes, chunk by chunk.
class RowRunner {
 public:
  /// `storage`: the dtype of the elements that the loop reads and writes.
  RowRunner(const PointwisePlan& plan, PointwiseLoop loop, ScalarType storage,
            const Scalar* scalars, bool stream)
      : plan_(plan), loop_(loop), scalars_(scalars), stream_(stream) {
    compute_size_ = static_cast<int64_t>(element_size(storage));
    chunk_ = std::min(kChunk, kChunkBytes / compute_size_);
    // The hardware foresees two input streams well; more need short turns and asking ahead.
    ask_ahead_ = plan.num_inputs >= 3;
    if (stream && ask_ahead_) chunk_ /= 4;
    for (int k = 0; k < plan.num_operands(); ++k) {
      const ScalarType dtype = plan.operands[k].dtype;
      size_[k] = static_cast<int64_t>(element_size(dtype));
      convert_[k] = narrow_[k] = widen_[k] = nullptr;
      const ScalarType round_to = plan.operands[k].round_to;
      const bool passes = round_to != ScalarType::Undefined;
      if (!plan.operands[k].data || (dtype == storage && !passes)) continue;
      convert_[k] = k < plan.num_outputs ? converter(dtype, storage) : converter(storage, dtype);
      if (passes)
        narrow_[k] = converter(round_to, storage), widen_[k] = converter(storage, round_to);
    }
  }

  void operator()(char* const* data, const int64_t* strides, int64_t n) {
    const int outputs = plan_.num_outputs, operands = plan_.num_operands();
    void* out[kMaxOperands];
    const void* in[kMaxOperands];
    int64_t steps[kMaxOperands];
    bool direct = true;
    for (int k = 0; k < operands; ++k) {
      const bool is_output = k < outputs;
      if (is_output) {
        out[k] = data[k];
      } else {
        in[k - outputs] = data[k];
        steps[k - outputs] = strides[k] != 0;
      }
      direct &=
          !data[k] || (!convert_[k] && (strides[k] == size_[k] || (strides[k] == 0 && !is_output)));
    }
    if (!direct) return chunks(data, strides, n, steps);
    if (stream_) {
      const int64_t head = std::min(n, unaligned_head(out));
      if (head >= 0) {
        loop_(out, in, steps, scalars_, head, false);
        for (int k = 0; k < outputs; ++k) out[k] = static_cast<char*>(out[k]) + head * size_[k];
        for (int k = outputs; k < operands; ++k) in[k - outputs] = data[k] + head * strides[k];
        return loop_(out, in, steps, scalars_, n - head, true);
      }
    }
    loop_(out, in, steps, scalars_, n, false);
  }

 private:
  /// Elements before the outputs' common alignment; -1 if they have none.
  int64_t unaligned_head(void* const* out) const {
    const auto place = [&](int k) {
      return static_cast<int64_t>(reinterpret_cast<uintptr_t>(out[k]) % kStreamAlignment);
    };
    if (plan_.num_outputs == 0) return -1;
    for (int k = 0; k < plan_.num_outputs; ++k) {
      if (!out[k] || size_[k] != size_[0] || place(k) != place(0)) return -1;
    }
    const int64_t bytes = (kStreamAlignment - place(0)) % kStreamAlignment;
    return bytes % size_[0] == 0 ? bytes / size_[0] : -1;
  }

  // A chunk and its converted or packed operands stay in the first-level cache.
  static constexpr int64_t kChunk = 1024;
  static constexpr int64_t kChunkBytes = 4096;

  TENON_NOINLINE void chunks(char* const* data, const int64_t* strides, int64_t n,
                             const int64_t* steps) {
    const int outputs = plan_.num_outputs, operands = plan_.num_operands();
    alignas(64) char buffers[kMaxOperands][kChunkBytes];
    alignas(64) char packed[kChunk * 8];  // strided elements that still need conversion
    void* out[kMaxOperands];
    const void* in[kMaxOperands];
    for (int64_t at = 0; at < n; at += chunk_) {
      const int64_t count = std::min(chunk_, n - at);
      for (int k = outputs; k < operands; ++k) {
        const char* p = data[k] + at * strides[k];
        const bool dense = strides[k] == size_[k] || strides[k] == 0;
        in[k - outputs] = p;
        // Converting here and reading there looks random to the hardware as well.
        if (strides[k] == size_[k] && (ask_ahead_ || convert_[k]))
          ask(p + count * size_[k], count * size_[k]);
        if (dense && !convert_[k]) continue;
        in[k - outputs] = buffers[k];
        if (strides[k] == 0) {
          if (at > 0) continue;
          convert_[k](buffers[k], p, 1);
        } else if (!convert_[k]) {
          gather_2d(buffers[k], p, size_[k], count, 1, strides[k], 0);
        } else if (dense) {
          convert_[k](buffers[k], p, count);
        } else {
          gather_converted(buffers[k], p, k, count, strides[k], packed);
        }
        if (narrow_[k]) round_to_dtype(k, buffers[k], strides[k] == 0 ? 1 : count, packed);
      }
      for (int k = 0; k < outputs; ++k) {
        const bool dense = strides[k] == size_[k] && !convert_[k] && !stream_;
        out[k] = !data[k] ? nullptr : dense ? data[k] + at * strides[k] : buffers[k];
      }
      loop_(out, in, steps, scalars_, count, false);
      for (int k = 0; k < outputs; ++k) {
        if (out[k] != buffers[k]) continue;
        if (narrow_[k]) round_to_dtype(k, buffers[k], count, packed);
        store(data[k] + at * strides[k], k, count, strides[k], out[k], packed);
      }
    }
  }

  static void ask(const char* p, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i);
  }

  /// Values of the compute type become those that the operand's other dtype has.
  void round_to_dtype(int k, char* values, int64_t count, char* packed) const {
    narrow_[k](packed, values, count);
    widen_[k](values, packed, count);
  }

  void gather_converted(char* to, const char* from, int k, int64_t count, int64_t stride,
                        char* packed) const {
    const int64_t step = kChunk * 8 / 16;  // fits whatever the element size
    for (int64_t i = 0; i < count; i += step) {
      const int64_t m = std::min(step, count - i);
      gather_2d(packed, from + i * stride, size_[k], m, 1, stride, 0);
      convert_[k](to + i * compute_size_, packed, m);
    }
  }

  void store(char* to, int k, int64_t count, int64_t stride, const void* from, char* packed) const {
    const int64_t step = kChunk * 8 / 16;
    const bool dense = stride == size_[k];
    if (dense && !stream_) return convert_[k](to, from, count);
    if (!convert_[k]) {
      if (dense) return stream_copy(to, from, count * size_[k]);
      return scatter_2d(to, from, size_[k], count, 1, stride, 0);
    }
    for (int64_t i = 0; i < count; i += step) {
      const int64_t m = std::min(step, count - i);
      convert_[k](packed, static_cast<const char*>(from) + i * compute_size_, m);
      if (dense) {
        stream_copy(to + i * stride, packed, m * size_[k]);
      } else {
        scatter_2d(to + i * stride, packed, size_[k], m, 1, stride, 0);
      }
    }
  }

  const PointwisePlan& plan_;
  const PointwiseLoop loop_;
  const Scalar* const scalars_;
  const bool stream_;
  bool ask_ahead_;
  int64_t compute_size_;
  int64_t chunk_;
  int64_t size_[kMaxOperands];
  Converter convert_[kMaxOperands];
  Converter narrow_[kMaxOperands];
  Converter widen_[kMaxOperands];
};

}  // namespace tenon::native
