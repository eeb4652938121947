#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "aten/core/macros.h"

namespace tenon {

namespace detail {
/// True while the process has no second thread: counting needs no locked instruction then, which
/// costs as much as the rest of a small call. The C library clears its flag before a second thread
/// starts.
inline bool single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded;
#else
  return false;
#endif
}
}  // namespace detail

/// A reference count inside the object it counts. A class T that has one also has a static
/// `void T::destroy(T*) noexcept`, which IntrusivePtr calls when the last reference goes.
class RefCount {
 public:
  void retain() noexcept {
    if (detail::single_threaded()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// True if this was the last reference.
  bool release() noexcept {
    // The sole owner needs no read-modify-write: nobody else can be adding a reference.
    const uint32_t count = count_.load(std::memory_order_acquire);
    if (count == 1) return true;
    if (detail::single_threaded()) {
      count_.store(count - 1, std::memory_order_relaxed);
      return false;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Who finds itself alone also sees all that other threads did before they gave up theirs.
  uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Takes a reference unless the object is already being destroyed: for weak back pointers.
  bool retain_if_alive() noexcept {
    uint32_t n = count_.load(std::memory_order_relaxed);
    while (n != 0 && !count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) {
    }
    return n != 0;
  }
  /// Marks the object dead so that retain_if_alive() fails from here on.
  void clear() noexcept { count_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> count_{1};
};

/// Shared ownership of a T with a member `RefCount refs`.
template <class T>
class IntrusivePtr {
 public:
  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : ptr_(other.ptr_) {
    if (ptr_) ptr_->refs.retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(const IntrusivePtr<U>& other)
  noexcept : ptr_(other.get()) {
    if (ptr_) ptr_->refs.retain();
  }
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(IntrusivePtr<U>&& other)
  noexcept : ptr_(other.detach()) {}
  ~IntrusivePtr() { reset(); }
  IntrusivePtr& operator=(const IntrusivePtr& other) noexcept {
    IntrusivePtr(other).swap(*this);
    return *this;
  }
  IntrusivePtr& operator=(IntrusivePtr&& other) noexcept {
    IntrusivePtr(std::move(other)).swap(*this);
    return *this;
  }

  /// Takes over the reference that `ptr` already counts, as a fresh object does.
  static IntrusivePtr adopt(T* ptr) noexcept {
    IntrusivePtr p;
    p.ptr_ = ptr;
    return p;
  }
  /// Adds a reference to an object that someone else keeps alive now.
  static IntrusivePtr share(T* ptr) noexcept {
    if (ptr) ptr->refs.retain();
    return adopt(ptr);
  }

  T* get() const noexcept { return ptr_; }
  T* operator->() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  /// Gives the reference away.
  T* detach() noexcept { return std::exchange(ptr_, nullptr); }
  void swap(IntrusivePtr& other) noexcept { std::swap(ptr_, other.ptr_); }
  void reset() noexcept {
    T* old = std::exchange(ptr_, nullptr);
    if (old && old->refs.release()) T::destroy(old);
  }

  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.ptr_ == b.ptr_; }
  friend bool operator==(const IntrusivePtr& a, std::nullptr_t) { return a.ptr_ == nullptr; }

 private:
  T* ptr_ = nullptr;
};

}  // namespace tenon
