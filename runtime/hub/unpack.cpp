#include "runtime/hub/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "aten/core/error.h"
#include "runtime/hub/inflate.h"
#include "runtime/hub/zip_directory.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::hub {
namespace {

namespace fs = std::filesystem;
namespace zip = serialization::zip;

constexpr size_t kChunk = 1 << 18;
constexpr size_t kLongestName = 255;

class Unpacker {
 public:
  Unpacker(const std::string& archive, const std::string& folder)
      : file_(archive), entries_(read_zip_directory(file_)), folder_(folder) {}

  void check(uint64_t max_bytes) {
    if (entries_.empty()) fail("the archive is empty");
    uint64_t left = max_bytes;
    for (const ZipEntry& entry : entries_) {
      check_name(entry);
      check_type(entry);
      if (entry.bytes > left) fail("it unpacks to more than the ", max_bytes, " allowed");
      left -= entry.bytes;
    }
    for (const std::string& file : files_) {
      if (folders_.contains(file)) fail("'", file, "' is both a file and a folder");
    }
  }

  void write() {
    TENON_CHECK(::mkdir(folder_.c_str(), 0777) == 0, "[hub] cannot create the folder '", folder_,
                "' for ", file_.name(), ": ", std::strerror(errno));
    try {
      // A set is sorted, so a folder comes before what is in it.
      for (const std::string& name : folders_) {
        if (::mkdir(path_of(name).c_str(), 0777) != 0) fail_system("create", path_of(name));
      }
      for (const ZipEntry& entry : entries_) {
        if (!entry.name.ends_with('/')) write_file(entry);
      }
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

  /// A name below the archive's one folder, which `folder_` takes the place of.
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  void check_name(const ZipEntry& entry) {
    std::string_view rest = entry.name;
    const bool is_folder = rest.ends_with('/');
    if (is_folder) rest.remove_suffix(1);
    if (std::any_of(rest.begin(), rest.end(),
                    [](unsigned char c) { return c < ' ' || c == 0x7f || c == '\\'; }))
      fail("a name has a backslash or control characters");
    std::string path;
    for (bool top = true;; top = false) {
      const size_t slash = rest.find('/');
      const std::string_view part = rest.substr(0, slash);
      if (part.empty() || part == "." || part == ".." || part.size() > kLongestName)
        fail("'", entry.name, "' is no path within the archive's folder");
      if (top) {
        if (top_.empty()) top_ = part;
        if (top_ != part || (slash == std::string_view::npos && !is_folder))
          fail("'", entry.name, "' is not in the folder '", top_, "' as other entries are");
      } else {
        if (!path.empty()) path += '/';
        path += part;
      }
      if (slash == std::string_view::npos) break;
      if (!path.empty()) folders_.insert(path);
      rest.remove_prefix(slash + 1);
    }
    if (!names_.insert(entry.name).second) fail("there are two entries '", entry.name, "'");
    if (!path.empty()) (is_folder ? folders_ : files_).insert(path);
  }

  void check_type(const ZipEntry& entry) const {
    const uint32_t type = entry.unix_mode & S_IFMT;
    const uint32_t expected = entry.name.ends_with('/') ? S_IFDIR : S_IFREG;
    if (type == S_IFLNK) fail("'", entry.name, "' is a symbolic link");
    if (type != 0 && type != expected) fail("'", entry.name, "' is neither a file nor a folder");
    if (expected == S_IFDIR && entry.bytes > 0) fail("the folder '", entry.name, "' has bytes");
    if (entry.flags & zip::kEncrypted) fail("'", entry.name, "' is encrypted");
    if (entry.method != zip::kStored && entry.method != zip::kDeflated)
      fail("'", entry.name, "' is compressed with the unknown method ", entry.method);
    if (entry.method == zip::kDeflated && !Inflater::is_available())
      fail("'", entry.name,
           "' is compressed, and this build of Tenon has no zlib; install zlib1g-dev "
           "and configure again");
    if (entry.method == zip::kStored && entry.packed_bytes != entry.bytes)
      fail("'", entry.name, "' has sizes ", entry.packed_bytes, " and ", entry.bytes,
           ", which must agree");
  }

  void write_file(const ZipEntry& entry) {
    const std::string path = folder_ + entry.name.substr(entry.name.find('/'));
    // Without the right to execute, whatever the archive says.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_system("create", path);
    try {
      uint32_t crc = 0;
      uint64_t bytes = 0;
      const auto put = [&](const char* data, size_t count) {
        if (count > entry.bytes - bytes) fail("'", entry.name, "' has more bytes than it says");
        bytes += count;
        crc = serialization::crc32(crc, data, count);
        write_all(descriptor, path, data, count);
      };
      read_entry(entry, put);
      if (bytes != entry.bytes || crc != entry.crc)
        fail("'", entry.name, "' at byte ", entry.data, " is damaged");
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    if (::close(descriptor) != 0) fail_system("write", path);
  }

  void read_entry(const ZipEntry& entry, const std::function<void(const char*, size_t)>& put) {
    Inflater inflater(put);
    for (uint64_t at = 0; at < entry.packed_bytes;) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(kChunk, entry.packed_bytes - at));
      file_.read(entry.data + at, buffer_.data(), count);
      at += count;
      if (entry.method == zip::kStored) {
        put(buffer_.data(), count);
      } else if (!inflater.push(buffer_.data(), count)) {
        fail("'", entry.name, "' at byte ", entry.data, " is no deflated data");
      }
    }
    if (entry.method == zip::kDeflated && !inflater.finished())
      fail("'", entry.name, "' at byte ", entry.data, " is cut off");
  }

  void write_all(int descriptor, const std::string& path, const char* data, size_t bytes) const {
    while (bytes > 0) {
      const ssize_t done = ::write(descriptor, data, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail_system("write", path);
      data += done;
      bytes -= static_cast<size_t>(done);
    }
  }

  serialization::FileSource file_;
  std::vector<ZipEntry> entries_;
  std::string folder_;
  std::string top_;
  std::set<std::string> names_, files_, folders_;
  std::vector<char> buffer_ = std::vector<char>(kChunk);
};

}  // namespace

void unpack(const std::string& archive, const std::string& folder, uint64_t max_bytes) {
  Unpacker unpacker(archive, folder);
  unpacker.check(max_bytes);
  unpacker.write();
}

}  // namespace tenon::hub
