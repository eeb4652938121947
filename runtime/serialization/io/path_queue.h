#pragma once

#include <string>

namespace tenon::serialization::detail {

/// A place in the queue of this process's saves to one file, from the constructor to the
/// destructor: what was begun last is what stays.
class PathQueue {
 public:
  explicit PathQueue(const std::string& path);
  ~PathQueue();
  PathQueue(const PathQueue&) = delete;
  PathQueue& operator=(const PathQueue&) = delete;

  /// Waits until all that came before have gone.
  void wait() const;

 private:
  std::string key_;
};

}  // namespace tenon::serialization::detail
