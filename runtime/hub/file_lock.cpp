#include "runtime/hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{50};

/// Whether the lock was free.
bool try_flock(int descriptor, const std::string& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  TENON_CHECK(errno == EWOULDBLOCK || errno == EINTR, "[hub] cannot lock '", path,
              "': ", std::strerror(errno));
  return false;
}

/// Whether the open file still has the name; its last holder may have removed it.
bool is_named(int descriptor, const std::string& path) {
  struct stat open_file, named_file;
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

}  // namespace

// Waiting in the kernel could not be interrupted by whoever has another way to handle signals.
FileLock::FileLock(std::string path, const std::function<void()>& on_wait,
                   const std::function<void()>& check_interrupt)
    : path_(std::move(path)) {
  bool waited = false;
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    TENON_CHECK(descriptor_ >= 0, "[hub] cannot create the lock file '", path_,
                "': ", std::strerror(errno));
    try {
      while (!try_flock(descriptor_, path_)) {
        if (on_wait && !std::exchange(waited, true)) on_wait();
        if (check_interrupt) check_interrupt();
        std::this_thread::sleep_for(kBetweenTries);
      }
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    if (is_named(descriptor_, path_)) return;
    ::close(descriptor_);
  }
}

FileLock::~FileLock() {
  // Removed while it is held: whoever waits for it finds the name gone and tries again.
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace tenon::hub
