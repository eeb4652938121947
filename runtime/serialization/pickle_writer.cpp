#include "runtime/serialization/pickle_writer.h"

#include <limits>

#include "aten/core/error.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::serialization {

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value <= 0xFF) {
    out_ += 'K';
    zip::put<uint8_t>(out_, static_cast<uint8_t>(value));
  } else if (value >= 0 && value <= 0xFFFF) {
    out_ += 'M';
    zip::put<uint16_t>(out_, static_cast<uint16_t>(value));
  } else if (value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max()) {
    out_ += 'J';
    zip::put<int32_t>(out_, static_cast<int32_t>(value));
  } else {
    // LONG1: as few bytes of two's complement as hold the sign.
    std::string bytes;
    zip::put<int64_t>(bytes, value);
    while (bytes.size() > 1) {
      const auto last = static_cast<uint8_t>(bytes.back());
      const bool negative = static_cast<uint8_t>(bytes[bytes.size() - 2]) & 0x80;
      if (last != (negative ? 0xFF : 0x00)) break;
      bytes.pop_back();
    }
    out_ += '\x8a';
    zip::put<uint8_t>(out_, static_cast<uint8_t>(bytes.size()));
    out_ += bytes;
  }
}

PickleWriter::Memo PickleWriter::string(std::string_view text) {
  TENON_CHECK(text.size() <= std::numeric_limits<uint32_t>::max(), "[save] a string of ",
              text.size(), " bytes is too long");
  out_ += 'X';
  zip::put<uint32_t>(out_, static_cast<uint32_t>(text.size()));
  out_ += text;
  return put();
}

void PickleWriter::shared_string(std::string_view text) {
  const auto it = strings_.find(std::string(text));
  if (it != strings_.end()) return get(it->second);
  strings_.emplace(text, string(text));
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  std::string text = std::string(module) + '\n' + std::string(name) + '\n';
  const auto it = globals_.find(text);
  if (it != globals_.end()) return get(it->second);
  out_ += 'c';
  out_ += text;
  globals_.emplace(std::move(text), put());
}

void PickleWriter::integers(IntArrayRef values) {
  if (values.empty()) return empty_tuple();
  if (values.size() > 3) mark();
  for (const int64_t v : values) integer(v);
  constexpr char kOpcodes[] = {'\x85', '\x86', '\x87'};
  remember(values.size() > 3 ? 't' : kOpcodes[values.size() - 1]);
}

void PickleWriter::get(Memo memo) {
  if (memo <= 0xFF) {
    out_ += 'h';
    zip::put<uint8_t>(out_, static_cast<uint8_t>(memo));
  } else {
    out_ += 'j';
    zip::put<uint32_t>(out_, memo);
  }
}

PickleWriter::Memo PickleWriter::put() {
  if (next_ <= 0xFF) {
    out_ += 'q';
    zip::put<uint8_t>(out_, static_cast<uint8_t>(next_));
  } else {
    out_ += 'r';
    zip::put<uint32_t>(out_, next_);
  }
  return next_++;
}

PickleWriter::Memo PickleWriter::remember(char opcode) {
  out_ += opcode;
  return put();
}

}  // namespace tenon::serialization
