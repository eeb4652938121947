#pragma once

#include <cstdint>
#include <string>

namespace tenon::serialization::detail {

/// Keeps a file that is about to lose its last name alive: freeing the space of a large one takes
/// the system as long as writing a fifth of it, which whoever replaces it need not wait for. The
/// destructor lets a thread of its own do it.
class ReplacedFile {
 public:
  /// Nothing is kept if there is no such file or it is small.
  explicit ReplacedFile(const std::string& path) noexcept;
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile();

  /// How many files' space has been freed so far.
  static uint64_t freed();
  /// Waits until the space of all files replaced so far is free. False if no more than `seen` of
  /// them were freed, so that there is no use in trying again; `seen` is brought up to date.
  static bool wait_until_freed(uint64_t& seen);

 private:
  int descriptor_ = -1;
};

}  // namespace tenon::serialization::detail
