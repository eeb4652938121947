#include "runtime/serialization/values/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "aten/core/print.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/values/big_integer.h"
#include "runtime/serialization/values/value_node.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;
using detail::Node;

/// What operator<< writes of a value ends here.
constexpr size_t kMaxText = size_t{1} << 20;

constexpr std::string_view kCut = "...";

/// The shortest text that reads back as the same number, in Python's form.
std::string printed(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char text[32];
  const double size = std::fabs(v);
  const auto format = size != 0 && (size < 1e-4 || size >= 1e16) ? std::chars_format::scientific
                                                                 : std::chars_format::fixed;
  std::string s(text, std::to_chars(text, text + sizeof(text), v, format).ptr);
  if (format == std::chars_format::fixed && s.find('.') == s.npos) s += ".0";
  return s;
}

std::string part(double v) {
  std::string s = printed(v);
  if (s.ends_with(".0")) s.resize(s.size() - 2);
  return s;
}

std::string printed(std::complex<double> v) {
  if (v.real() == 0 && !std::signbit(v.real())) return part(v.imag()) + "j";
  const std::string imaginary = part(v.imag());
  return tenon::detail::concat('(', part(v.real()), imaginary[0] == '-' ? "" : "+", imaginary,
                               "j)");
}

/// Once the text is longer than it may be, nothing is added to it.
class Printer {
 public:
  explicit Printer(size_t most) : most_(most) {}

  std::string run(const Value& value) {
    print(value);
    if (is_full()) {
      out_.resize(most_ - std::min(most_, kCut.size()));
      // No character of several bytes is cut in two.
      while (!out_.empty() && (static_cast<uint8_t>(out_.back()) & 0xC0) == 0x80) out_.pop_back();
      if (!out_.empty() && static_cast<uint8_t>(out_.back()) >= 0xC0) out_.pop_back();
      out_ += kCut;
    }
    return std::move(out_);
  }

 private:
  bool is_full() const { return out_.size() > most_; }

  void add(std::string_view text) {
    if (!is_full()) out_ += text.substr(0, most_ + 1 - out_.size());
  }

  void quoted(std::string_view text, bool is_text) {
    text = text.substr(0, most_ + 1);
    const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
    out_ += quote;
    for (const char c : text) {
      const auto byte = static_cast<uint8_t>(c);
      if (c == quote || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (c == '\n') {
        out_ += "\\n";
      } else if (c == '\t') {
        out_ += "\\t";
      } else if (c == '\r') {
        out_ += "\\r";
      } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_text)) {
        out_ += "\\x";
        out_ += "0123456789abcdef"[byte >> 4];
        out_ += "0123456789abcdef"[byte & 15];
      } else {
        out_ += c;
      }
      if (is_full()) return;
    }
    out_ += quote;
  }

  template <class All, class Print>
  void list(const char* open, const All& all, const char* close, Print&& print_one) {
    out_ += open;
    bool first = true;
    for (const auto& one : all) {
      if (!first) out_ += ", ";
      first = false;
      if (is_full()) return;
      print_one(one);
    }
    out_ += close;
  }
  void items(const char* open, const Value& v, const char* close) {
    list(open, v.items(), close, [this](const Value& item) { print(item); });
  }
  void pairs(const char* open, const Value& v, const char* close) {
    list(open, v.entries(), close, [this](const auto& entry) {
      print(entry.first);
      out_ += ": ";
      print(entry.second);
    });
  }

  void print_int(const Value& v) {
    if (v.fits_int64()) return add(std::to_string(v.to_int()));
    add(big_integer::to_text(static_cast<const detail::TextNode*>(Node::of(v))->text, most_));
  }

  void print(const Value& v) {
    if (is_full()) return;
    switch (v.kind()) {
    case Kind::None: out_ += "None"; return;
    case Kind::Bool: out_ += v.to_bool() ? "True" : "False"; return;
    case Kind::Int: return print_int(v);
    case Kind::Float: out_ += printed(v.to_double()); return;
    case Kind::Complex: out_ += printed(v.to_complex()); return;
    case Kind::String: return quoted(v.to_string(), true);
    case Kind::Bytes: out_ += 'b'; return quoted(v.to_bytes(), false);
    case Kind::ByteArray:
      out_ += "bytearray(b";
      quoted(v.to_bytes(), false);
      out_ += ')';
      return;
    case Kind::Dtype: out_ += "torch." + dtype_name(v.to_dtype()); return;
    case Kind::Device: {
      const Device device = v.to_device();
      out_ += std::string("device(type='") + tenon::to_string(device.type()) + "'";
      if (device.has_index()) out_ += ", index=" + std::to_string(device.index());
      out_ += ')';
      return;
    }
    case Kind::Layout: return add(v.name());
    case Kind::Global:
      add("<");
      add(v.name());
      return add(">");
    case Kind::Storage:
      out_ += "<storage of " + std::to_string(v.to_storage().nbytes()) + " bytes on " +
              v.to_storage().device().str() + ">";
      return;
    case Kind::Tensor: return add(tenon::to_string(v.to_tensor()));
    case Kind::Parameter:
      add("Parameter containing:\n");
      return add(tenon::to_string(v.to_tensor()));
    default: break;
    }
    if (open_.size() >= kMaxDepth || !open_.insert(Node::of(v)).second) {
      out_ += "...";
      return;
    }
    print_container(v);
    open_.erase(Node::of(v));
  }

  void print_container(const Value& v) {
    switch (v.kind()) {
    case Kind::List: return items("[", v, "]");
    case Kind::Tuple: return items("(", v, v.size() == 1 ? ",)" : ")");
    case Kind::Dict: return pairs("{", v, "}");
    case Kind::Counter: return pairs("Counter({", v, "})");
    case Kind::OrderedDict:
      return list("OrderedDict([", v.entries(), "])", [this](const auto& entry) {
        out_ += '(';
        print(entry.first);
        out_ += ", ";
        print(entry.second);
        out_ += ')';
      });
    case Kind::Set:
      if (v.size() > 0) return items("{", v, "}");
      out_ += "set()";
      return;
    case Kind::FrozenSet:
      if (v.size() > 0) return items("frozenset({", v, "})");
      out_ += "frozenset()";
      return;
    case Kind::Size: return items("torch.Size([", v, "])");
    case Kind::Slice: return items("slice(", v, ")");
    case Kind::Range: return items("range(", v, ")");
    default: break;
    }
    add("<");
    add(v.name());
    items("(", v.args(), ")");
    if (!v.elements().is_none()) {
      out_ += ' ';
      print(v.elements());
    }
    if (!v.attributes().is_none()) {
      out_ += ' ';
      print(v.attributes());
    }
    out_ += '>';
  }

  const size_t most_;
  std::string out_;
  std::set<const Node*> open_;
};

}  // namespace

std::string text_of(const Value& value, size_t most) { return Printer(most).run(value); }

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << text_of(value, kMaxText);
}

}  // namespace tenon::serialization
