#pragma once

#include <memory>

namespace tenon {

/// A thread's value, made when first used: `thread_local ThreadValue<T> x; x->f();`. Only a pointer
/// is in the library's thread-local memory, which must be small: where another library has been
/// loaded first, the loader has a few hundred bytes left for ours. For the same reason nothing that
/// such a program loads calls std::call_once, which asks for some of the C++ library's.
template <class T>
class ThreadValue {
 public:
  T& operator*() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  T* operator->() { return &**this; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace tenon
