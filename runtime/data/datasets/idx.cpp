#include "runtime/data/datasets/idx.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "tenon/config.h"

#if TENON_HAS_ZLIB
#include <zlib.h>
#endif

namespace tenon::data {
namespace {

/// The bytes of a file, decompressed if need be.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path) : path_(path) {
    errno = 0;
#if TENON_HAS_ZLIB
    file_ = gzopen(path.c_str(), "rb");
#else
    file_ = std::fopen(path.c_str(), "rb");
#endif
    TENON_CHECK(file_, "[read_idx] cannot open '", path,
                "': ", std::strerror(errno ? errno : ENOMEM));
  }
  ~ByteSource() {
#if TENON_HAS_ZLIB
    gzclose_r(file_);
#else
    std::fclose(file_);
#endif
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `bytes` bytes; fewer at the end only.
  size_t read(void* to, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
      const size_t got = read_some(static_cast<char*>(to) + done, bytes - done);
      if (got == 0) break;
      done += got;
    }
    offset_ += done;
    return done;
  }
  void read_all(void* to, size_t bytes, const char* what) {
    const uint64_t start = offset_;
    const size_t got = read(to, bytes);
    TENON_CHECK(got == bytes, "[read_idx] '", path_, "': the ", what, " at byte ", start,
                " should have ", bytes, " bytes, got ", got, "; the file is truncated");
  }
  uint64_t offset() const { return offset_; }

 private:
  size_t read_some(char* to, size_t bytes) {
#if TENON_HAS_ZLIB
    const int got = gzread(file_, to, static_cast<unsigned>(std::min(bytes, size_t{1} << 20)));
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    TENON_CHECK(got >= 0 && (code == Z_OK || code == Z_STREAM_END), "[read_idx] '", path_,
                "': damaged or truncated gzip data at byte ", offset_, ": ", text);
    return static_cast<size_t>(got);
#else
    const size_t got = std::fread(to, 1, bytes, file_);
    const auto* start = reinterpret_cast<const unsigned char*>(to);
    TENON_CHECK(
        !(offset_ == 0 && got > 1 && start[0] == 0x1f && start[1] == 0x8b), "[read_idx] '", path_,
        "' is compressed, and this library was built without zlib; decompress it with gunzip");
    return got;
#endif
  }

  std::string path_;
#if TENON_HAS_ZLIB
  gzFile file_;
#else
  std::FILE* file_;
#endif
  uint64_t offset_ = 0;
};

std::optional<ScalarType> type_of(uint8_t code) {
  switch (code) {
  case 0x08: return kByte;
  case 0x09: return kChar;
  case 0x0B: return kShort;
  case 0x0C: return kInt;
  case 0x0D: return kFloat;
  case 0x0E: return kDouble;
  default: return std::nullopt;
  }
}

void reverse_each(char* data, int64_t count, size_t item) {
  if (item == 1) return;
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * item, data + (i + 1) * item);
}

/// Elements are read in portions, so that a header that lies about the sizes allocates no more than
/// the file gives.
constexpr size_t kPortion = size_t{1} << 24;

}  // namespace

Tensor read_idx(const std::string& path) {
  ByteSource source(path);
  uint8_t magic[4];
  source.read_all(magic, sizeof(magic), "header");
  const std::optional<ScalarType> dtype = type_of(magic[2]);
  TENON_CHECK(magic[0] == 0 && magic[1] == 0 && dtype, "[read_idx] '", path,
              "' is no IDX file: it begins with bytes ", int{magic[0]}, " ", int{magic[1]}, " ",
              int{magic[2]}, " ", int{magic[3]});
  DimVector sizes;
  for (int d = 0; d < magic[3]; ++d) {
    uint8_t size[4];
    source.read_all(size, sizeof(size), "sizes");
    sizes.push_back((int64_t{size[0]} << 24) | (size[1] << 16) | (size[2] << 8) | size[3]);
  }
  const int64_t count = numel_of(sizes);
  const size_t bytes = static_cast<size_t>(count) * element_size(*dtype);

  std::string elements;
  while (elements.size() < bytes) {
    const size_t portion = std::min(kPortion, bytes - elements.size());
    const size_t before = elements.size();
    elements.resize(before + portion);
    const size_t got = source.read(elements.data() + before, portion);
    TENON_CHECK(got == portion, "[read_idx] '", path, "': sizes ", IntArrayRef(sizes), " of ",
                *dtype, " need ", bytes, " bytes of elements, got ", before + got, " up to byte ",
                source.offset(), "; the file is truncated");
  }
  char surplus;
  TENON_CHECK(source.read(&surplus, 1) == 0, "[read_idx] '", path,
              "': data beyond the last element, from byte ", source.offset() - 1);
  Tensor result(empty(sizes, *dtype, kCPU));
  if (bytes > 0) std::memcpy(result.data_ptr(), elements.data(), bytes);
  reverse_each(static_cast<char*>(result.data_ptr()), count, element_size(*dtype));
  return result;
}

}  // namespace tenon::data
