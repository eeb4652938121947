#include "aten/core/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

#include "aten/core/sparse/sparse_value.h"

namespace tenon {
namespace {

/// The format's star is the precision.
std::string printed(const char* format, int precision, double value) {
  if (std::isnan(value)) return "nan";
  std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, format, precision, value)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

std::string line_break(int64_t lines, int64_t indent) {
  std::string text(",");
  text.append(static_cast<size_t>(lines), '\n').append(static_cast<size_t>(indent), ' ');
  return text;
}

const char* python_name(ScalarType type) {
  switch (type) {
  case kByte: return "uint8";
  case kChar: return "int8";
  case kShort: return "int16";
  case kInt: return "int32";
  case kLong: return "int64";
  case kHalf: return "float16";
  case kFloat: return "float32";
  case kDouble: return "float64";
  case kComplexHalf: return "complex32";
  case kComplexFloat: return "complex64";
  case kComplexDouble: return "complex128";
  case kBool: return "bool";
  case kBFloat16: return "bfloat16";
  case kFloat8_e5m2: return "float8_e5m2";
  case kFloat8_e4m3fn: return "float8_e4m3fn";
  case kFloat8_e5m2fnuz: return "float8_e5m2fnuz";
  case kFloat8_e4m3fnuz: return "float8_e4m3fnuz";
  case kUInt16: return "uint16";
  case kUInt32: return "uint32";
  case kUInt64: return "uint64";
  case ScalarType::Undefined: break;
  }
  return "undefined";
}

/// How the numbers of one tensor are written, all to one width.
class NumberFormat {
 public:
  explicit NumberFormat(const std::vector<double>& values) {
    double smallest = HUGE_VAL;
    double largest = 0;
    for (double v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      smallest = std::min(smallest, std::fabs(v));
      largest = std::max(largest, std::fabs(v));
      whole_ &= v == std::ceil(v);
    }
    if (largest == 0) return;
    scientific_ = print_options().sci_mode.value_or(largest / smallest > 1000 || largest > 1e8 ||
                                                    (!whole_ && smallest < 1e-4));
    for (double v : values) {
      if (std::isfinite(v) && v != 0) width_ = std::max(width_, bare(v).size());
    }
  }
  size_t width() const { return width_; }
  std::string operator()(double v) const {
    const std::string text = bare(v);
    return std::string(text.size() < width_ ? width_ - text.size() : 0, ' ') + text;
  }

 private:
  std::string bare(double v) const {
    if (scientific_) return printed("%.*e", print_options().precision, v);
    if (!whole_) return printed("%.*f", print_options().precision, v);
    return printed("%.*f", 0, v) + (std::isfinite(v) ? "." : "");
  }

  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

/// Writes the elements of a CPU tensor in nested brackets.
class Writer {
 public:
  Writer(const TensorBase& t, int64_t indent)
      : t_(t), summarize_(t.numel() > print_options().threshold) {
    visit(0, 0, [this](int64_t offset) { collect(offset); });
    const bool floating = t.is_floating_point() || t.is_complex();
    const NumberFormat real(real_);
    const NumberFormat imag(imag_);
    if (floating) {
      width_ = real.width() + (t.is_complex() ? imag.width() + 1 : 0);
      element_ = [this, real, imag](int64_t offset) {
        const auto [re, im] = number(offset);
        if (!t_.is_complex()) return real(re);
        // The sign stands between the parts, without any padding.
        const std::string text = imag(im) + "j";
        const size_t first = text.find_first_not_of(' ');
        return real(re) + (text[first] == '-' ? "" : "+") + text.substr(first);
      };
    } else {
      for (const std::string& text : integers_) width_ = std::max(width_, text.size());
      element_ = [this](int64_t offset) {
        const std::string text = integer(offset);
        return std::string(width_ - text.size(), ' ') + text;
      };
    }
    text_ = dimension(0, 0, indent);
  }
  const std::string& text() const { return text_; }

 private:
  /// Calls f for all elements that are shown.
  template <class F>
  void visit(int64_t d, int64_t offset, F&& f) {
    if (d == t_.dim()) return f(offset);
    for_shown(
        d, [&](int64_t i) { visit(d + 1, offset + i * t_.strides()[d], f); }, [] {});
  }

  template <class F, class G>
  void for_shown(int64_t d, F&& f, G&& gap) const {
    const int64_t size = t_.sizes()[d];
    const int64_t edge = print_options().edgeitems;
    const bool cut = summarize_ && size > 2 * edge;
    for (int64_t i = 0; i < size; ++i) {
      if (cut && i == edge) {
        gap();
        i = size - edge;
      }
      f(i);
    }
  }

  /// The element, whatever bits the tensor has.
  std::pair<double, double> number(int64_t offset) const {
    auto [real, imag] = number_in_memory(offset);
    if (t_.is_conj()) imag = -imag;
    return t_.is_neg() ? std::pair(-real, -imag) : std::pair(real, imag);
  }

  std::pair<double, double> number_in_memory(int64_t offset) const {
    if (t_.scalar_type() == kComplexHalf) {
      const Half* parts = static_cast<const Half*>(t_.const_data_ptr()) + 2 * offset;
      return {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
    }
    return TENON_DISPATCH_ALL(t_.scalar_type(), "print", {
      const scalar_t v = static_cast<const scalar_t*>(t_.const_data_ptr())[offset];
      if constexpr (tenon::is_complex(scalar_type_of<scalar_t>)) {
        return std::pair<double, double>(v.real(), v.imag());
      } else {
        return std::pair<double, double>(static_cast<double>(v), 0.0);
      }
    });
  }

  std::string integer(int64_t offset) const {
    if (t_.scalar_type() == kBool) {
      return static_cast<const bool*>(t_.const_data_ptr())[offset] ? "True" : "False";
    }
    switch (t_.scalar_type()) {
    case kUInt16: return printed_integer<uint16_t>(offset);
    case kUInt32: return printed_integer<uint32_t>(offset);
    case kUInt64: return printed_integer<uint64_t>(offset);
    default: break;
    }
    return TENON_DISPATCH_INTEGRAL(t_.scalar_type(), "print",
                                   { return printed_integer<scalar_t>(offset); });
  }

  template <class T>
  std::string printed_integer(int64_t offset) const {
    const T value = static_cast<const T*>(t_.const_data_ptr())[offset];
    return std::to_string(t_.is_neg() ? static_cast<T>(-value) : value);
  }

  void collect(int64_t offset) {
    if (is_integral(t_.scalar_type(), true)) {
      integers_.push_back(integer(offset));
      return;
    }
    const auto [re, im] = number(offset);
    real_.push_back(re);
    imag_.push_back(im);
  }

  std::string row(int64_t offset, int64_t indent) const {
    const int64_t d = t_.dim() - 1;
    const int64_t per_line = std::max<int64_t>(1, (print_options().linewidth - indent) /
                                                      static_cast<int64_t>(width_ + 2));
    std::string text = "[";
    int64_t count = 0;
    const auto add = [&](const std::string& item) {
      if (count > 0) {
        text += count % per_line == 0 ? line_break(1, indent + 1) : ", ";
      }
      text += item;
      ++count;
    };
    for_shown(
        d, [&](int64_t i) { add(element_(offset + i * t_.strides()[d])); }, [&] { add(" ..."); });
    return text + "]";
  }

  std::string dimension(int64_t d, int64_t offset, int64_t indent) const {
    const int64_t left = t_.dim() - d;
    if (left == 0) return element_(offset);
    if (left == 1) return row(offset, indent);
    const std::string between = line_break(left - 1, indent + 1);
    std::string text = "[";
    bool first = true;
    const auto add = [&](const std::string& item) {
      text += (first ? "" : between) + item;
      first = false;
    };
    for_shown(
        d, [&](int64_t i) { add(dimension(d + 1, offset + i * t_.strides()[d], indent + 1)); },
        [&] { add("..."); });
    return text + "]";
  }

  const TensorBase& t_;
  bool summarize_;
  std::vector<double> real_;
  std::vector<double> imag_;
  std::vector<std::string> integers_;
  std::function<std::string(int64_t)> element_;
  size_t width_ = 1;
  std::string text_;
};

std::string python_tuple(IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

/// "[[0, 1], [2, 0]]" or, without elements, "[], size=(2, 0)".
std::string part_text(const IntrusivePtr<TensorImpl>& part, int64_t indent) {
  const TensorBase t(part);
  if (t.numel() == 0) return "[], size=" + python_tuple(t.sizes());
  return Writer(t, indent).text();
}

/// "indices=tensor(...),\n       values=tensor(...)"
std::string sparse_text(const TensorBase& tensor, int64_t indent) {
  const SparseValue& content = *tensor.unsafe_impl()->sparse;
  std::string text;
  const auto add = [&](const std::string& name, const IntrusivePtr<TensorImpl>& part) {
    const std::string prefix = name + "=tensor(";
    if (!text.empty()) text += line_break(1, indent);
    text += prefix + part_text(part, indent + static_cast<int64_t>(prefix.size())) + ")";
  };
  if (tensor.layout() == kSparse) {
    add("indices", content.indices);
  } else {
    const bool rows = tensor.layout() == kSparseCsr || tensor.layout() == kSparseBsr;
    add(rows ? "crow_indices" : "ccol_indices", content.indices);
    add(rows ? "col_indices" : "row_indices", content.plain_indices);
  }
  add("values", content.values);
  return text;
}

std::string layout_name(Layout layout) {
  std::ostringstream name;
  name << layout;
  return name.str();
}

}  // namespace

PrintOptions& print_options() {
  static PrintOptions options;
  return options;
}

PrintHooks& print_hooks() {
  static PrintHooks hooks;
  return hooks;
}

std::string to_string(const TensorBase& tensor, std::string_view name) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  const std::string prefix = std::string(name) + "(";
  const auto indent = static_cast<int64_t>(prefix.size());
  std::vector<std::string> suffixes;
  const ScalarType type = tensor.scalar_type();
  const ScalarType standard = get_default_dtype();
  std::string text = prefix;
  if (!tensor.is_cpu()) suffixes.push_back("device='" + tensor.device().str() + "'");
  bool shows_type = type != standard;
  TensorBase source = tensor;
  if (!tensor.is_cpu() && !tensor.is_meta() && print_hooks().to_cpu)
    source = print_hooks().to_cpu(tensor);
  const bool sparse = tensor.unsafe_impl()->sparse != nullptr;
  if (sparse) {
    const SparseValue& content = *tensor.unsafe_impl()->sparse;
    const int64_t nnz = tensor.layout() == kSparse ? content.indices->sizes[1]
                                                   : content.plain_indices->sizes.back();
    suffixes.push_back("size=" + python_tuple(tensor.sizes()));
    suffixes.push_back("nnz=" + std::to_string(nnz));
    shows_type = type != standard && type != to_complex(standard) && type != kLong && type != kBool;
    text += sparse_text(tensor, indent);
  } else if (!source.is_cpu() || is_float8(type)) {
    suffixes.push_back("size=" + python_tuple(tensor.sizes()));
    text += "...";
  } else if (tensor.numel() == 0) {
    if (tensor.dim() != 1) suffixes.push_back("size=" + python_tuple(tensor.sizes()));
    text += "[]";
  } else {
    shows_type = type != standard && type != to_complex(standard) && type != kLong && type != kBool;
    if (print_options().edgeitems == 0 && tensor.numel() > print_options().threshold) {
      suffixes.push_back("size=" + python_tuple(tensor.sizes()));
      text += "[...]";
    } else {
      text += Writer(source, indent).text();
    }
  }
  if (shows_type)
    suffixes.push_back(std::string("dtype=") + print_hooks().module + "." + python_name(type));
  if (sparse)
    suffixes.push_back(std::string("layout=") + print_hooks().module + "." +
                       layout_name(tensor.layout()));
  const std::string node = print_hooks().grad_fn_name ? print_hooks().grad_fn_name(tensor) : "";
  if (!node.empty()) {
    suffixes.push_back("grad_fn=<" + node + ">");
  } else if (tensor.requires_grad()) {
    suffixes.push_back("requires_grad=True");
  }
  bool breaks = tensor.layout() == kSparse;
  const size_t line = text.rfind('\n');
  auto used = static_cast<int64_t>(text.size()) -
              (line == std::string::npos ? -1 : static_cast<int64_t>(line)) + 1;
  for (const std::string& suffix : suffixes) {
    const auto size = static_cast<int64_t>(suffix.size());
    if (breaks || used + size + 2 > print_options().linewidth) {
      breaks = false;
      text += line_break(1, indent) + suffix;
      used = indent + size;
    } else {
      text += ", " + suffix;
      used += size + 2;
    }
  }
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const TensorBase& tensor) {
  return out << to_string(tensor);
}

}  // namespace tenon
