#include <charconv>
#include <cmath>
#include <set>

#include "aten/core/print.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/value_node.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;
using detail::Node;

/// What is printed of a value ends here.
constexpr size_t kMaxText = size_t{1} << 20;

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

class Printer {
 public:
  std::string run(const Value& value) {
    print(value);
    return std::move(out_);
  }

 private:
  void quoted(const std::string& text, bool is_text) {
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
      if (out_.size() > kMaxText) break;
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
      if (out_.size() > kMaxText) {
        out_ += "...";
        break;
      }
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

  void print(const Value& v) {
    switch (v.kind()) {
    case Kind::None: out_ += "None"; return;
    case Kind::Bool: out_ += v.to_bool() ? "True" : "False"; return;
    case Kind::Int: out_ += detail::printed_int(v); return;
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
    case Kind::Layout: out_ += v.name(); return;
    case Kind::Global: out_ += "<" + v.name() + ">"; return;
    case Kind::Storage:
      out_ += "<storage of " + std::to_string(v.to_storage().nbytes()) + " bytes on " +
              v.to_storage().device().str() + ">";
      return;
    case Kind::Tensor: out_ += tenon::to_string(v.to_tensor()); return;
    case Kind::Parameter:
      out_ += "Parameter containing:\n" + tenon::to_string(v.to_tensor());
      return;
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
    out_ += "<" + v.name();
    items("(", v.args(), ")");
    if (!v.attributes().is_none()) {
      out_ += ' ';
      print(v.attributes());
    }
    out_ += '>';
  }

  std::string out_;
  std::set<const Node*> open_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << Printer().run(value);
}

}  // namespace tenon::serialization
