#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "aten/core/macros.h"

namespace tenon {

/// Kinds of device. The numbers are PyTorch's.
enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14, PrivateUse1 = 20 };

inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;
inline constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

/// "cpu", "cuda", "meta", "privateuseone".
TENON_API const char* to_string(DeviceType type);

using DeviceIndex = int8_t;

/// A kind of device and which one of them; index -1 means the current one.
/// Aligned so that an optional one has four bytes: three travel between calls in two pieces, which
/// the processor cannot hand from the stores on to one load.
class alignas(2) Device {
 public:
  using Type = DeviceType;

  constexpr Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  /// Parses "cpu", "cuda", "cuda:1", "meta"; throws ValueError naming the text otherwise.
  TENON_API Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}
  Device(const std::string& text) : Device(std::string_view(text)) {}

  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ != -1; }
  constexpr bool is_cpu() const { return type_ == kCPU; }
  constexpr bool is_cuda() const { return type_ == kCUDA; }
  constexpr bool is_meta() const { return type_ == kMeta; }
  TENON_API std::string str() const;

  friend constexpr bool operator==(Device a, Device b) {
    return a.type_ == b.type_ && a.index_ == b.index_;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

TENON_API std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace tenon
