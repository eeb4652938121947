#pragma once

#include <optional>
#include <ostream>
#include <variant>
#include <vector>

#include "aten/core/array_ref.h"
#include "runtime/nn/enum.h"

namespace tenon::nn {

/// Prints a module with its options, as PyTorch does: "torch::nn::Linear(in_features=2,
/// bias=true)".
class ShownOptions {
 public:
  ShownOptions(std::ostream& out, const char* name) : out_(out) { out_ << name << '('; }
  ~ShownOptions() { out_ << ')'; }
  ShownOptions(const ShownOptions&) = delete;
  ShownOptions& operator=(const ShownOptions&) = delete;

  /// One more option; without a name its value alone.
  template <class T>
  void add(const char* name, const T& value) {
    out_ << (first_ ? "" : ", ") << name << (*name ? "=" : "");
    first_ = false;
    show(value);
  }

 private:
  void show(bool value) { out_ << (value ? "true" : "false"); }
  template <class T>
  void show(const T& value) {
    out_ << value;
  }
  template <class T>
  void show(const std::vector<T>& values) {
    out_ << ArrayRef<T>(values);
  }
  template <class T>
  void show(const std::optional<T>& value) {
    if (value) {
      show(*value);
    } else {
      out_ << "None";
    }
  }
  template <class... Words>
  void show(const std::variant<Words...>& value) {
    std::visit(
        [this](const auto& one) {
          if constexpr (requires { one.kName; }) {
            out_ << one.kName;
          } else {
            show(one);
          }
        },
        value);
  }

  std::ostream& out_;
  bool first_ = true;
};

}  // namespace tenon::nn
