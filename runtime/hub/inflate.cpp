#include "runtime/hub/inflate.h"

#include <utility>

#include "aten/core/error.h"
#include "tenon/config.h"

#if TENON_HAS_ZLIB
#include <zlib.h>
#endif

namespace tenon::hub {

bool Inflater::is_available() { return TENON_HAS_ZLIB; }

#if TENON_HAS_ZLIB

struct Inflater::State {
  z_stream stream{};
  bool finished = false;
  char out[1 << 16];
};

Inflater::Inflater(Put put) : put_(std::move(put)) {}

Inflater::~Inflater() {
  if (state_) ::inflateEnd(&state_->stream);
}

bool Inflater::push(const char* data, size_t bytes) {
  if (!state_) {
    auto state = std::make_unique<State>();
    // Negative: no header of zlib's own.
    TENON_CHECK(::inflateInit2(&state->stream, -MAX_WBITS) == Z_OK,
                "[hub] zlib cannot be initialised");
    state_ = std::move(state);
  }
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
  stream.avail_in = static_cast<uInt>(bytes);
  while (stream.avail_in > 0 || stream.avail_out == 0) {
    if (state_->finished) return false;
    stream.next_out = reinterpret_cast<Bytef*>(state_->out);
    stream.avail_out = sizeof(state_->out);
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    put_(state_->out, sizeof(state_->out) - stream.avail_out);
    if (result == Z_BUF_ERROR) return true;  // all input is taken, and all output is out
    if (result != Z_OK && result != Z_STREAM_END) return false;
    state_->finished = result == Z_STREAM_END;
    if (state_->finished) return stream.avail_in == 0;
  }
  return true;
}

bool Inflater::finished() const { return state_ && state_->finished; }

#else

struct Inflater::State {};

Inflater::Inflater(Put put) : put_(std::move(put)) {}
Inflater::~Inflater() = default;

bool Inflater::push(const char*, size_t) { return false; }
bool Inflater::finished() const { return false; }

#endif

}  // namespace tenon::hub
