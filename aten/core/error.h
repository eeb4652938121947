#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "aten/core/macros.h"

namespace tenon {

/// Base of every error the library throws. The text begins with `[op]` where an operator is at
/// fault.
class TENON_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// what(), in libtorch's words: there is no backtrace in it.
  const char* what_without_backtrace() const noexcept { return what(); }
};

/// An index or a dimension is out of range.
class TENON_API IndexError : public Error {
  using Error::Error;
};

/// An argument has the right type but a value that is not allowed.
class TENON_API ValueError : public Error {
  using Error::Error;
};

/// An argument has the wrong type or dtype.
class TENON_API TypeError : public Error {
  using Error::Error;
};

/// What was asked for is not provided for this dtype, device or layout.
class TENON_API NotImplementedError : public Error {
  using Error::Error;
};

/// Integer division or remainder by zero.
class TENON_API ZeroDivisionError : public Error {
  using Error::Error;
};

namespace detail {

/// How a part of a message is passed on: a literal as a pointer, since each length of a literal
/// would otherwise be another instance of the functions below (some 2,000 in the library); what is
/// small by value, so that a check does not force its variables into memory.
template <class T>
using MessagePart = std::conditional_t<
    std::is_array_v<T>, const std::remove_extent_t<T>*,
    std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 16, T, const T&>>;

template <class... Parts>
TENON_COLD std::string concat_parts(Parts... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

template <class... Parts>
TENON_ALWAYS_INLINE std::string concat(const Parts&... parts) {
  return concat_parts<MessagePart<Parts>...>(parts...);
}

template <class E, class... Parts>
[[noreturn]] TENON_COLD void raise_parts(Parts... parts) {
  throw E(concat_parts<Parts...>(parts...));
}

template <class E, class... Parts>
[[noreturn]] TENON_ALWAYS_INLINE void raise(const Parts&... parts) {
  raise_parts<E, MessagePart<Parts>...>(parts...);
}

}  // namespace detail

#define TENON_CHECK_AS(ErrorType, cond, ...)          \
  do {                                                \
    if (TENON_UNLIKELY(!(cond))) {                    \
      ::tenon::detail::raise<ErrorType>(__VA_ARGS__); \
    }                                                 \
  } while (false)

/// TENON_CHECK(condition, parts of the message...): throws the named error unless the condition
/// holds.
#define TENON_CHECK(cond, ...) TENON_CHECK_AS(::tenon::Error, cond, __VA_ARGS__)
#define TENON_CHECK_INDEX(cond, ...) TENON_CHECK_AS(::tenon::IndexError, cond, __VA_ARGS__)
#define TENON_CHECK_VALUE(cond, ...) TENON_CHECK_AS(::tenon::ValueError, cond, __VA_ARGS__)
#define TENON_CHECK_TYPE(cond, ...) TENON_CHECK_AS(::tenon::TypeError, cond, __VA_ARGS__)
#define TENON_CHECK_NOT_IMPLEMENTED(cond, ...) \
  TENON_CHECK_AS(::tenon::NotImplementedError, cond, __VA_ARGS__)

/// What only a defect of the library itself can violate.
#define TENON_ASSERT(cond, ...)                                                                    \
  TENON_CHECK_AS(::tenon::Error, cond, "internal error at ", __FILE__, ":", __LINE__, ": ", #cond, \
                 " does not hold. ", ##__VA_ARGS__)

}  // namespace tenon
