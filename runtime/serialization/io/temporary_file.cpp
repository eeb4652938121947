#include "runtime/serialization/io/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string_view>

#include "runtime/serialization/io/os_error.h"

namespace tenon::serialization::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".tmp.";
/// Of a file's name, so that infix and two numbers fit into the 255 bytes of file systems.
constexpr size_t kLongestBase = 220;

std::string base_of(const std::string& path) {
  return fs::path(path).filename().string().substr(0, kLongestBase);
}

/// Whether `name` is what create() makes of `base`.
bool is_temporary_of(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  if (!name.starts_with(kInfix)) return false;
  name.remove_prefix(kInfix.size());
  const size_t dot = name.find('.');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return dot != name.npos && is_number(name.substr(0, dot)) && is_number(name.substr(dot + 1));
}

bool is_linked(int descriptor) {
  struct stat info;
  return ::fstat(descriptor, &info) == 0 && info.st_nlink > 0;
}

}  // namespace

TemporaryFile TemporaryFile::create(const std::string& path, unsigned mode) {
  static std::atomic<unsigned> counter{0};
  const std::string stem = (fs::path(path).parent_path() / base_of(path)).string();
  for (;;) {
    TemporaryFile file{stem + std::string(kInfix) + std::to_string(::getpid()) + "." +
                       std::to_string(counter++)};
    file.descriptor = ::open(file.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file.descriptor < 0) {
      if (errno == EEXIST) continue;
      raise_errno("[save] cannot create '", file.path, "'");
    }
    // A file system without locks fails otherwise than with EWOULDBLOCK; nobody removes files
    // there.
    const bool locked = ::flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    // Another writer may have taken it for a stale one before it was locked.
    if (locked && is_linked(file.descriptor)) return file;
    ::close(file.descriptor);
  }
}

void remove_stale_temporaries(const std::string& path) noexcept try {
  const fs::path target(path);
  const std::string base = base_of(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (!is_temporary_of(entry.path().filename().native(), base)) continue;
    const int descriptor =
        ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat info;
    if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
} catch (...) {
  // Tidying is no part of saving.
}

}  // namespace tenon::serialization::detail
