#pragma once

#include "aten/core/thread_state.h"
#include "aten/dispatch/registration.h"

namespace tenon {

/// Until the end of the scope `mode` sees this thread's calls, as the fallback of the layer
/// `Mode::kKey`; of several modes the one that came last first, and the others what it calls.
/// Nothing is paid for it outside of such scopes. `Mode::go_on` is the kernel; it asks `with_next`
/// who takes the call. `Mode::innermost()` is the thread's last guard.
template <class Mode>
class TENON_API ModeGuard {
 public:
  explicit ModeGuard(Mode& mode) : mode_(mode), outer_(Mode::innermost()) {
    [[maybe_unused]] static const bool is_registered = [] {
      tenon::detail::add_fallback(Mode::kKey, &Mode::go_on, Mode::kSource);
      return true;
    }();
    Mode::innermost() = this;
    enable(true);
  }
  ~ModeGuard() {
    // Python may leave its contexts in another order than that of entering.
    ModeGuard** place = &Mode::innermost();
    while (*place && *place != this) place = &(*place)->outer_;
    if (*place) *place = outer_;
    enable(Mode::innermost() != nullptr);
  }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

  /// call(mode, is_last) of the last mode, which does not see what is called there; of null if
  /// there is none.
  template <class Call>
  static void with_next(const Call& call) {
    struct Below {
      ModeGuard*& innermost;
      ModeGuard* const guard;
      ~Below() { innermost = guard; }
    } const below{Mode::innermost(), Mode::innermost()};
    if (below.guard) below.innermost = below.guard->outer_;
    call(below.guard ? &below.guard->mode_ : nullptr, below.innermost == nullptr);
  }

 private:
  static void enable(bool enabled) {
    const uint8_t layer = DispatchKeySet(*layer_of(Mode::kKey)).layers;
    uint8_t& layers = thread_state.enabled_layers;
    layers = static_cast<uint8_t>(enabled ? layers | layer : layers & ~layer);
    thread_state.refresh();
  }

  Mode& mode_;
  ModeGuard* outer_;
};

}  // namespace tenon
