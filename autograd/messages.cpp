#include "autograd/messages.h"

#include "autograd/meta.h"

namespace tenon::autograd::messages {
namespace {

using tenon::detail::concat;
using tenon::detail::raise;

/// "Output 0 of Unbind is a view and is being modified inplace."
std::string changed_view(const Tensor& view, bool indirect) {
  const AutogradMeta* meta = view.unsafe_impl()->autograd_meta;
  return concat("Output ", meta ? meta->output_nr : 0, " of ",
                meta && meta->grad_fn ? operation_of(*meta->grad_fn) : "a function",
                " is a view and ",
                indirect ? "its base or another view of its base has been modified inplace."
                         : "is being modified inplace.");
}

}  // namespace

std::string operation_of(const Node& node) {
  std::string name = node.name();
  const size_t end = name.find_last_not_of("0123456789");
  constexpr std::string_view kSuffix = "Backward";
  if (end == std::string::npos || end + 1 < kSuffix.size()) return name;
  const size_t start = end + 1 - kSuffix.size();
  if (start > 0 && name.compare(start, kSuffix.size(), kSuffix) == 0) name.resize(start);
  return name;
}

// clang-format off
void graph_was_freed() {
  raise<Error>("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.");
}

void saved_tensor_was_modified(const Tensor& data, const std::string& what, uint32_t expected_version) {
  raise<Error>("one of the variables needed for gradient computation has been modified by an inplace operation: [", data.is_cuda() ? "torch.cuda." : "torch.", data.scalar_type(), "Tensor ", data.sizes(), "]", what, " is at version ", data._version(), "; expected version ", expected_version, " instead. Hint: the operation that changed it in place came after it was used here; change a clone(), or use the operation that is not in place. AnomalyMode tells which operation failed to compute its gradient.");
}

void view_of_unrecorded_mode(const char* mode, bool indirect) {
  raise<Error>("A view was created in ", mode, " mode and ", indirect ? "its base or another view of its base has been modified inplace" : "is being modified inplace", " with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the ", mode == std::string_view("inference") ? "inference_mode" : mode, " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
}

void one_of_several_views(const Tensor& view, bool indirect) {
  raise<Error>(changed_view(view, indirect), " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.");
}

void view_of_custom_function(const Tensor& view, bool indirect) {
  raise<Error>(changed_view(view, indirect), " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.");
}
// clang-format on

}  // namespace tenon::autograd::messages
