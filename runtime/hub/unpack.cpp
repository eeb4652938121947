#include "runtime/hub/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

#include "aten/core/error.h"
#include "runtime/serialization/zip/zip_reader.h"

namespace tenon::hub {
namespace {

namespace fs = std::filesystem;
using Record = serialization::ZipReader::Record;

constexpr size_t kLongestName = 255;

/// Bytes of a directory entry besides its name, extra fields included.
constexpr uint64_t kEntryBytes = 200;

class Unpacker {
 public:
  Unpacker(const std::string& archive, const std::string& folder, const UnpackLimits& limits)
      : limits_(limits), file_(archive),
        zip_(file_, {.records = limits.entries,
                     .directory_bytes = limits.entries * (limits.path_bytes + kEntryBytes)}),
        folder_(folder) {}

  void check() {
    if (zip_.records().empty()) fail("the archive is empty");
    if (!is_name(zip_.archive())) fail("its folder has the name '", zip_.archive(), "'");
    uint64_t left = limits_.bytes;
    for (const Record& record : zip_.records()) {
      if (record.bytes > left)
        fail("it unpacks to more than the ", limits_.bytes, " bytes allowed");
      left -= record.bytes;
      check_type(record);
      if (!record.name.empty()) add(record);  // empty: the archive's folder itself
    }
  }

  void write() const {
    make_folder(folder_);
    try {
      fill_folder(folder_, root_);
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

  /// Whether it can be the name of a file or folder and of nothing else.
  static bool is_name(std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.size() <= kLongestName &&
           std::none_of(part.begin(), part.end(),
                        [](unsigned char c) { return c < ' ' || c == 0x7f || c == '\\'; });
  }

  /// A file, or a folder and what is in it.
  struct Node {
    const Record* file = nullptr;
    std::map<std::string_view, Node> children{};
  };

  /// Notes the file or folder, and the folders that it is in.
  void add(const Record& record) {
    const std::string_view name = record.name;
    if (name.size() > limits_.path_bytes)
      fail("an entry's name has ", name.size(), " bytes, more than the ", limits_.path_bytes,
           " allowed");
    Node* node = &root_;
    size_t depth = 0;
    for (size_t begin = 0; begin < name.size();) {
      const size_t slash = name.find('/', begin);
      const size_t end = std::min(slash, name.size());
      const std::string_view part = name.substr(begin, end - begin);
      if (!is_name(part)) fail("an entry's name is no path within the archive's folder");
      if (++depth > limits_.depth)
        fail("a path has more than the ", limits_.depth, " parts allowed");
      const auto [child, is_new] = node->children.try_emplace(part);
      node = &child->second;
      const bool is_file = slash == name.npos;
      if (is_new) {
        if (++entries_ > limits_.entries)
          fail("it has more than the ", limits_.entries, " files and folders allowed");
        if (is_file) node->file = &record;
      } else if (is_file || node->file) {
        fail("'", name.substr(0, end), "' is both a file and a folder");
      }
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

  void make_folder(const std::string& path) const {
    if (::mkdir(path.c_str(), 0777) != 0) fail_system("create", path);
  }

  void fill_folder(const std::string& path, const Node& node) const {
    for (const auto& [name, child] : node.children) {
      const std::string inside = path + "/" + std::string(name);
      if (child.file) {
        write_file(inside, *child.file);
      } else {
        make_folder(inside);
        fill_folder(inside, child);
      }
    }
  }

  void write_file(const std::string& path, const Record& record) const {
    // Without the right to execute, whatever the archive says.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_system("create", path);
    try {
      zip_.read(record.name, [&](const char* data, size_t bytes) {
        while (bytes > 0) {
          const ssize_t done = ::write(descriptor, data, bytes);
          if (done < 0 && errno == EINTR) continue;
          if (done < 0) fail_system("write", path);
          data += done;
          bytes -= static_cast<size_t>(done);
        }
      });
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    if (::close(descriptor) != 0) fail_system("write", path);
  }

  UnpackLimits limits_;
  serialization::FileSource file_;
  serialization::ZipReader zip_;
  std::string folder_;
  Node root_;
  uint64_t entries_ = 0;
};

}  // namespace

void unpack(const std::string& archive, const std::string& folder, const UnpackLimits& limits) {
  Unpacker unpacker(archive, folder, limits);
  unpacker.check();
  unpacker.write();
}

}  // namespace tenon::hub
