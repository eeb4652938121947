#pragma once

#include <functional>
#include <string>

namespace tenon::hub {

/// Holds a lock that one process, and one thread of it, can have at a time; waits for it if need
/// be. The kernel releases the lock of a process that dies, so the file that a killed process
/// leaves behind locks nothing.
class FileLock {
 public:
  /// `path` is a file made for the lock alone, removed with it. `on_wait` is called if somebody
  /// else has the lock, `check_interrupt` again and again until it is free; what they throw ends
  /// the wait. Error if the file cannot be made or locked.
  explicit FileLock(std::string path, const std::function<void()>& on_wait = {},
                    const std::function<void()>& check_interrupt = {});
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace tenon::hub
