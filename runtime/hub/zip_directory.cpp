#include "runtime/hub/zip_directory.h"

#include <algorithm>
#include <string_view>

#include "aten/core/error.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::hub {
namespace {

namespace zip = serialization::zip;

/// The longest comment an archive may end with.
constexpr uint64_t kMaxComment = 0xFFFF;

class Reader {
 public:
  explicit Reader(const serialization::ByteSource& file) : file_(file) {}

  std::vector<ZipEntry> run() {
    find_end();
    std::string directory(directory_bytes_, '\0');
    file_.read(directory_offset_, directory.data(), directory.size());
    std::vector<ZipEntry> entries;
    std::string_view rest = directory;
    while (!rest.empty()) entries.push_back(take_entry(rest));
    if (entries.size() != count_)
      fail("the directory has ", entries.size(), " entries, expected ", count_);
    for (ZipEntry& entry : entries) locate(entry);
    check_overlaps(entries);
    return entries;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    tenon::detail::raise<Error>("[hub] ", file_.name(), " is no sound zip archive: ", parts...);
  }

  void find_end() {
    std::string tail(std::min(file_.size(), zip::kEndBytes + kMaxComment), '\0');
    const uint64_t tail_offset = file_.size() - tail.size();
    file_.read(tail_offset, tail.data(), tail.size());
    // The last signature whose comment ends with the file.
    for (size_t at = tail.size() < zip::kEndBytes ? 0 : tail.size() - zip::kEndBytes + 1;
         at-- > 0;) {
      const char* end = tail.data() + at;
      if (zip::get<uint32_t>(end) != zip::kEnd ||
          at + zip::kEndBytes + zip::get<uint16_t>(end + 20) != tail.size())
        continue;
      count_ = zip::get<uint16_t>(end + 10);
      directory_bytes_ = zip::get<uint32_t>(end + 12);
      directory_offset_ = zip::get<uint32_t>(end + 16);
      find_end64(tail_offset + at);
      if (directory_offset_ > file_.size() || directory_bytes_ > file_.size() - directory_offset_)
        fail("its directory lies outside the file of ", file_.size(), " bytes");
      return;
    }
    fail("it has no directory; the download is truncated or something else, such as a web page");
  }

  /// Large archives have a second end record before the first.
  void find_end64(uint64_t end) {
    if (end < zip::kEnd64LocatorBytes + zip::kEnd64Bytes) return;
    char locator[zip::kEnd64LocatorBytes];
    file_.read(end - sizeof(locator), locator, sizeof(locator));
    if (zip::get<uint32_t>(locator) != zip::kEnd64Locator) return;
    const auto where = zip::get<uint64_t>(locator + 8);
    if (where > end - sizeof(locator) - zip::kEnd64Bytes)
      fail("its zip64 end record lies outside the file");
    char record[zip::kEnd64Bytes];
    file_.read(where, record, sizeof(record));
    if (zip::get<uint32_t>(record) != zip::kEnd64)
      fail("it has no zip64 end record at byte ", where);
    count_ = zip::get<uint64_t>(record + 32);
    directory_bytes_ = zip::get<uint64_t>(record + 40);
    directory_offset_ = zip::get<uint64_t>(record + 48);
  }

  /// Takes an entry off the front of `rest`.
  ZipEntry take_entry(std::string_view& rest) const {
    const uint64_t here = directory_offset_ + directory_bytes_ - rest.size();
    const char* p = rest.data();
    if (rest.size() < zip::kCentralEntryBytes || zip::get<uint32_t>(p) != zip::kCentralEntry)
      fail("the directory entry at byte ", here, " is damaged");
    const size_t name_bytes = zip::get<uint16_t>(p + 28), extra_bytes = zip::get<uint16_t>(p + 30);
    const size_t all =
        zip::kCentralEntryBytes + name_bytes + extra_bytes + zip::get<uint16_t>(p + 32);
    if (all > rest.size()) fail("the directory entry at byte ", here, " is cut off");
    ZipEntry entry;
    entry.name = rest.substr(zip::kCentralEntryBytes, name_bytes);
    entry.flags = zip::get<uint16_t>(p + 8);
    entry.method = zip::get<uint16_t>(p + 10);
    entry.crc = zip::get<uint32_t>(p + 16);
    entry.packed_bytes = zip::get<uint32_t>(p + 20);
    entry.bytes = zip::get<uint32_t>(p + 24);
    entry.unix_mode = zip::get<uint32_t>(p + 38) >> 16;
    entry.header = zip::get<uint32_t>(p + 42);
    read_extra(rest.substr(zip::kCentralEntryBytes + name_bytes, extra_bytes), entry);
    rest.remove_prefix(all);
    return entry;
  }

  /// The numbers that are too large for the entry itself.
  void read_extra(std::string_view extra, ZipEntry& entry) const {
    while (extra.size() >= 4) {
      const auto id = zip::get<uint16_t>(extra.data());
      const size_t bytes = zip::get<uint16_t>(extra.data() + 2);
      if (bytes > extra.size() - 4) fail("the extra field of '", entry.name, "' is damaged");
      std::string_view field = extra.substr(4, bytes);
      if (id == zip::kZip64Field) {
        for (uint64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.header}) {
          if (*number != zip::kIn64) continue;
          if (field.size() < 8) fail("the zip64 field of '", entry.name, "' is too short");
          *number = zip::get<uint64_t>(field.data());
          field.remove_prefix(8);
        }
      }
      extra.remove_prefix(4 + bytes);
    }
  }

  void locate(ZipEntry& entry) const {
    char header[zip::kLocalHeaderBytes];
    const uint64_t limit = directory_offset_;
    if (limit < sizeof(header) || entry.header > limit - sizeof(header))
      fail("the entry '", entry.name, "' lies outside the archive");
    file_.read(entry.header, header, sizeof(header));
    std::string local(zip::get<uint16_t>(header + 26), '\0');
    if (zip::get<uint32_t>(header) == zip::kLocalHeader &&
        local.size() <= limit - entry.header - sizeof(header))
      file_.read(entry.header + sizeof(header), local.data(), local.size());
    if (local != entry.name || zip::get<uint32_t>(header) != zip::kLocalHeader)
      fail("there is no entry '", entry.name, "' at byte ", entry.header);
    entry.data = entry.header + sizeof(header) + local.size() + zip::get<uint16_t>(header + 28);
    if (entry.data > limit || entry.packed_bytes > limit - entry.data)
      fail("the entry '", entry.name, "' of ", entry.packed_bytes,
           " bytes lies outside the archive");
  }

  void check_overlaps(const std::vector<ZipEntry>& entries) const {
    std::vector<const ZipEntry*> in_order;
    in_order.reserve(entries.size());
    for (const ZipEntry& entry : entries) in_order.push_back(&entry);
    std::sort(in_order.begin(), in_order.end(),
              [](const ZipEntry* a, const ZipEntry* b) { return a->header < b->header; });
    for (size_t i = 1; i < in_order.size(); ++i) {
      if (in_order[i - 1]->data + in_order[i - 1]->packed_bytes > in_order[i]->header)
        fail("the entries '", in_order[i - 1]->name, "' and '", in_order[i]->name, "' overlap");
    }
  }

  const serialization::ByteSource& file_;
  uint64_t count_ = 0;
  uint64_t directory_bytes_ = 0;
  uint64_t directory_offset_ = 0;
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(const serialization::ByteSource& file) {
  return Reader(file).run();
}

}  // namespace tenon::hub
