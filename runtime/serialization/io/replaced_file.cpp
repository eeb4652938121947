#include "runtime/serialization/io/replaced_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace tenon::serialization::detail {
namespace {

constexpr off_t kLargeBytes = 16 << 20;
/// In a process that forked meanwhile the threads are gone, and nobody would report.
constexpr std::chrono::seconds kLongestWait(10);

struct Pending {
  std::mutex mutex;
  std::condition_variable changed;
  int files = 0;
  std::atomic<uint64_t> freed = 0;  // read without the mutex, which a fork may leave locked
};

Pending& pending() {
  static Pending* instance = new Pending;  // threads may outlive the program's static objects
  return *instance;
}

void free_in_background(int descriptor) {
  {
    std::lock_guard lock(pending().mutex);
    ++pending().files;
  }
  const auto free = [descriptor]() noexcept {
    ::close(descriptor);
    std::lock_guard lock(pending().mutex);
    --pending().files;
    ++pending().freed;
    pending().changed.notify_all();
  };
  try {
    std::thread(free).detach();
  } catch (...) {
    free();  // no thread to be had
  }
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path) noexcept
    : descriptor_(::open(path.c_str(), O_PATH | O_CLOEXEC)) {
  struct stat info;
  if (descriptor_ >= 0 && (::fstat(descriptor_, &info) != 0 || info.st_size < kLargeBytes)) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ >= 0) free_in_background(descriptor_);
}

uint64_t ReplacedFile::freed() { return pending().freed; }

bool ReplacedFile::wait_until_freed(uint64_t& seen) {
  std::unique_lock lock(pending().mutex);
  pending().changed.wait_for(lock, kLongestWait, [] { return pending().files == 0; });
  const uint64_t freed = pending().freed;
  return std::exchange(seen, freed) != freed;
}

}  // namespace tenon::serialization::detail
