#include "autograd/saved/saved_tensor_hooks.h"

#include "autograd/messages.h"
#include "tenon/ops/to.h"

namespace tenon::autograd {

constinit thread_local const SavedTensorHooksGuard* saved_tensor_hooks
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit thread_local const DisableSavedTensorHooks* disabled = nullptr;

struct OnCpu {
  Tensor kept;
  Device device;
  int64_t version;
};

SavedTensorHooks hooks_of_save_on_cpu() {
  return {[](const Tensor& t) -> std::any {
            const Tensor kept = t.is_cpu() ? t.detach() : t.detach().cpu();
            return OnCpu{kept, t.device(), kept._version()};
          },
          [](const std::any& packed) {
            const auto& [kept, device, version] = std::any_cast<const OnCpu&>(packed);
            // What has not been copied shares memory with the tensor, and counts its changes.
            if (kept._version() != version)
              messages::saved_tensor_was_modified(kept, "", static_cast<uint32_t>(version));
            return device.is_cpu() ? kept : kept.to(device, kept.scalar_type());
          }};
}

}  // namespace

void check_saved_tensor_hooks_are_enabled() {
  if (disabled) tenon::detail::raise<Error>(disabled->message_);
}

SavedTensorHooksGuard::SavedTensorHooksGuard(SavedTensorHooks hooks)
    : hooks_(std::make_shared<const SavedTensorHooks>(std::move(hooks))),
      outer_(saved_tensor_hooks) {
  check_saved_tensor_hooks_are_enabled();
  TENON_CHECK(hooks_->pack && hooks_->unpack,
              "[SavedTensorHooksGuard] expected both pack and unpack, got an empty function");
  saved_tensor_hooks = this;
}

SavedTensorHooksGuard::~SavedTensorHooksGuard() { saved_tensor_hooks = outer_; }

DisableSavedTensorHooks::DisableSavedTensorHooks(std::string message)
    : message_(std::move(message)), outer_(disabled) {
  disabled = this;
}

DisableSavedTensorHooks::~DisableSavedTensorHooks() { disabled = outer_; }

SaveOnCpu::SaveOnCpu() : SavedTensorHooksGuard(hooks_of_save_on_cpu()) {}

}  // namespace tenon::autograd
