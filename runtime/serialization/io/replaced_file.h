#pragma once

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

  /// Waits until the space of all files replaced so far is free. False if it already was, so that
  /// there is no use in trying again.
  static bool wait_until_freed();

 private:
  int descriptor_ = -1;
};

}  // namespace tenon::serialization::detail
