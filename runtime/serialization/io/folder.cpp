#include "runtime/serialization/io/folder.h"

#include <cerrno>
#include <filesystem>

#include "runtime/serialization/io/file_calls.h"
#include "runtime/serialization/io/os_error.h"

namespace tenon::serialization::detail {

namespace fs = std::filesystem;

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string target_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path at(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(at, error)) return at.string();
    at = at.parent_path() / fs::read_symlink(at, error);
  }
  errno = ELOOP;
  raise_errno("[save] cannot write '", path, "'");
}

void make_folder(const std::string& path, bool durable) {
  // "x/" is in the same folder as "x".
  fs::path name(path);
  if (!name.has_filename()) name = name.parent_path();
  std::error_code error;
  const bool is_new = fs::create_directory(name, error);
  if (error) {
    throw OSError(error.value(),
                  tenon::detail::concat("[save] cannot make '", path, "': ", error.message()));
  }
  if (is_new && durable && !sync_folder(parent_of(name.string())))
    raise_errno("[save] cannot sync the folder of '", path, "'");
}

bool sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return true;
  const bool synced = file_calls().fsync(folder) == 0 || errno == EINVAL;
  const int code = errno;
  ::close(folder);
  errno = code;
  return synced;
}

}  // namespace tenon::serialization::detail
