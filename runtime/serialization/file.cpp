#include "runtime/serialization/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "aten/core/error.h"

namespace tenon::serialization {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

InputFile::InputFile(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  TENON_CHECK(descriptor_ >= 0, "[load] cannot open '", path_, "': ", std::strerror(errno));
  struct stat info;
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    tenon::detail::raise<Error>("[load] '", path_, "' is not a regular file");
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(uint64_t offset, void* data, size_t bytes) const {
  char* to = static_cast<char*>(data);
  size_t left = bytes;
  while (left > 0) {
    const ssize_t got = ::pread(descriptor_, to, left, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    TENON_CHECK(got >= 0, "[load] cannot read '", path_, "' at byte ", offset, ": ",
                std::strerror(errno));
    TENON_CHECK(got > 0, "[load] '", path_, "' ends at byte ", offset, ", expected ", left,
                " more bytes; the file is truncated");
    to += got;
    offset += static_cast<uint64_t>(got);
    left -= static_cast<size_t>(got);
  }
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const std::string parent = parent_of(path_);
  TENON_CHECK(std::filesystem::is_directory(parent), "[save] Parent directory ", parent,
              " does not exist.");
  // The name says whose it is, so that two writers at once do not share one.
  static std::atomic<int> counter{0};
  temporary_ = path_ + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create");
  buffer_.reserve(kBufferBytes);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* what) const {
  tenon::detail::raise<Error>("[save] cannot ", what, " '", path_, "' at byte ", position_, ": ",
                              std::strerror(errno));
}

void OutputFile::write_out(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    data += done;
    bytes -= static_cast<size_t>(done);
  }
}

void OutputFile::flush() {
  write_out(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void OutputFile::write(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes > kBufferBytes) {
    write_out(from, bytes);
  } else {
    buffer_.insert(buffer_.end(), from, from + bytes);
  }
  position_ += bytes;
}

void OutputFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail("sync");
  if (::close(std::exchange(descriptor_, -1)) != 0 ||
      ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail("rename");
  }
  // The new name is durable once the folder is; where a folder cannot be synced, the system does it
  // in its time.
  const int folder = ::open(parent_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace tenon::serialization
