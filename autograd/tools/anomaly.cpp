#include "autograd/tools/anomaly.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdlib>

#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/sum.h"

namespace tenon::autograd {

constinit std::atomic<bool> AnomalyMode::enabled_{false};
constinit std::atomic<bool> AnomalyMode::check_nan_{true};

/// Where a node was recorded, if it was in anomaly mode, and what a user keeps with it.
struct AnomalyRecord {
  std::vector<void*> calls;
  IntrusivePtr<Node> parent;  // whose backward recorded it
  std::shared_ptr<void> metadata;
};

namespace {

constinit thread_local Node* running = nullptr;

std::string name_of(void* address) {
  Dl_info info;
  if (!::dladdr(address, &info) || !info.dli_sname) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%p", address);
    return text.data();
  }
  int status = 0;
  char* demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : info.dli_sname;
  std::free(demangled);
  return name;
}

std::string calls_of(const AnomalyRecord& record) {
  std::string text;
  for (auto call = record.calls.rbegin(); call != record.calls.rend(); ++call)
    text += "\n  " + name_of(*call);
  return text;
}

void warn_of_traces(const Node& node) {
  const auto record_of = [](const Node& n) {
    const NodeHooks* hooks = n.hooks_or_null();
    std::shared_ptr<AnomalyRecord> record = hooks ? hooks->anomaly : nullptr;
    if (record && record->calls.empty()) record = nullptr;
    return record;
  };
  std::shared_ptr<AnomalyRecord> record = record_of(node);
  if (!record) {
    TENON_WARN("Error detected in ", node.name(),
               ". No forward pass information available. Enable anomaly mode during forward pass "
               "for more information.");
    return;
  }
  TENON_WARN("Error detected in ", node.name(),
             ". Traceback of forward call that caused the error:", calls_of(*record));
  while (const Node* parent = record->parent.get()) {
    record = record_of(*parent);
    TENON_WARN("Previous calculation was induced by ", parent->name(), ". ",
               record ? "Traceback of forward call that induced the previous calculation:" +
                            calls_of(*record)
                      : "No forward pass information available.");
    if (!record) return;
  }
}

void check_nan(const Node& node, const variable_list& results) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = results[i];
    if (!t.defined() || !is_differentiable(t.scalar_type()) || t.device().type() == kMeta) continue;
    // NaN is what differs from itself. These operators are in every selected library anyhow.
    const auto numbers = sum(eq(t, t)).item<int64_t>();
    TENON_CHECK(numbers == t.numel(), "Function '", node.name(), "' returned nan values in its ", i,
                "th output.");
  }
}

}  // namespace

std::shared_ptr<void>& metadata_of(Node& node) {
  std::shared_ptr<AnomalyRecord>& record = node.hooks().anomaly;
  if (!record) record = std::make_shared<AnomalyRecord>();
  return record->metadata;
}

void keep_calls_of(Node& node) {
  if (NodeHooks* hooks = node.hooks_or_null(); hooks && hooks->anomaly) return;
  auto record = std::make_shared<AnomalyRecord>();
  std::array<void*, 64> calls;
  const int count = ::backtrace(calls.data(), static_cast<int>(calls.size()));
  // Without this function itself.
  record->calls.assign(calls.begin() + 1, calls.begin() + std::max(count, 1));
  record->parent = IntrusivePtr<Node>::share(running);
  node.hooks().anomaly = std::move(record);
}

variable_list apply_in_anomaly_mode(Node& node, variable_list&& grads) {
  struct Running {
    Node* previous;
    ~Running() { running = previous; }
  } const restore{std::exchange(running, &node)};
  try {
    variable_list results = node.apply(std::move(grads));
    if (AnomalyMode::should_check_nan()) check_nan(node, results);
    return results;
  } catch (...) {
    warn_of_traces(node);
    throw;
  }
}

}  // namespace tenon::autograd
