#include "runtime/distributed/backends/reduce_op.h"

#include <type_traits>

namespace tenon::distributed {

const char* to_string(ReduceOp op) {
  switch (op) {
  case ReduceOp::SUM: return "SUM";
  case ReduceOp::AVG: return "AVG";
  case ReduceOp::PRODUCT: return "PRODUCT";
  case ReduceOp::MIN: return "MIN";
  case ReduceOp::MAX: return "MAX";
  case ReduceOp::BAND: return "BAND";
  case ReduceOp::BOR: return "BOR";
  case ReduceOp::BXOR: return "BXOR";
  }
  return "?";
}

namespace detail {
namespace {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

/// The unsigned type in which T wraps around, or T.
template <class T>
struct Wrapping {
  using type = T;
};
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct Wrapping<T> {
  // No narrower than unsigned int: two uint16_t would be multiplied as int, which overflows.
  using type = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
};
template <>
struct Wrapping<Half> {
  using type = float;
};
template <>
struct Wrapping<BFloat16> {
  using type = float;
};

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a && b;
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class Op, class T>
void loop(void* out, const void* a, const void* b, size_t n) {
  T* const o = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x[i], y[i]);
}

/// Null where the operation is not defined.
template <class T>
ReduceFunction choose(ReduceOp op) {
  constexpr bool integral = std::is_integral_v<T>;
  switch (op) {
  case ReduceOp::AVG:
    if (integral) return nullptr;
    [[fallthrough]];
  case ReduceOp::SUM: return loop<Sum, T>;
  case ReduceOp::PRODUCT: return loop<Product, T>;
  case ReduceOp::MIN:
    if constexpr (!is_complex_type<T>) return loop<Min, T>;
    break;
  case ReduceOp::MAX:
    if constexpr (!is_complex_type<T>) return loop<Max, T>;
    break;
  case ReduceOp::BAND:
    if constexpr (integral) return loop<And, T>;
    break;
  case ReduceOp::BOR:
    if constexpr (integral) return loop<Or, T>;
    break;
  case ReduceOp::BXOR:
    if constexpr (integral) return loop<Xor, T>;
    break;
  }
  return nullptr;
}

ReduceFunction find(ReduceOp op, ScalarType dtype) {
  switch (dtype) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return choose<T>(op);
    TENON_FORALL_TYPES(TENON_CASE)
#undef TENON_CASE
  case ScalarType::UInt16: return choose<uint16_t>(op);
  case ScalarType::UInt32: return choose<uint32_t>(op);
  case ScalarType::UInt64: return choose<uint64_t>(op);
  default: return nullptr;
  }
}

}  // namespace

ReduceFunction reduce_function(ReduceOp op, ScalarType dtype, const char* collective) {
  const ReduceFunction function = find(op, dtype);
  TENON_CHECK_NOT_IMPLEMENTED(function, "[", collective, "] ", to_string(op),
                              " is not defined for ", tenon::to_string(dtype));
  return function;
}

void divide(void* data, size_t n, ScalarType dtype, int divisor) {
  const auto run = [&]<class T>(T* values) {
    using W = typename Wrapping<T>::type;
    if constexpr (is_complex_type<W>) {
      for (size_t i = 0; i < n; ++i) values[i] /= static_cast<typename W::value_type>(divisor);
    } else {
      for (size_t i = 0; i < n; ++i)
        values[i] = static_cast<T>(static_cast<W>(values[i]) / static_cast<W>(divisor));
    }
  };
  switch (dtype) {
  case ScalarType::Float: return run(static_cast<float*>(data));
  case ScalarType::Double: return run(static_cast<double*>(data));
  case ScalarType::Half: return run(static_cast<Half*>(data));
  case ScalarType::BFloat16: return run(static_cast<BFloat16*>(data));
  case ScalarType::ComplexFloat: return run(static_cast<std::complex<float>*>(data));
  case ScalarType::ComplexDouble: return run(static_cast<std::complex<double>*>(data));
  default: tenon::detail::raise<NotImplementedError>("[all_reduce] AVG is not defined for ", dtype);
  }
}

}  // namespace detail

}  // namespace tenon::distributed
