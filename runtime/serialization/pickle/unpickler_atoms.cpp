// Opcodes that make numbers and texts.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "runtime/serialization/pickle/pickle_text.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "runtime/serialization/zip/zip_format.h"

namespace tenon::serialization {

std::string_view Unpickler::take_text(uint64_t bytes) {
  const std::string_view text = in_.take(bytes);
  budget_.spend(Budget::kNode + bytes);
  return text;
}

std::string_view Unpickler::take_text_line() {
  const std::string_view line = in_.take_line();
  budget_.spend(Budget::kNode + line.size());
  return line;
}

void Unpickler::push_decimal(std::string_view digits) {
  // The time of a conversion grows with the square of the length.
  constexpr uint64_t kDigitsPerByte = 8;
  budget_.spend((digits.size() / kDigitsPerByte) * (digits.size() / kDigitsPerByte));
  push(Value::int_of_decimal(digits));
}

void Unpickler::push_text(std::string_view utf8) {
  if (!is_utf8(utf8)) fail("a string is not UTF-8");
  push(std::string(utf8));
}

/// A string of Python 2, in whatever encoding it was.
void Unpickler::push_8bit(std::string_view text) {
  if (options_.encoding == "bytes") return push(Value::bytes(std::string(text)));
  if (options_.encoding == "latin1") return push(latin1_to_utf8(text));
  const bool is_ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (!(options_.encoding == "ascii" ? is_ascii : is_utf8(text))) {
    fail("an 8-bit string is not " + options_.encoding +
         "; load with encoding=\"latin1\" or \"bytes\"");
  }
  push(std::string(text));
}

bool Unpickler::step_number(Opcode opcode) {
  switch (opcode) {
  case Opcode::None: push(nullptr); return true;
  case Opcode::NewTrue: push(true); return true;
  case Opcode::NewFalse: push(false); return true;
  case Opcode::BinInt1: push(in_.take_number<uint8_t>()); return true;
  case Opcode::BinInt2: push(in_.take_number<uint16_t>()); return true;
  case Opcode::BinInt: push(in_.take_number<int32_t>()); return true;
  case Opcode::Long1: push(Value::int_of_bytes(take_text(in_.take_number<uint8_t>()))); return true;
  case Opcode::Long4: {
    const auto bytes = in_.take_number<int32_t>();
    if (bytes < 0) fail("an int of negative length");
    push(Value::int_of_bytes(take_text(static_cast<uint64_t>(bytes))));
    return true;
  }
  case Opcode::Int: {
    const std::string_view line = take_text_line();
    // Protocol 0 writes False and True as 00 and 01.
    line == "00" || line == "01" ? push(line == "01") : push_decimal(line);
    return true;
  }
  case Opcode::Long: {
    std::string_view line = take_text_line();
    if (line.ends_with('L')) line.remove_suffix(1);
    push_decimal(line);
    return true;
  }
  case Opcode::BinFloat: {  // big-endian
    uint64_t bits = 0;
    for (const char c : in_.take(8)) bits = (bits << 8) | static_cast<uint8_t>(c);
    push(std::bit_cast<double>(bits));
    return true;
  }
  case Opcode::Float: {
    const std::string line(in_.take_line());
    char* end = nullptr;
    const double value = std::strtod(line.c_str(), &end);
    if (line.empty() || end != line.c_str() + line.size()) fail("not a number: '" + line + "'");
    push(value);
    return true;
  }
  default: return false;
  }
}

bool Unpickler::step_text(Opcode opcode) {
  switch (opcode) {
  case Opcode::BinUnicode: push_text(take_text(in_.take_number<uint32_t>())); return true;
  case Opcode::ShortBinUnicode: push_text(take_text(in_.take_number<uint8_t>())); return true;
  case Opcode::BinUnicode8: push_text(take_text(in_.take_number<uint64_t>())); return true;
  case Opcode::Unicode: {
    const std::optional<std::string> text = unescaped_unicode(take_text_line());
    if (!text) fail("a wrong escape in a string");
    push_text(*text);
    return true;
  }
  case Opcode::ShortBinString: push_8bit(take_text(in_.take_number<uint8_t>())); return true;
  case Opcode::BinString: {
    const auto bytes = in_.take_number<int32_t>();
    if (bytes < 0) fail("a string of negative length");
    push_8bit(take_text(static_cast<uint64_t>(bytes)));
    return true;
  }
  case Opcode::String: {
    const std::optional<std::string> text = unquoted(take_text_line());
    if (!text) fail("a string without its quotes, or a wrong escape in it");
    push_8bit(*text);
    return true;
  }
  case Opcode::ShortBinBytes:
    push(Value::bytes(std::string(take_text(in_.take_number<uint8_t>()))));
    return true;
  case Opcode::BinBytes:
    push(Value::bytes(std::string(take_text(in_.take_number<uint32_t>()))));
    return true;
  case Opcode::BinBytes8:
    push(Value::bytes(std::string(take_text(in_.take_number<uint64_t>()))));
    return true;
  case Opcode::ByteArray8:
    push(Value::bytearray(std::string(take_text(in_.take_number<uint64_t>()))));
    return true;
  default: return false;
  }
}

}  // namespace tenon::serialization
