#include "runtime/hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

int lock_waiting(int descriptor, int operation) {
  int result;
  do result = ::flock(descriptor, operation);
  while (result != 0 && errno == EINTR);
  return result;
}

/// Whether the open file still has the name; its last holder may have removed it.
bool is_named(int descriptor, const std::string& path) {
  struct stat open_file, named_file;
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

}  // namespace

FileLock::FileLock(std::string path, const std::function<void()>& on_wait)
    : path_(std::move(path)) {
  bool waited = false;
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    TENON_CHECK(descriptor_ >= 0, "[hub] cannot create the lock file '", path_,
                "': ", std::strerror(errno));
    int result = lock_waiting(descriptor_, LOCK_EX | LOCK_NB);
    try {
      if (result != 0 && errno == EWOULDBLOCK) {
        if (on_wait && !std::exchange(waited, true)) on_wait();
        result = lock_waiting(descriptor_, LOCK_EX);
      }
      TENON_CHECK(result == 0, "[hub] cannot lock '", path_, "': ", std::strerror(errno));
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
