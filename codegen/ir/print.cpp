#include "codegen/ir/print.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <type_traits>

#include "codegen/ir/names.h"

namespace tenon::codegen::ir {
namespace {

/// Writes each part as it comes: a document as JSON values would take several times the memory.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  std::string take() && { return std::move(text_); }

  template <class T>
  void write(const T& value) {
    if constexpr (requires { value.fields(*this); }) {
      begin('{');
      value.fields([this](std::string_view key, const auto& member) { field(key, member); });
      end('}');
    } else if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_enum_v<T>) {
      write(name_of(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      text_ += std::to_string(value);
    } else {
      begin('[');
      for (const typename T::value_type& item : value) {
        separate();
        write(item);
      }
      end(']');
    }
  }

  void write(const std::string& text) { text_ += nlohmann::json(text).dump(); }

  template <class T>
  void write(const std::optional<T>& value) {
    if (value) {
      write(*value);
    } else {
      text_ += "null";
    }
  }

  /// A table: its keys are data.
  void write(const std::vector<std::pair<std::string, std::string>>& table) {
    begin('{');
    for (const auto& [key, text] : table) field(key, text);
    end('}');
  }

 private:
  template <class T>
  void field(std::string_view key, const T& value) {
    separate();
    text_ += '"';
    text_ += key;
    text_ += indent_ < 0 ? "\":" : "\": ";
    write(value);
  }

  void begin(char bracket) {
    text_ += bracket;
    ++depth_;
  }

  void end(char bracket) {
    --depth_;
    if (!is_first()) break_line();
    text_ += bracket;
  }

  void separate() {
    if (!is_first()) text_ += ',';
    break_line();
  }

  bool is_first() const { return text_.back() == '{' || text_.back() == '['; }

  void break_line() {
    if (indent_ >= 0) text_ += "\n" + std::string(static_cast<size_t>(depth_ * indent_), ' ');
  }

  int indent_;
  int depth_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Library& library, int indent) {
  Writer writer(indent);
  writer.write(library);
  return std::move(writer).take();
}

}  // namespace tenon::codegen::ir
