#include "aten/iterator/element_copy.h"

#include <array>

#include "aten/iterator/blocks.h"
#include "aten/iterator/host_copy.h"

namespace tenon::native {
namespace {

constexpr int64_t kChunk = 1024;

std::array<DeviceCopy, kNumBackends> device_copies{};

/// Copies runs of elements, converting where the dtypes differ.
class CopyRow {
 public:
  CopyRow(const PointwisePlan& plan, bool stream)
      : to_size_(static_cast<int64_t>(element_size(plan.operands[0].dtype))),
        from_size_(static_cast<int64_t>(element_size(plan.operands[1].dtype))), stream_(stream) {
    const ScalarType to = plan.operands[0].dtype, from = plan.operands[1].dtype;
    if (to != from) convert_ = converter(to, from);
  }

  /// Rows that lie apart, to be side by side.
  bool block(char* const* data, const int64_t* stride0, const int64_t* stride1, int64_t n0,
             int64_t n1) const {
    const bool dense = stride0[0] == to_size_ && stride0[1] == from_size_;
    const int64_t bytes = n0 * to_size_;
    if (convert_ || !dense || stride1[0] != bytes) return false;
    if (!stream_) {
      gather_2d(data[0], data[1], to_size_, n0, n1, to_size_, stride1[1]);
      return true;
    }
    alignas(64) char packed[kChunk * 16];
    const int64_t rows = static_cast<int64_t>(sizeof(packed)) / bytes;
    if (rows < 2) return false;
    for (int64_t j = 0; j < n1; j += rows) {
      const int64_t count = std::min(rows, n1 - j);
      gather_2d(packed, data[1] + j * stride1[1], to_size_, n0, count, to_size_, stride1[1]);
      stream_copy(data[0] + j * bytes, packed, count * bytes);
    }
    return true;
  }

  void operator()(char* const* data, const int64_t* strides, int64_t n) const {
    char* to = data[0];
    const char* from = data[1];
    const bool dense = strides[0] == to_size_ && strides[1] == from_size_;
    if (dense && !convert_) {
      if (stream_) return stream_copy(to, from, n * to_size_);
      std::memcpy(to, from, n * to_size_);
      return;
    }
    if (dense && !stream_) return convert_(to, from, n);
    if (!convert_ && strides[0] == to_size_) {
      return gather_2d(to, from, to_size_, n, 1, strides[1], 0);
    }
    alignas(64) char packed[kChunk * 16];
    alignas(64) char converted[kChunk * 16];
    for (int64_t at = 0; at < n; at += kChunk) {
      const int64_t count = std::min(kChunk, n - at);
      const char* values = from + at * strides[1];
      if (strides[1] != from_size_) {
        gather_2d(packed, values, from_size_, count, 1, strides[1], 0);
        values = packed;
      }
      if (convert_) {
        convert_(converted, values, count);
        values = converted;
      }
      if (strides[0] == to_size_) {
        if (stream_) {
          stream_copy(to + at * to_size_, values, count * to_size_);
        } else {
          std::memcpy(to + at * to_size_, values, count * to_size_);
        }
      } else {
        scatter_2d(to + at * strides[0], values, to_size_, count, 1, strides[0], 0);
      }
    }
  }

 private:
  const int64_t to_size_;
  const int64_t from_size_;
  const bool stream_;
  Converter convert_ = nullptr;
};

/// Any copy of which one side is not on the CPU.
void copy_between_devices(const TensorBase& dst, const TensorBase& src) {
  const Device device = dst.is_cpu() ? src.device() : dst.device();
  const bool one_library =
      dst.is_cpu() || src.is_cpu() || dst.device().type() == src.device().type();
  if (const DeviceCopy copy = device_copies[static_cast<size_t>(backend_of(device.type()))];
      copy && one_library) {
    return copy(dst, src);
  }
  copy_through_host(dst, src);
}

/// Whether copying would change nothing: the same elements of the same memory.
bool is_itself(const TensorBase& dst, const TensorBase& src) {
  return dst.is_same(src) ||
         (dst.is_alias_of(src) && dst.storage_offset() == src.storage_offset() &&
          dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() &&
          dst.strides() == src.strides());
}

}  // namespace

void register_device_copy(DeviceType type, DeviceCopy copy) {
  device_copies[static_cast<size_t>(backend_of(type))] = copy;
}

void copy(const TensorBase& dst, const TensorBase& src) {
  if (is_itself(dst, src)) return;
  const TensorBase* to = &dst;
  const TensorBase* from = &src;
  if (dst.sizes() != src.sizes()) {
    const TensorBase* both[] = {to, from};
    const DimVector shape = broadcast_shape(both);
    TENON_CHECK(dst.sizes() == IntArrayRef(shape), "output with shape ", dst.sizes(),
                " doesn't match the broadcast shape ", shape);
  }
  if (!(dst.is_cpu() && src.is_cpu())) return copy_between_devices(dst, src);
  check_no_internal_overlap(dst);
  check_no_partial_overlap(dst, src);
  PointwisePlan plan;
  make_plan(plan, dst.sizes(), to, from);
  const int64_t bytes = dst.numel() * dst.itemsize();
  const bool stream = bytes >= kStreamBytes && !dst.is_alias_of(src);
  for_each_row(
      plan, 32768 * 8 / std::max<int64_t>(dst.itemsize(), src.itemsize()), stream,
      [&](bool direct) { return CopyRow(plan, direct); },
      [&](const CopyRow&) {
        if (stream) stream_fence();
      });
}

}  // namespace tenon::native
