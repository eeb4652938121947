#include "runtime/serialization/pickle/pickle_writer.h"

#include <bit>
#include <limits>

#include "aten/core/error.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value <= 0xFF) {
    write(Opcode::BinInt1);
    zip::put<uint8_t>(out_, static_cast<uint8_t>(value));
  } else if (value >= 0 && value <= 0xFFFF) {
    write(Opcode::BinInt2);
    zip::put<uint16_t>(out_, static_cast<uint16_t>(value));
  } else if (value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max()) {
    write(Opcode::BinInt);
    zip::put<int32_t>(out_, static_cast<int32_t>(value));
  } else {
    std::string bytes;
    zip::put<int64_t>(bytes, value);
    while (bytes.size() > 1) {
      const auto last = static_cast<uint8_t>(bytes.back());
      const bool negative = static_cast<uint8_t>(bytes[bytes.size() - 2]) & 0x80;
      if (last != (negative ? 0xFF : 0x00)) break;
      bytes.pop_back();
    }
    long_integer(bytes);
  }
}

void PickleWriter::long_integer(std::string_view bytes) {
  if (bytes.size() <= 0xFF) {
    write(Opcode::Long1);
    zip::put<uint8_t>(out_, static_cast<uint8_t>(bytes.size()));
  } else {
    TENON_CHECK(bytes.size() <= std::numeric_limits<int32_t>::max(), "[save] an int of ",
                bytes.size(), " bytes is too large");
    write(Opcode::Long4);
    zip::put<int32_t>(out_, static_cast<int32_t>(bytes.size()));
  }
  out_ += bytes;
}

void PickleWriter::real(double value) {
  write(Opcode::BinFloat);
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
}

PickleWriter::Memo PickleWriter::string(std::string_view text) {
  TENON_CHECK(text.size() <= std::numeric_limits<uint32_t>::max(), "[save] a string of ",
              text.size(), " bytes is too long");
  write(Opcode::BinUnicode);
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
  global(std::string(module) + ' ' + std::string(name));
}

void PickleWriter::global(std::string_view text) {
  const auto it = globals_.find(std::string(text));
  if (it != globals_.end()) return get(it->second);
  const size_t space = text.find(' ');
  TENON_CHECK_VALUE(space != text.npos && text.find('\n') == text.npos,
                    "[save] a class or function must be given as 'module name', got '", text, "'");
  write(Opcode::Global);
  out_ += text.substr(0, space);
  out_ += '\n';
  out_ += text.substr(space + 1);
  out_ += '\n';
  globals_.emplace(text, put());
}

PickleWriter::Memo PickleWriter::tuple(size_t items) {
  constexpr Opcode kOpcodes[] = {Opcode::Tuple1, Opcode::Tuple2, Opcode::Tuple3};
  return remember(items > 3 ? Opcode::Tuple : kOpcodes[items - 1]);
}

void PickleWriter::drop_tuple(size_t items, Memo memo) {
  if (items > 3) {
    write(Opcode::PopMark);
  } else {
    out_.append(items, static_cast<char>(Opcode::Pop));
  }
  get(memo);
}

void PickleWriter::drop_reduced(bool by_new, Memo memo) {
  write(by_new ? Opcode::NewObj : Opcode::Reduce);
  write(Opcode::Pop);
  get(memo);
}

void PickleWriter::integers(IntArrayRef values) {
  if (values.empty()) return empty_tuple();
  begin_tuple(values.size());
  for (const int64_t v : values) integer(v);
  tuple(values.size());
}

void PickleWriter::get(Memo memo) {
  if (memo <= 0xFF) {
    write(Opcode::BinGet);
    zip::put<uint8_t>(out_, static_cast<uint8_t>(memo));
  } else {
    write(Opcode::LongBinGet);
    zip::put<uint32_t>(out_, memo);
  }
}

PickleWriter::Memo PickleWriter::put() {
  if (next_ <= 0xFF) {
    write(Opcode::BinPut);
    zip::put<uint8_t>(out_, static_cast<uint8_t>(next_));
  } else {
    write(Opcode::LongBinPut);
    zip::put<uint32_t>(out_, next_);
  }
  return next_++;
}

PickleWriter::Memo PickleWriter::remember(Opcode opcode) {
  write(opcode);
  return put();
}

}  // namespace tenon::serialization
