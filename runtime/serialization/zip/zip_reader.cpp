#include "runtime/serialization/zip/zip_reader.h"

#include <algorithm>

#include "aten/core/error.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/zip/zip_deflate.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {
namespace {

/// The longest comment an archive may end with.
constexpr uint64_t kMaxComment = 0xFFFF;

/// What one thread reads at a time.
constexpr uint64_t kRecordPieceBytes = 1 << 20;

/// Replaces the numbers of a directory entry that did not fit into 32 bits by those of its zip64
/// field; false if the extra field is damaged.
bool read_zip64(const char* extra, size_t bytes, std::initializer_list<uint64_t*> numbers) {
  for (size_t at = 0; at + 4 <= bytes;) {
    const size_t field = zip::get<uint16_t>(extra + at + 2);
    if (at + 4 + field > bytes) return false;
    if (zip::get<uint16_t>(extra + at) == zip::kZip64Field) {
      size_t used = 0;
      for (uint64_t* number : numbers) {
        if (*number != zip::kIn64) continue;
        if (used + 8 > field) return false;
        *number = zip::get<uint64_t>(extra + at + 4 + used);
        used += 8;
      }
    }
    at += 4 + field;
  }
  return true;
}

}  // namespace

template <class... Parts>
void ZipReader::fail(const Parts&... parts) const {
  tenon::detail::raise<Error>("[load] ", source_.name(),
                              ": failed reading zip archive: ", parts...);
}

ZipReader::ZipReader(const ByteSource& source, const Limits& limits) : source_(source) {
  TENON_CHECK(source.size() > 0, "[load] ", source.name(), ": Ran out of input: it is empty");
  const Directory directory = find_directory();
  if (directory.count > limits.records || directory.bytes > limits.directory_bytes) {
    fail("its directory has ", directory.count, " entries of ", directory.bytes,
         " bytes, more than the ", limits.records, " of ", limits.directory_bytes, " allowed");
  }
  read_directory(directory);
  check_overlaps();
}

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t size = source_.size();
  if (size < zip::kEndBytes)
    fail("failed finding central directory; there are only ", size, " bytes");
  std::string tail(std::min(size, zip::kEndBytes + kMaxComment), '\0');
  source_.read(size - tail.size(), tail.data(), tail.size());
  // The last signature whose comment ends with the source.
  size_t at = tail.size() - zip::kEndBytes + 1;
  const char* end = nullptr;
  while (at-- > 0 && !end) {
    const char* p = tail.data() + at;
    if (zip::get<uint32_t>(p) == zip::kEnd &&
        at + zip::kEndBytes + zip::get<uint16_t>(p + 20) == tail.size())
      end = p;
  }
  if (!end) {
    fail("failed finding central directory; it is truncated, was not downloaded whole, or is no "
         "archive");
  }
  const uint64_t end_at = size - tail.size() + static_cast<uint64_t>(end - tail.data());
  if (end_at >= zip::kEnd64LocatorBytes) {
    char locator[4];
    source_.read(end_at - zip::kEnd64LocatorBytes, locator, sizeof(locator));
    if (zip::get<uint32_t>(locator) == zip::kEnd64Locator)
      return find_directory64(end_at - zip::kEnd64LocatorBytes);
  }
  const Directory directory{zip::get<uint32_t>(end + 16), zip::get<uint32_t>(end + 12),
                            zip::get<uint16_t>(end + 10)};
  check_start(directory.offset + directory.bytes, end_at);
  return directory;
}

ZipReader::Directory ZipReader::find_directory64(uint64_t locator_at) const {
  char locator[zip::kEnd64LocatorBytes];
  source_.read(locator_at, locator, sizeof(locator));
  const auto where = zip::get<uint64_t>(locator + 8);
  if (locator_at < zip::kEnd64Bytes) fail("the zip64 end record is missing");
  check_start(where, locator_at - zip::kEnd64Bytes);
  char end64[zip::kEnd64Bytes];
  source_.read(where, end64, sizeof(end64));
  if (zip::get<uint32_t>(end64) != zip::kEnd64) fail("no zip64 end record at byte ", where);
  const Directory directory{zip::get<uint64_t>(end64 + 48), zip::get<uint64_t>(end64 + 40),
                            zip::get<uint64_t>(end64 + 32)};
  if (directory.offset > where || directory.bytes != where - directory.offset) {
    fail("the central directory at byte ", directory.offset, " of ", directory.bytes,
         " bytes does not end at byte ", where, ", where its end record is");
  }
  return directory;
}

void ZipReader::check_start(uint64_t expected, uint64_t found) const {
  if (found == expected) return;
  if (expected > found) {
    fail("failed finding central directory; its end should be at byte ", expected, " but is at ",
         found, ": bytes are missing");
  }
  // What is written to a stream twice is two archives, and the directory found is the last one's.
  char first[4];
  source_.read(0, first, sizeof(first));
  const uint64_t start = found - expected;
  if (zip::get<uint32_t>(first) == zip::kLocalHeader) {
    fail("it holds several archives, one after the other; the last begins at byte ", start,
         ". Load each from a stream that stands at its beginning and ends with it");
  }
  fail("the archive begins only at byte ", start, "; other data lie before it");
}

void ZipReader::read_directory(const Directory& directory) {
  std::string bytes(directory.bytes, '\0');
  source_.read(directory.offset, bytes.data(), bytes.size());
  size_t at = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    size_t total = 0;
    Record record = read_entry(bytes.data() + at, bytes.size() - at, directory.offset + at, total);
    at += total;
    std::string full = std::move(record.name);
    locate_data(record, full, directory.offset);
    if (i == 0) {
      const size_t slash = full.find('/');
      if (slash == std::string::npos) fail("record '", full, "' is in no folder");
      archive_ = full.substr(0, slash);
    }
    const bool inside =
        full.size() > archive_.size() && full.starts_with(archive_) && full[archive_.size()] == '/';
    if (!inside) fail("record '", full, "' is not in the folder '", archive_, "' of the first one");
    record.name = full.substr(archive_.size() + 1);
    if (!index_.emplace(record.name, records_.size()).second)
      fail("there are two records '", full, "'");
    records_.push_back(std::move(record));
  }
  if (at != bytes.size()) {
    fail("the central directory has ", bytes.size() - at, " bytes more than its ", directory.count,
         " entries");
  }
}

ZipReader::Record ZipReader::read_entry(const char* p, size_t left, uint64_t at,
                                        size_t& total) const {
  if (left < zip::kCentralEntryBytes || zip::get<uint32_t>(p) != zip::kCentralEntry)
    fail("the directory entry at byte ", at, " is damaged");
  const size_t name_bytes = zip::get<uint16_t>(p + 28), extra_bytes = zip::get<uint16_t>(p + 30);
  total = zip::kCentralEntryBytes + name_bytes + extra_bytes + zip::get<uint16_t>(p + 32);
  if (total > left) fail("the directory entry at byte ", at, " runs past the directory's end");
  const auto method = zip::get<uint16_t>(p + 10);
  Record record{std::string(p + zip::kCentralEntryBytes, name_bytes),
                zip::get<uint32_t>(p + 42),
                0,
                zip::get<uint32_t>(p + 20),
                zip::get<uint32_t>(p + 24),
                zip::get<uint32_t>(p + 16),
                method == zip::kDeflated,
                zip::get<uint32_t>(p + 38) >> 16};
  if (method != zip::kStored && method != zip::kDeflated) {
    fail("record '", record.name, "' is compressed by method ", method,
         "; stored and deflated records are read");
  }
  if (zip::get<uint16_t>(p + 8) & zip::kEncrypted) fail("record '", record.name, "' is encrypted");
  if (!read_zip64(p + zip::kCentralEntryBytes + name_bytes, extra_bytes,
                  {&record.bytes, &record.packed, &record.header}))
    fail("the extra field of '", record.name, "' at byte ", at, " is damaged");
  if (!record.deflated && record.packed != record.bytes) {
    fail("record '", record.name, "' is stored and has sizes ", record.packed, " and ",
         record.bytes, ", which must agree");
  }
  // What is declared is what is allocated: it may not be more than the data can become.
  if (record.deflated && record.bytes / zip::kMaxInflation > record.packed) {
    fail("record '", record.name, "' declares ", record.bytes, " bytes, more than its ",
         record.packed, " deflated ones can become");
  }
  return record;
}

void ZipReader::locate_data(Record& record, const std::string& name, uint64_t limit) const {
  char header[zip::kLocalHeaderBytes];
  if (limit < sizeof(header) || record.header > limit - sizeof(header))
    fail("the offset ", record.header, " of record '", name, "' lies outside the archive");
  source_.read(record.header, header, sizeof(header));
  const size_t name_bytes = zip::get<uint16_t>(header + 26);
  std::string local(name_bytes, '\0');
  if (zip::get<uint32_t>(header) != zip::kLocalHeader ||
      name_bytes > limit - record.header - sizeof(header))
    fail("no record '", name, "' at byte ", record.header);
  source_.read(record.header + sizeof(header), local.data(), name_bytes);
  const bool deflated = zip::get<uint16_t>(header + 8) == zip::kDeflated;
  if (local != name || deflated != record.deflated)
    fail("no record '", name, "' at byte ", record.header);
  record.data = record.header + sizeof(header) + name_bytes + zip::get<uint16_t>(header + 28);
  if (record.data > limit || record.packed > limit - record.data) {
    fail("record '", name, "' of ", record.packed, " bytes at byte ", record.data,
         " lies outside the archive");
  }
}

void ZipReader::check_overlaps() const {
  std::vector<const Record*> in_order;
  for (const Record& record : records_) in_order.push_back(&record);
  std::sort(in_order.begin(), in_order.end(),
            [](const Record* a, const Record* b) { return a->header < b->header; });
  for (size_t i = 1; i < in_order.size(); ++i) {
    const Record& before = *in_order[i - 1];
    if (before.data + before.packed > in_order[i]->header)
      fail("records overlap at byte ", in_order[i]->header);
  }
}

const ZipReader::Record* ZipReader::find(std::string_view name) const {
  const auto it = index_.find(std::string(name));
  return it == index_.end() ? nullptr : &records_[it->second];
}

const ZipReader::Record& ZipReader::get(std::string_view name) const {
  const Record* record = find(name);
  if (!record) fail("failed locating file ", name, ": file not found");
  return *record;
}

const ZipReader::Record& ZipReader::check_request(const Request& request) const {
  const Record& record = get(request.name);
  if (record.bytes != request.bytes) {
    fail("record ", record.name, " at byte ", record.data, ": record size (", record.bytes,
         " bytes) does not match expected size (", request.bytes, " bytes)");
  }
  return record;
}

void ZipReader::check_crc(const Record& record, uint32_t crc) const {
  // Writers that do not compute the checksum leave it 0.
  if (record.crc != 0 && crc != record.crc) {
    fail("record ", record.name, " at byte ", record.data, " is damaged: its CRC-32 is ", crc,
         ", expected ", record.crc);
  }
}

std::string ZipReader::what(const Record& record) const {
  return tenon::detail::concat("[load] ", source_.name(), ": record ", record.name, " at byte ",
                               record.data);
}

uint32_t ZipReader::inflate(const Record& record, void* data) const {
  zip::inflate(source_, record.data, record.packed, data, record.bytes, what(record));
  return crc32(0, data, record.bytes);
}

uint32_t ZipReader::inflate(const Record& record, const Taker& take) const {
  uint32_t crc = 0;
  zip::inflate(
      source_, record.data, record.packed, record.bytes,
      [&](const char* data, size_t bytes) {
        crc = crc32(crc, data, bytes);
        take(data, bytes);
      },
      what(record));
  return crc;
}

void ZipReader::read(const std::vector<Request>& requests) const {
  struct Piece {
    const Record* record;
    char* data;
    uint64_t offset;
    uint64_t bytes;
    uint32_t crc;
    bool is_last;  ///< of its record
  };
  std::vector<Piece> pieces;
  for (const Request& request : requests) {
    const Record& record = check_request(request);
    const uint64_t most = record.deflated ? record.bytes : kRecordPieceBytes;
    // An empty record is a piece as well: it may have a wrong checksum, or data that are not empty.
    uint64_t at = 0, bytes;
    do {
      bytes = std::min(most, record.bytes - at);
      char* data = request.data ? static_cast<char*>(request.data) + at : nullptr;
      pieces.push_back({&record, data, at, bytes, 0, at + bytes == record.bytes});
    } while ((at += bytes) < record.bytes);
  }
  parallel_tasks(pieces.size(), [&](size_t i) {
    Piece& piece = pieces[i];
    const Record& record = *piece.record;
    const uint64_t offset = record.data + piece.offset;
    piece.crc = record.deflated && piece.data ? inflate(record, piece.data)
                : record.deflated             ? inflate(record, [](const char*, size_t) {})
                : piece.data                  ? source_.read_crc(offset, piece.data, piece.bytes)
                                              : source_.crc(offset, piece.bytes);
  });
  uint32_t crc = 0;
  for (const Piece& piece : pieces) {
    crc = crc32_combine(crc, piece.crc, piece.bytes);
    if (!piece.is_last) continue;
    check_crc(*piece.record, crc);
    crc = 0;
  }
}

void ZipReader::read(std::string_view name, void* data, uint64_t bytes) const {
  read({{std::string(name), data, bytes}});
}

std::string ZipReader::read(std::string_view name) const {
  std::string text(size(name), '\0');
  read(name, text.data(), text.size());
  return text;
}

void ZipReader::read(std::string_view name, const Taker& take) const {
  const Record& record = get(name);
  if (record.deflated) return check_crc(record, inflate(record, take));
  std::vector<char> piece(std::min(record.bytes, kRecordPieceBytes));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < record.bytes;) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(piece.size(), record.bytes - at));
    source_.read(record.data + at, piece.data(), bytes);
    crc = crc32(crc, piece.data(), bytes);
    take(piece.data(), bytes);
    at += bytes;
  }
  check_crc(record, crc);
}

void ZipReader::verify(std::string_view name) const { read(name, nullptr, size(name)); }

}  // namespace tenon::serialization
