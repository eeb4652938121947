#include "autograd/engine/fresh_stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <exception>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tenon::autograd {
namespace {

constexpr size_t kStackBytes = size_t{8} << 20;
constexpr size_t kGuardBytes = size_t{64} << 10;

/// Memory of a stack, with a part below it that nobody may touch.
class StackMemory {
 public:
  StackMemory()
      : memory_(::mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(memory_, kGuardBytes, PROT_NONE);
  }
  ~StackMemory() { ::munmap(memory_, kGuardBytes + kStackBytes); }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  void* bottom() const { return static_cast<char*>(memory_) + kGuardBytes; }

 private:
  void* memory_;
};

struct Call {
  const std::function<void()>& function;
  std::exception_ptr error;
  const void* caller_stack = nullptr;  // as the address sanitizer wants it
  size_t caller_stack_bytes = 0;
};

/// makecontext() passes integers only.
void enter(unsigned low, unsigned high) {
  auto& call =
      *reinterpret_cast<Call*>(static_cast<uintptr_t>(low) | (static_cast<uintptr_t>(high) << 32));
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &call.caller_stack, &call.caller_stack_bytes);
#endif
  try {
    call.function();
  } catch (...) {
    call.error = std::current_exception();
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, call.caller_stack, call.caller_stack_bytes);
#endif
}

}  // namespace

void run_on_fresh_stack(const std::function<void()>& f) {
  const StackMemory stack;
  Call call{f, nullptr};
  ucontext_t here, there;
  ::getcontext(&there);
  there.uc_stack.ss_sp = stack.bottom();
  there.uc_stack.ss_size = kStackBytes;
  there.uc_link = &here;
  const auto address = reinterpret_cast<uintptr_t>(&call);
  ::makecontext(&there, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(address),
                static_cast<unsigned>(address >> 32));
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack.bottom(), kStackBytes);
#endif
  ::swapcontext(&here, &there);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace tenon::autograd
