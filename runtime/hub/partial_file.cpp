#include "runtime/hub/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "aten/core/error.h"
#include "runtime/serialization/io/byte_sink.h"

namespace tenon::hub {
namespace {

std::string parent_folder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

PartialFile::PartialFile(std::string path)
    : path_(std::move(path)), partial_path_(path_ + ".partial"), origin_path_(path_ + ".origin") {
  descriptor_ =
      ::open(partial_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0666);
  if (descriptor_ < 0) fail("create");
  struct stat info;
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    tenon::detail::raise<Error>("[hub] '", partial_path_, "' is not a regular file");
  }
  size_ = static_cast<uint64_t>(info.st_size);
  read_origin();
}

PartialFile::~PartialFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (keep_) return;
  ::unlink(partial_path_.c_str());
  ::unlink(origin_path_.c_str());
}

void PartialFile::fail(const char* what) const {
  tenon::detail::raise<Error>("[hub] cannot ", what, " '", partial_path_, "' at byte ", size_, ": ",
                              std::strerror(errno));
}

void PartialFile::read_origin() {
  std::ifstream in(origin_path_, std::ios::binary);
  std::string total;
  Origin origin;
  // The last line tells a whole note from a cut one.
  std::string end;
  if (!std::getline(in, origin.source) || !std::getline(in, origin.validator) ||
      !std::getline(in, total) || !std::getline(in, end) || end != "end")
    return;
  uint64_t number = 0;
  if (std::from_chars(total.data(), total.data() + total.size(), number).ec == std::errc())
    origin.total = number;
  origin_ = std::move(origin);
}

void PartialFile::restart(Origin origin) {
  // Emptied first: at no moment does the note speak of bytes that are not its own.
  if (::ftruncate(descriptor_, 0) != 0) fail("empty");
  size_ = 0;
  origin_ = std::move(origin);
  // A crash of the machine may lose it, and then the bytes are not continued.
  serialization::FileSink note(origin_path_, {.durable = false});
  const std::string text = origin_.source + "\n" + origin_.validator + "\n" +
                           (origin_.total ? std::to_string(*origin_.total) : "unknown") + "\nend\n";
  note.write(text.data(), text.size());
  note.commit();
}

void PartialFile::append(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    data += done;
    bytes -= static_cast<size_t>(done);
    size_ += static_cast<uint64_t>(done);
  }
}

void PartialFile::read(uint64_t offset, char* data, size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, data, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read");
    data += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

void PartialFile::commit() {
  if (::fsync(descriptor_) != 0) fail("sync");
  if (::rename(partial_path_.c_str(), path_.c_str()) != 0) fail("rename");
  ::close(std::exchange(descriptor_, -1));
  ::unlink(origin_path_.c_str());
  // The new name is durable once the folder is.
  const int folder = ::open(parent_folder(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace tenon::hub
