#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/io/os_error.h"

namespace tenon::serialization {
namespace {

/// Opens a regular file and gives its size.
int open_regular(const std::string& path, int flags, uint64_t& size) {
  // Opening a pipe waits for its other end otherwise.
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) raise_errno("[load] cannot open '", path, "'");
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    tenon::detail::raise<Error>("[load] '", path, "' is not a regular file");
  }
  size = static_cast<uint64_t>(info.st_size);
  return descriptor;
}

}  // namespace

FileSource::FileSource(const std::string& path)
    : ByteSource("'" + path + "'"), descriptor_(open_regular(path, O_RDONLY, size_)) {
  // Twice the usual reading ahead; a system that does not know the advice loses nothing.
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

FileSource::~FileSource() { ::close(descriptor_); }

void FileSource::fetch(uint64_t offset, char* data, size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, data, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) raise_errno("[load] cannot read ", name_, " at byte ", offset);
    TENON_CHECK(got > 0, "[load] ", name_, ": unexpected EOF, expected ", bytes,
                " more bytes at byte ", offset, ". The file became shorter while it was read.");
    data += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

MappedSource::MappedSource(const std::string& path, Mode mode) : ByteSource("'" + path + "'") {
  const bool shared = mode == Mode::Shared;
  const int descriptor = open_regular(path, shared ? O_RDWR : O_RDONLY, size_);
  if (size_ > 0) {
    void* mapping = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                           shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    const int code = errno;
    ::close(descriptor);
    errno = code;
    if (mapping == MAP_FAILED) raise_errno("[load] cannot map ", name_);
    mapping_ = mapping;
    data_ = static_cast<const char*>(mapping);
  } else {
    ::close(descriptor);
  }
}

MappedSource::~MappedSource() {
  if (mapping_) ::munmap(mapping_, size_);
}

void MappedSource::fetch(uint64_t offset, char* data, size_t bytes) const {
  std::memcpy(data, data_ + offset, bytes);
}

}  // namespace tenon::serialization
