#include "runtime/distributed/stores/file_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed {
namespace {

constexpr std::string_view kMagic = "tenon store 1\n";
constexpr Milliseconds kPoll{10};

}  // namespace

struct FileStore::State {
  std::string path;
  int world_size = 0;
  int descriptor = -1;
  std::mutex mutex;      // flock() counts for the open file, which threads share
  off_t read_until = 0;  // what `map` reflects
  detail::StoreMap map;

  [[noreturn]] void fail(const char* what) const {
    detail::raise<DistStoreError>("[FileStore] cannot ", what, " '", path,
                                  "': ", std::strerror(errno));
  }

  struct Lock {
    explicit Lock(State& s) : guard(s.mutex), descriptor(s.descriptor) {
      int result;
      do result = ::flock(descriptor, LOCK_EX);
      while (result != 0 && errno == EINTR);
      if (result != 0) s.fail("lock");
    }
    ~Lock() { ::flock(descriptor, LOCK_UN); }
    std::lock_guard<std::mutex> guard;
    int descriptor;
  };

  std::string read_from(off_t offset) const {
    struct stat status;
    if (::fstat(descriptor, &status) != 0) fail("look at");
    TENON_CHECK_AS(DistStoreError, status.st_size >= offset, "[FileStore] '", path,
                   "' has become shorter while it was in use");
    std::string bytes(static_cast<size_t>(status.st_size - offset), '\0');
    size_t got = 0;
    while (got < bytes.size()) {
      const ssize_t n = ::pread(descriptor, bytes.data() + got, bytes.size() - got,
                                offset + static_cast<off_t>(got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("read");
      if (n == 0) break;
      got += static_cast<size_t>(n);
    }
    bytes.resize(got);
    return bytes;
  }

  /// Brings the map up to date. The lock is held.
  void catch_up() {
    const std::string bytes = read_from(read_until);
    size_t at = 0;
    if (read_until == 0) {
      const size_t known = std::min(bytes.size(), kMagic.size());
      TENON_CHECK_AS(DistStoreError, bytes.compare(0, known, kMagic, 0, known) == 0,
                     "[FileStore] '", path, "' exists and is not a store; name another file");
      if (bytes.size() < kMagic.size()) return;
      at = kMagic.size();
    }
    while (bytes.size() - at >= 4) {
      const uint32_t size = detail::get_u32(bytes.data() + at);
      if (bytes.size() - at - 4 < size) break;  // cut off: its writer was killed
      detail::carry_out(map, detail::decode(std::string_view(bytes).substr(at + 4, size)));
      at += 4 + size;
    }
    read_until += static_cast<off_t>(at);
  }

  /// Adds a record after what has been read. The lock is held.
  void add_record(const detail::StoreRequest& request) {
    std::string bytes(read_until == 0 ? kMagic : "");
    const std::string body = detail::encode(request);
    detail::put_u32(bytes, static_cast<uint32_t>(body.size()));
    bytes += body;
    if (::ftruncate(descriptor, read_until) != 0) fail("write");
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                                 read_until + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        if (::ftruncate(descriptor, read_until) != 0) errno = error;
        fail("write");
      }
      done += static_cast<size_t>(n);
    }
    read_until += static_cast<off_t>(bytes.size());
  }
};

FileStore::FileStore(std::string path, int world_size, Milliseconds timeout)
    : Store(timeout), state_(new State) {
  state_->path = std::move(path);
  state_->world_size = world_size;
  state_->descriptor = ::open(state_->path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (state_->descriptor < 0) state_->fail("open");
  try {
    const State::Lock lock(*state_);
    state_->catch_up();
  } catch (...) {
    ::close(state_->descriptor);
    throw;
  }
}

FileStore::~FileStore() {
  try {
    if (state_->world_size > 0 && add("store/gone", 1) == state_->world_size)
      ::unlink(state_->path.c_str());
  } catch (const Error&) {
    // The file stays: there is nobody left who could be told.
  }
  ::close(state_->descriptor);
}

bool FileStore::wait_for(const std::vector<std::string>& keys, Milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    {
      const State::Lock lock(*state_);
      state_->catch_up();
      if (detail::has_all(state_->map, keys)) return true;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
    detail::check_interrupt();
    std::this_thread::sleep_for(kPoll);
  }
}

std::string FileStore::execute(const detail::StoreRequest& request) {
  const State::Lock lock(*state_);
  state_->catch_up();
  if (!detail::is_write(request.command)) return detail::carry_out(state_->map, request);
  // Tried on the map first: what is refused must not reach the file.
  std::string answer = detail::carry_out(state_->map, request);
  try {
    state_->add_record(request);
  } catch (...) {
    state_->map.clear();
    state_->read_until = 0;
    throw;
  }
  return answer;
}

}  // namespace tenon::distributed
