#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <system_error>
#include <tuple>
#include <utility>

#include "aten/core/parallel.h"
#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/io/file_calls.h"
#include "runtime/serialization/io/folder.h"
#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/io/replaced_file.h"
#include "runtime/serialization/io/temporary_file.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 64 * 1024;
/// Starting a thread takes about as long as summing a hundredth of this.
constexpr size_t kParallelBytes = 4 << 20;
/// As much as a disk takes in some milliseconds.
constexpr uint64_t kWritebackBytes = 16 << 20;

/// Gives a file the owner, group and permissions of the one that it will replace, as far as the
/// system lets it. Where the group becomes another, it may do what all others may.
void keep_rights(int descriptor, const struct stat& old) {
  mode_t mode = old.st_mode & 07777;
  if (::fchown(descriptor, old.st_uid, old.st_gid) != 0 &&
      ::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode = (mode & ~static_cast<mode_t>(S_IRWXG | S_ISGID)) | (mode & S_IRWXO) << 3;
  struct stat now;
  // Neither do the rights of another owner become those of this one.
  if (::fstat(descriptor, &now) != 0 || now.st_uid != old.st_uid)
    mode &= ~static_cast<mode_t>(S_ISUID);
  std::ignore = ::fchmod(descriptor, mode);
}

}  // namespace

detail::FileCalls& detail::file_calls() {
  static FileCalls calls;
  return calls;
}

FileSink::FileSink(const std::string& path, Options options)
    : ByteSink("'" + path + "'"), path_(detail::target_of(path)), options_(options),
      freed_seen_(detail::ReplacedFile::freed()) {
  buffer_.reserve(kBufferBytes);
  const std::string parent = detail::parent_of(path_);
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    throw OSError(error ? error.value() : ENOTDIR,
                  "[save] Parent directory " + parent + " does not exist.");
  }
  struct stat old;
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) raise_errno("[save] cannot write ", name_);
    return;
  }
  detail::remove_stale_temporaries(path_);
  // What replaces a file may at no moment be read by more than that may.
  constexpr mode_t kOwnersAlone = 0600, kAsUmaskSays = 0666;
  detail::TemporaryFile file =
      detail::TemporaryFile::create(path_, exists ? kOwnersAlone : kAsUmaskSays);
  temporary_ = std::move(file.path);
  descriptor_ = file.descriptor;
  if (exists) keep_rights(descriptor_, old);
}

FileSink::~FileSink() { discard(); }

void FileSink::discard() noexcept {
  if (descriptor_ < 0) return;
  if (writeback_.valid()) writeback_.wait();
  ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileSink::fail(const char* what) const {
  raise_errno("[save] cannot ", what, " ", name_, " at byte ", flushed_);
}

/// After a call that failed: whether space was short and has become free meanwhile. Leaves errno.
bool FileSink::may_have_space_now() {
  const int code = errno;
  const bool freed = code == ENOSPC && detail::ReplacedFile::wait_until_freed(freed_seen_);
  errno = code;
  return freed;
}

void FileSink::reserve(uint64_t bytes) {
  if (temporary_.empty() || bytes == 0) return;
  do {
    if (detail::file_calls().fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0,
                                       static_cast<off_t>(bytes)) == 0) {
      reserved_ = bytes;
      return;
    }
  } while (may_have_space_now());
  // A system that cannot set space aside finds out while it writes.
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail("reserve the space of");
}

void FileSink::write_out(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done =
        detail::file_calls().write(descriptor_, data, std::min<size_t>(bytes, kWritebackBytes));
    if (done < 0 && (errno == EINTR || may_have_space_now())) continue;
    if (done == 0) errno = EIO;
    if (done <= 0) fail("write");
    data += done;
    bytes -= static_cast<size_t>(done);
    flushed_ += static_cast<uint64_t>(done);
    if (options_.durable && !temporary_.empty() && flushed_ - on_their_way_ >= kWritebackBytes)
      start_writeback();
  }
}

/// commit() has to wait for the disk; what it would only then begin to write begins here. A thread
/// does the telling, for the system takes its time to accept so much.
void FileSink::start_writeback() {
  constexpr std::chrono::seconds kNone(0);
  if (writeback_.valid() && writeback_.wait_for(kNone) != std::future_status::ready) return;
  const auto tell = [descriptor = descriptor_, from = on_their_way_, to = flushed_] {
    // Advice: whether the bytes got there, fsync says.
    std::ignore = ::sync_file_range(descriptor, static_cast<off_t>(from),
                                    static_cast<off_t>(to - from), SYNC_FILE_RANGE_WRITE);
  };
  try {
    writeback_ = std::async(std::launch::async, tell);
    on_their_way_ = flushed_;
  } catch (const std::system_error&) {
    // No thread to be had: fsync writes all.
  }
}

void FileSink::flush() {
  write_out(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void FileSink::append(const char* data, size_t bytes) {
  TENON_CHECK(descriptor_ >= 0, "[save] ", name_, " is closed");
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes > kBufferBytes) {
    write_out(data, bytes);
  } else {
    buffer_.insert(buffer_.end(), data, data + bytes);
  }
}

uint32_t FileSink::append_crc(const char* data, size_t bytes) {
  if (bytes < kParallelBytes || get_num_threads() == 1 || in_parallel_region())
    return ByteSink::append_crc(data, bytes);
  // A file system lets one thread at a time write to a file; the sum needs not wait for it.
  std::future<uint32_t> crc;
  try {
    crc = std::async(std::launch::async, [&] { return crc32(0, data, bytes); });
  } catch (const std::system_error&) {
    return ByteSink::append_crc(data, bytes);  // no thread to be had
  }
  append(data, bytes);
  return crc.get();
}

void FileSink::commit() {
  TENON_CHECK(descriptor_ >= 0, "[save] ", name_, " is closed");
  flush();
  // Gives back what was reserved and not needed.
  if (reserved_ > flushed_ && ::ftruncate(descriptor_, static_cast<off_t>(flushed_)) != 0)
    fail("shorten");
  const auto& calls = detail::file_calls();
  if (writeback_.valid()) writeback_.get();
  const bool durable = options_.durable && !temporary_.empty();
  if (durable && calls.fsync(descriptor_) != 0) fail("sync");
  const detail::ReplacedFile replaced(path_);
  if (!temporary_.empty() && calls.rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    discard();
    errno = code;
    fail("rename");
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close");
  // The new name is durable once the folder is.
  if (durable && !detail::sync_folder(detail::parent_of(path_))) fail("sync the folder of");
}

}  // namespace tenon::serialization
