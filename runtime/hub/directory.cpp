#include "runtime/hub/directory.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

std::mutex mutex;
std::string chosen;

/// An environment variable; empty if it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The home folder of a user, of whoever runs the program without a name; empty if it has none.
std::string home_in_passwd(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  char text[4096];
  if (user.empty()) {
    ::getpwuid_r(::getuid(), &entry, text, sizeof(text), &found);
  } else {
    ::getpwnam_r(user.c_str(), &entry, text, sizeof(text), &found);
  }
  return found && found->pw_dir ? found->pw_dir : "";
}

std::string home() {
  std::string folder = variable("HOME");
  if (folder.empty()) folder = home_in_passwd("");
  TENON_CHECK(!folder.empty(),
              "[hub] the user has no home folder: set TENON_HOME, or call hub::set_dir");
  return folder;
}

/// "~" and "~user" at the beginning are home folders, as in a shell; of a user that there is not,
/// a name like others.
std::string expand(const std::string& path) {
  if (!path.starts_with('~')) return path;
  const size_t end = std::min(path.find('/'), path.size());
  const std::string user = path.substr(1, end - 1);
  const std::string folder = user.empty() ? home() : home_in_passwd(user);
  return folder.empty() ? path : folder + path.substr(end);
}

}  // namespace

void set_dir(const std::string& path) {
  const std::string expanded = expand(path);
  const std::lock_guard lock(mutex);
  chosen = expanded;
}

std::string get_dir() {
  {
    const std::lock_guard lock(mutex);
    if (!chosen.empty()) return chosen;
  }
  if (const std::string folder = variable("TENON_HOME"); !folder.empty())
    return expand(folder) + "/hub";
  // The XDG base directory specification has relative paths ignored.
  if (const std::string folder = expand(variable("XDG_CACHE_HOME")); folder.starts_with('/'))
    return folder + "/tenon/hub";
  return home() + "/.cache/tenon/hub";
}

bool is_folder(const std::string& path) {
  std::error_code error;  // of a path too long, say, or one that may not be looked into
  return std::filesystem::is_directory(path, error);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  TENON_CHECK(!error && is_folder(path), "[hub] cannot create the folder '", path,
              "': ", error ? error.message() : "a file has that name");
}

}  // namespace tenon::hub
