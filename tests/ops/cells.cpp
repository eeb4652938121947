#include "tests/ops/cells.h"

#include <cmath>

#include "tenon/ops/clone.h"

namespace tenon::ops_test {
namespace {

constexpr std::pair<const char*, ScalarType> kTokens[] = {
    {"u8", kByte},    {"i8", kChar},          {"i16", kShort},          {"i32", kInt},
    {"i64", kLong},   {"f16", kHalf},         {"bf16", kBFloat16},      {"f32", kFloat},
    {"f64", kDouble}, {"c64", kComplexFloat}, {"c128", kComplexDouble}, {"bool", kBool},
};

uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

uint64_t draw(int64_t stream, int64_t index) {
  return splitmix64((static_cast<uint64_t>(stream) << 32) + static_cast<uint64_t>(index)) >> 20;
}

// Half steps, so that a range around 0 does not hit the kinks there.
double float_cell(int64_t stream, int64_t index, double low, double high) {
  return low + (high - low) * (static_cast<double>(draw(stream, index) % 4096) + 0.5) / 4096;
}

int64_t int_cell(int64_t stream, int64_t index, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(draw(stream, index) % static_cast<uint64_t>(high - low + 1));
}

/// Calls f(element index, offset in elements) for every element in row-major order.
template <class F>
void for_each_element(const TensorBase& tensor, F f) {
  std::vector<int64_t> at(tensor.dim(), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * tensor.strides()[d];
    f(i, offset);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < tensor.sizes()[d]) break;
      at[d] = 0;
    }
  }
}

// Out of range numbers go through int64, which is what PyTorch's conversions do on x86-64.
template <class T>
T to_element(const Cells& cells, size_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return cells.integral() ? cells.ints[i] != 0 : cells.numbers[i] != 0.0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(cells.integral() ? cells.ints[i]
                                           : static_cast<int64_t>(cells.numbers[i].real()));
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return cells.integral() ? T(static_cast<typename T::value_type>(cells.ints[i]))
                            : T(cells.numbers[i]);
  } else {
    const double value =
        cells.integral() ? static_cast<double>(cells.ints[i]) : cells.numbers[i].real();
    if constexpr (std::is_same_v<T, double>) return value;
    return T(static_cast<float>(value));
  }
}

template <class T>
void append(Cells& cells, T value) {
  if constexpr (std::is_integral_v<T>) {
    cells.ints.push_back(static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    cells.numbers.emplace_back(value.real(), value.imag());
  } else {
    cells.numbers.emplace_back(static_cast<double>(value));
  }
}

Cells drawn(const Recipe& recipe, int64_t stream, int64_t count) {
  Cells cells;
  if (is_integral(recipe.dtype, true)) {
    const auto fallback = recipe.dtype == kBool   ? std::pair(0.0, 1.0)
                          : recipe.dtype == kByte ? std::pair(0.0, 9.0)
                                                  : std::pair(-5.0, 5.0);
    const auto [low, high] = recipe.range.value_or(fallback);
    cells.dtype = kLong;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t cell =
          int_cell(stream, i, static_cast<int64_t>(low), static_cast<int64_t>(high));
      cells.ints.push_back(recipe.dtype == kByte ? std::abs(cell) : cell);
    }
    return cells;
  }
  const auto [low, high] = recipe.range.value_or(std::pair(-2.0, 2.0));
  cells.dtype = kComplexDouble;
  for (int64_t i = 0; i < count; ++i) {
    if (is_complex(recipe.dtype)) {
      cells.numbers.emplace_back(float_cell(stream, 2 * i, low, high),
                                 float_cell(stream, 2 * i + 1, low, high));
    } else {
      cells.numbers.emplace_back(float_cell(stream, i, low, high));
    }
  }
  return cells;
}

Cells repeated(const std::vector<Scalar>& values, int64_t count) {
  Cells cells;
  bool integral = true;
  for (const Scalar& value : values) integral &= value.is_integral(true);
  cells.dtype = integral ? kLong : kComplexDouble;
  for (int64_t i = 0; i < count; ++i) {
    const Scalar& value = values[i % values.size()];
    if (integral) {
      cells.ints.push_back(value.toLong());
    } else {
      cells.numbers.push_back(value.toComplexDouble());
    }
  }
  return cells;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::optional<ScalarType> dtype_of(std::string_view token) {
  for (const auto& [name, dtype] : kTokens) {
    if (token == name) return dtype;
  }
  return std::nullopt;
}

const char* token_of(ScalarType dtype) {
  for (const auto& [name, type] : kTokens) {
    if (type == dtype) return name;
  }
  return "undefined";
}

Scalar parse_number(const std::string& text) {
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  TENON_CHECK_VALUE(!text.empty(), "a number is missing");
  char* end = nullptr;
  const long long integer = std::strtoll(text.c_str(), &end, 10);
  if (!*end) return static_cast<int64_t>(integer);
  const double first = std::strtod(text.c_str(), &end);
  if (!*end) return first;
  if (std::string_view(end) == "j") return std::complex<double>(0, first);
  const double second = std::strtod(end, &end);
  TENON_CHECK_VALUE(std::string_view(end) == "j", "not a number: ", text);
  return std::complex<double>(first, second);
}

Recipe parse_recipe(std::string_view text) {
  Recipe recipe;
  const auto words = split(text, ' ');
  TENON_CHECK_VALUE(!words.empty(), "an empty recipe of a tensor");
  const size_t bracket = words[0].find('[');
  const auto dtype = dtype_of(std::string_view(words[0]).substr(0, bracket));
  TENON_CHECK_VALUE(dtype && bracket != std::string::npos && words[0].back() == ']',
                    "not a tensor: ", text);
  recipe.dtype = *dtype;
  for (const auto& size :
       split(std::string_view(words[0]).substr(bracket + 1, words[0].size() - bracket - 2), ',')) {
    recipe.sizes.push_back(std::stoll(size));
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('('));
    std::vector<Scalar> numbers;
    if (name.size() < words[i].size()) {
      const auto inside =
          std::string_view(words[i]).substr(name.size() + 1, words[i].size() - name.size() - 2);
      for (const auto& number : split(inside, ',')) numbers.push_back(parse_number(number));
    }
    if (name == "in" && numbers.size() == 2) {
      recipe.range = std::pair(numbers[0].toDouble(), numbers[1].toDouble());
    } else if (name == "v" && !numbers.empty()) {
      recipe.values = numbers;
    } else if (name == "stream" && numbers.size() == 1) {
      recipe.stream = numbers[0].toLong();
    } else if (name == "nograd") {
      recipe.grad = false;
    } else if (name == "t") {
      recipe.arrangement = Arrangement::kReversed;
    } else if (name == "every2") {
      recipe.arrangement = Arrangement::kEverySecond;
    } else if (name == "expand") {
      recipe.arrangement = Arrangement::kExpanded;
    } else if (name == "cl") {
      recipe.arrangement = Arrangement::kChannelsLast;
    } else {
      TENON_CHECK_VALUE(false, "unknown option ", words[i], " of ", text);
    }
  }
  return recipe;
}

TensorBase empty_arranged(IntArrayRef sizes, ScalarType dtype, Arrangement arrangement,
                          int64_t offset) {
  const int64_t dims = static_cast<int64_t>(sizes.size());
  if (dims == 0 || arrangement == Arrangement::kContiguous) return empty(sizes, dtype, kCPU);
  if (arrangement == Arrangement::kChannelsLast) {
    return empty_strided(sizes, strides_of_format(sizes, MemoryFormat::ChannelsLast), dtype, kCPU);
  }
  DimVector strides(sizes.size(), 1);
  if (arrangement == Arrangement::kReversed) {
    for (int64_t d = 1; d < dims; ++d)
      strides[d] = strides[d - 1] * std::max<int64_t>(sizes[d - 1], 1);
    return empty_strided(sizes, strides, dtype, kCPU);
  }
  DimVector memory(sizes.begin(), sizes.end());
  if (arrangement == Arrangement::kExpanded) {
    memory[0] = 1;
    strides = contiguous_strides(memory);
    strides[0] = 0;
  } else {
    memory[dims - 1] = memory[dims - 1] * 2 + offset;
    strides = contiguous_strides(memory);
    strides[dims - 1] = 2;
  }
  return make_detached(make_view(empty(memory, dtype, kCPU), sizes, strides, offset));
}

TensorBase make_tensor(const Recipe& recipe, int64_t argument) {
  const TensorBase tensor = empty_arranged(recipe.sizes, recipe.dtype, recipe.arrangement);
  int64_t count = tensor.numel();
  if (recipe.arrangement == Arrangement::kExpanded && count) count /= recipe.sizes[0];
  Cells cells = recipe.values.empty() ? drawn(recipe, recipe.stream.value_or(argument), count)
                                      : repeated(recipe.values, count);
  // The cells of an expanded tensor are those of its first row, over and over.
  const auto repeat = [&](auto& list) {
    for (size_t i = list.size(); count && i < static_cast<size_t>(tensor.numel()); ++i)
      list.push_back(list[i - count]);
  };
  cells.integral() ? repeat(cells.ints) : repeat(cells.numbers);
  write_cells(tensor, cells);
  return tensor;
}

TensorBase rearranged(const TensorBase& tensor, Arrangement arrangement, int64_t offset) {
  const TensorBase result =
      empty_arranged(tensor.sizes(), tensor.scalar_type(), arrangement, offset);
  write_cells(result, read_cells(tensor));
  return result;
}

Cells read_cells(const TensorBase& given) {
  const bool has_bits = given.is_conj() || given.is_neg();
  const TensorBase tensor = has_bits ? TensorBase(Tensor(given).detach().clone()) : given;
  Cells cells;
  cells.dtype = tensor.scalar_type();
  TENON_DISPATCH_ALL(tensor.scalar_type(), "read_cells", {
    const scalar_t* data = static_cast<const scalar_t*>(tensor.const_data_ptr());
    for_each_element(tensor, [&](int64_t, int64_t offset) { append(cells, data[offset]); });
  });
  return cells;
}

void write_cells(const TensorBase& tensor, const Cells& cells) {
  TENON_DISPATCH_ALL(tensor.scalar_type(), "write_cells", {
    scalar_t* data = static_cast<scalar_t*>(tensor.mutable_data_ptr());
    for_each_element(
        tensor, [&](int64_t i, int64_t offset) { data[offset] = to_element<scalar_t>(cells, i); });
  });
}

Cells convert(const Cells& cells, ScalarType dtype) {
  Cells converted;
  converted.dtype = dtype;
  TENON_DISPATCH_ALL(dtype, "convert", {
    for (size_t i = 0; i < cells.size(); ++i) append(converted, to_element<scalar_t>(cells, i));
  });
  return converted;
}

}  // namespace tenon::ops_test
