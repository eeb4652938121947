#include "runtime/serialization/zip/zip_deflate.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "aten/core/error.h"
#include "tenon/config.h"

#if TENON_HAS_ZLIB
#include <zlib.h>
#endif

namespace tenon::serialization::zip {

#if TENON_HAS_ZLIB

namespace {

constexpr size_t kChunk = 256 * 1024;

/// zlib counts what it is given in 32 bits.
uInt part(uint64_t bytes) {
  return static_cast<uInt>(std::min<uint64_t>(bytes, std::numeric_limits<uInt>::max()));
}

/// A z_stream that is ended however its block is left.
struct Deflater : z_stream {
  explicit Deflater(int level) : z_stream() {
    TENON_CHECK_VALUE(level >= 1 && level <= 9, "[save] a deflate level is 1 to 9, got ", level);
    TENON_CHECK(deflateInit2(this, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                "[save] no memory to deflate with");
  }
  ~Deflater() { deflateEnd(this); }
};

struct Inflater : z_stream {
  Inflater() : z_stream() {
    TENON_CHECK(inflateInit2(this, -MAX_WBITS) == Z_OK, "[load] no memory to inflate with");
  }
  ~Inflater() { inflateEnd(this); }
};

}  // namespace

bool has_deflate() { return true; }

uint64_t deflate(ByteSink& sink, const void* data, uint64_t bytes, int level) {
  Deflater z(level);
  std::vector<char> out(kChunk);
  const uint64_t begin = sink.position();
  z.next_in = static_cast<Bytef*>(const_cast<void*>(data));
  uint64_t left = bytes;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const uInt given = part(left);
    z.avail_in = given;
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    state = ::deflate(&z, given == left ? Z_FINISH : Z_NO_FLUSH);
    TENON_ASSERT(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, state);
    left -= given - z.avail_in;
    sink.write(out.data(), out.size() - z.avail_out);
  }
  return sink.position() - begin;
}

namespace {

/// Inflates into windows of `window` bytes: begin() gives the memory of the next, which end() is
/// told of when it is full or the data are at their end.
template <class Begin, class End>
void inflate_windows(const ByteSource& source, uint64_t offset, uint64_t packed, uint64_t bytes,
                     uint64_t window, const std::string& what, const Begin& begin, const End& end) {
  Inflater z;
  std::vector<char> in(std::min<uint64_t>(packed, kChunk));
  uint64_t unread = packed, unfilled = bytes;
  uint64_t room = 0;  // in the window
  uint64_t filled = 0;
  // One byte more than there may be shows data that go on.
  char surplus;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (z.avail_in == 0 && unread > 0) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(unread, in.size()));
      source.read(offset + packed - unread, in.data(), n);
      unread -= n;
      z.next_in = reinterpret_cast<Bytef*>(in.data());
      z.avail_in = static_cast<uInt>(n);
    }
    if (room == 0) {
      room = std::min(window, unfilled);
      filled = 0;
      z.next_out = reinterpret_cast<Bytef*>(room > 0 ? begin() : &surplus);
    }
    const bool in_surplus = room == 0;
    const uInt given = in_surplus ? 1 : part(room);
    z.avail_out = given;
    state = ::inflate(&z, Z_NO_FLUSH);
    const uInt made = given - z.avail_out;
    TENON_CHECK(!in_surplus || made == 0, what, " inflates to more than its ", bytes, " bytes");
    if (!in_surplus) room -= made, unfilled -= made, filled += made;
    TENON_CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, what,
                " is damaged: ", z.msg ? z.msg : "its deflated data are invalid");
    TENON_CHECK(state != Z_BUF_ERROR || z.avail_in > 0 || unread > 0, what,
                " is damaged: its deflated data end early");
    if (room == 0 && filled > 0) end(static_cast<size_t>(std::exchange(filled, 0)));
  }
  TENON_CHECK(unfilled == 0, what, " inflates to ", bytes - unfilled, " bytes, expected ", bytes);
  const uint64_t after = unread + z.avail_in;
  TENON_CHECK(after == 0, what, " is damaged: its deflated data end at byte ",
              offset + packed - after, ", ", after, " bytes before the record does");
}

}  // namespace

void inflate(const ByteSource& source, uint64_t offset, uint64_t packed, void* data, uint64_t bytes,
             const std::string& what) {
  inflate_windows(
      source, offset, packed, bytes, bytes, what, [&] { return static_cast<char*>(data); },
      [](size_t) {});
}

void inflate(const ByteSource& source, uint64_t offset, uint64_t packed, uint64_t bytes,
             const std::function<void(const char* data, size_t bytes)>& take,
             const std::string& what) {
  std::vector<char> out(std::min<uint64_t>(bytes, kChunk));
  inflate_windows(
      source, offset, packed, bytes, kChunk, what, [&] { return out.data(); },
      [&](size_t filled) { take(out.data(), filled); });
}

#else

bool has_deflate() { return false; }

uint64_t deflate(ByteSink& sink, const void*, uint64_t, int) {
  tenon::detail::raise<NotImplementedError>("[save] ", sink.name(),
                                            ": this build has no zlib, so it cannot deflate");
}

void inflate(const ByteSource&, uint64_t, uint64_t, void*, uint64_t, const std::string& what) {
  tenon::detail::raise<NotImplementedError>(
      what, " is deflated, and this build has no zlib to inflate it with");
}

void inflate(const ByteSource&, uint64_t, uint64_t, uint64_t,
             const std::function<void(const char*, size_t)>&, const std::string& what) {
  tenon::detail::raise<NotImplementedError>(
      what, " is deflated, and this build has no zlib to inflate it with");
}

#endif

}  // namespace tenon::serialization::zip
