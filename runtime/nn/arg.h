#pragma once

#include <utility>

/// TENON_ARG(T, name): an option `name` of a class of options, read by name() and set by
/// name(value), which returns the object so that settings chain. Write it as the last thing before
/// a default: `TENON_ARG(bool, bias) = true;`
#define TENON_ARG(T, name)                                 \
 public:                                                   \
  auto name(T value)->decltype(*this) {                    \
    this->name##_ = std::move(value);                      \
    return *this;                                          \
  }                                                        \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }             \
                                                           \
 private:                                                  \
  T name##_ /* NOLINT */
