#include "runtime/hub/directory.h"

#include <pwd.h>
#include <unistd.h>

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

std::string home() {
  if (std::string folder = variable("HOME"); !folder.empty()) return folder;
  passwd entry{};
  passwd* found = nullptr;
  char text[4096];
  ::getpwuid_r(::getuid(), &entry, text, sizeof(text), &found);
  TENON_CHECK(found && found->pw_dir && *found->pw_dir,
              "[hub] the user has no home folder: set TENON_HOME, or call hub::set_dir");
  return found->pw_dir;
}

}  // namespace

void set_dir(const std::string& path) {
  const std::string expanded = path.starts_with("~/") ? home() + path.substr(1) : path;
  const std::lock_guard lock(mutex);
  chosen = expanded;
}

std::string get_dir() {
  {
    const std::lock_guard lock(mutex);
    if (!chosen.empty()) return chosen;
  }
  if (const std::string folder = variable("TENON_HOME"); !folder.empty()) return folder + "/hub";
  // The XDG base directory specification has relative paths ignored.
  if (const std::string folder = variable("XDG_CACHE_HOME"); folder.starts_with('/'))
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
