#include "runtime/serialization/zip_deflate.h"

#include <algorithm>
#include <limits>
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

void inflate(const ByteSource& source, uint64_t offset, uint64_t packed, void* data, uint64_t bytes,
             const std::string& what) {
  Inflater z;
  std::vector<char> in(std::min<uint64_t>(packed, kChunk));
  uint64_t unread = packed, unfilled = bytes;
  // One byte more than there may be shows data that go on.
  char surplus;
  z.next_out = static_cast<Bytef*>(data);
  bool in_surplus = false;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (z.avail_in == 0 && unread > 0) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(unread, in.size()));
      source.read(offset + packed - unread, in.data(), n);
      unread -= n;
      z.next_in = reinterpret_cast<Bytef*>(in.data());
      z.avail_in = static_cast<uInt>(n);
    }
    if (unfilled == 0 && !in_surplus) {
      z.next_out = reinterpret_cast<Bytef*>(&surplus);
      in_surplus = true;
    }
    const uInt room = in_surplus ? 1 : part(unfilled);
    z.avail_out = room;
    state = ::inflate(&z, Z_NO_FLUSH);
    const uInt made = room - z.avail_out;
    TENON_CHECK(!in_surplus || made == 0, what, " inflates to more than its ", bytes, " bytes");
    if (!in_surplus) unfilled -= made;
    TENON_CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, what,
                " is damaged: ", z.msg ? z.msg : "its deflated data are invalid");
    TENON_CHECK(state != Z_BUF_ERROR || z.avail_in > 0 || unread > 0, what,
                " is damaged: its deflated data end early");
  }
  TENON_CHECK(unfilled == 0, what, " inflates to ", bytes - unfilled, " bytes, expected ", bytes);
  const uint64_t after = unread + z.avail_in;
  TENON_CHECK(after == 0, what, " is damaged: its deflated data end at byte ",
              offset + packed - after, ", ", after, " bytes before the record does");
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

#endif

}  // namespace tenon::serialization::zip
