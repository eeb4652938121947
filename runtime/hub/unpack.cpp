#include "runtime/hub/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "aten/core/error.h"
#include "runtime/serialization/zip_reader.h"

namespace tenon::hub {
namespace {

namespace fs = std::filesystem;
using Record = serialization::ZipReader::Record;

constexpr size_t kLongestName = 255;

class Unpacker {
 public:
  Unpacker(const std::string& archive, const std::string& folder)
      : file_(archive), zip_(file_), folder_(folder) {}

  void check(uint64_t max_bytes) {
    if (zip_.records().empty()) fail("the archive is empty");
    if (!is_name(zip_.archive())) fail("its folder has the name '", zip_.archive(), "'");
    uint64_t left = max_bytes;
    for (const Record& record : zip_.records()) {
      if (record.bytes > left) fail("it unpacks to more than the ", max_bytes, " allowed");
      left -= record.bytes;
      check_type(record);
      if (!record.name.empty()) check_name(record.name);  // empty: the archive's folder itself
    }
    for (const std::string& file : files_) {
      if (folders_.contains(file)) fail("'", file, "' is both a file and a folder");
    }
  }

  void write() const {
    if (::mkdir(folder_.c_str(), 0777) != 0) fail_system("create", folder_);
    try {
      // A set is sorted, so a folder comes before what is in it.
      for (const std::string& name : folders_) {
        if (::mkdir(path_of(name).c_str(), 0777) != 0) fail_system("create", path_of(name));
      }
      for (const std::string& name : files_) write_file(path_of(name), zip_.read(name));
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(folder_, ignored);
      throw;
    }
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    tenon::detail::raise<Error>("[hub] ", file_.name(), " is not unpacked: ", parts...);
  }
  [[noreturn]] void fail_system(const char* what, const std::string& path) const {
    fail("cannot ", what, " '", path, "': ", std::strerror(errno));
  }

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  /// Whether it can be the name of a file or folder and of nothing else.
  static bool is_name(std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.size() <= kLongestName &&
           std::none_of(part.begin(), part.end(),
                        [](unsigned char c) { return c < ' ' || c == 0x7f || c == '\\'; });
  }

  /// Notes the file or folder, and the folders that it is in.
  void check_name(const std::string& name) {
    for (size_t begin = 0; begin < name.size();) {
      const size_t slash = name.find('/', begin);
      const size_t end = std::min(slash, name.size());
      if (!is_name(std::string_view(name).substr(begin, end - begin)))
        fail("an entry's name is no path within the archive's folder");
      (slash == std::string::npos ? files_ : folders_).insert(name.substr(0, end));
      begin = end + 1;
    }
  }

  void check_type(const Record& record) const {
    const bool is_folder = record.name.empty() || record.name.ends_with('/');
    const uint32_t type = record.unix_mode & S_IFMT;
    if (type == S_IFLNK) fail("'", record.name, "' is a symbolic link");
    // Writers of other systems give no type.
    if (type != 0 && type != (is_folder ? S_IFDIR : S_IFREG))
      fail("'", record.name, "' is neither a file nor a folder");
    if (is_folder && record.bytes > 0) fail("the folder '", record.name, "' has bytes");
  }

  void write_file(const std::string& path, std::string_view bytes) const {
    // Without the right to execute, whatever the archive says.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_system("create", path);
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        const int reason = errno;
        ::close(descriptor);
        errno = reason;
        fail_system("write", path);
      }
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    if (::close(descriptor) != 0) fail_system("write", path);
  }

  serialization::FileSource file_;
  serialization::ZipReader zip_;
  std::string folder_;
  std::set<std::string> files_, folders_;
};

}  // namespace

void unpack(const std::string& archive, const std::string& folder, uint64_t max_bytes) {
  Unpacker unpacker(archive, folder);
  unpacker.check(max_bytes);
  unpacker.write();
}

}  // namespace tenon::hub
