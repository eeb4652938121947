#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon::hub {

/// Where the bytes of a partial file came from: what must still hold for more to be appended.
struct Origin {
  std::string source;     ///< the URL's SHA-256: the URL itself may hold a secret
  std::string validator;  ///< a strong ETag or a Last-Modified date; empty if the server gave none
  std::optional<uint64_t> total;  ///< bytes of the whole file

  bool operator==(const Origin&) const = default;
};

/// The file "<path>.partial" that a download goes to, and "<path>.origin" beside it. What a killed
/// process leaves behind can be continued. To be used under a lock.
class PartialFile {
 public:
  /// Opens what is there, or an empty file. Error if the folder does not exist or cannot be
  /// written.
  explicit PartialFile(std::string path);
  /// Removes both files unless they were committed or are kept.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  uint64_t size() const { return size_; }
  const Origin& origin() const { return origin_; }

  /// Empties the file and notes where the bytes to come are from.
  void restart(Origin origin);
  /// Error with the system's reason, for instance that no space is left.
  void append(const char* data, size_t bytes);
  void read(uint64_t offset, char* data, size_t bytes) const;
  /// Makes the bytes durable and gives the file its name.
  void commit();
  /// Leaves the files for a later download.
  void keep() { keep_ = true; }

 private:
  [[noreturn]] void fail(const char* what) const;
  void read_origin();

  std::string path_;
  std::string partial_path_;
  std::string origin_path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  Origin origin_;
  bool keep_ = false;
};

}  // namespace tenon::hub
