#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "aten/core/error.h"
#include "runtime/serialization/load.h"

namespace tenon::serialization {

/// What one file may make its reader use: bytes of memory, and bytes that are worked through. Small
/// files can ask for much of both, by deflated pickles, references and calls.
class Budget {
 public:
  /// For a pickle that takes `packed` of the `file` bytes. Beside 64 MiB, each byte of the pickle
  /// may cost as much as the dearest opcode of one byte does, and tensors may be copied a few
  /// times.
  Budget(uint64_t packed, uint64_t file, const LoadLimits& limits)
      : limit_(limits.budget != 0 ? limits.budget : kFree + kPerByte * packed + kCopies * file),
        left_(limit_), packed_(packed) {}

  /// Error "... takes more than 67108864 bytes (LoadLimits::budget)" when there is not that much
  /// left.
  void spend(uint64_t bytes) {
    if (bytes > left_) exceeded();
    left_ -= bytes;
  }

  // What an object of a pickle costs beside its contents: its node and what the allocator adds.
  static constexpr uint64_t kValue = 64;
  static constexpr uint64_t kNode = 192;
  static constexpr uint64_t kCall = 512;

 private:
  static constexpr uint64_t kFree = uint64_t{64} << 20;
  static constexpr uint64_t kPerByte = kValue + kNode;
  static constexpr uint64_t kCopies = 4;

  [[noreturn]] TENON_API void exceeded() const;

  uint64_t limit_;
  uint64_t left_;
  uint64_t packed_;
};

/// Calls f, the reading of `name`, and turns its lack of memory into an Error.
template <class F>
auto within_memory(const std::string& name, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    tenon::detail::raise<Error>("[load] ", name, ": there is not enough memory to read it");
  } catch (const std::length_error&) {
    tenon::detail::raise<Error>("[load] ", name, ": there is not enough memory to read it");
  }
}

}  // namespace tenon::serialization
