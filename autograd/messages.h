#pragma once

#include <cstdint>
#include <string>

#include "aten/core/macros.h"

namespace tenon {
class Tensor;
}

namespace tenon::autograd {
class Node;
}

/// The longer texts of autograd's errors, whole, which are PyTorch's so that they can be searched
/// for.
namespace tenon::autograd::messages {

// clang-format off
inline constexpr const char* kDetachedInPlace =
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). This is not supported, please use out-of-place `.detach()` instead";
inline constexpr const char* kSavedInferenceTensor =
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `tenon.no_grad()` instead of `tenon.inference_mode()`.";
inline constexpr const char* kRequiresGradOfInferenceTensor =
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.";
inline constexpr const char* kPackHookChangedItsInput =
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by in-place operations as this can lead to unexpected side-effects.";
inline constexpr const char* kHooksAreSetAlready =
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.";
inline constexpr const char* kHooksOnWhatWasFreed =
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward.";
inline constexpr const char* kHooksOnNothing =
    "Calling register_hooks on a saved tensor with value None is forbidden";
inline constexpr const char* kOutsideOfMutationGuard =
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded.";
inline constexpr const char* kUnpackGaveNoTensor =
    "Output of saved tensor unpack_hook expected to be a Tensor but got an undefined one";
inline constexpr const char* kLeafInPlace =
    "a leaf Variable that requires grad is being used in an in-place operation.";
inline constexpr const char* kViewOfLeafInPlace =
    "a view of a leaf Variable that requires grad is being used in an in-place operation.";
inline constexpr const char* kDirtyNotReturned =
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function.";
inline constexpr const char* kDirtyViewOfSeveral =
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor, got ";
inline constexpr const char* kJvpNotInPlace =
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, then the jvp function must modify the corresponding gradient inplace.";
inline constexpr const char* kJvpNotAsIs =
    "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is.";
inline constexpr const char* kJvpNoView =
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.";
inline constexpr const char* kJvpViewOfAnother =
    "A custom Function is returning a view but the jvp is not returning a view of the given grad input.";
// clang-format on

/// "Mul" of MulBackward0.
std::string operation_of(const Node& node);
[[noreturn]] TENON_COLD void graph_was_freed();
/// `what`: ", which is output 0 of Mul,", or nothing.
[[noreturn]] TENON_COLD void saved_tensor_was_modified(const Tensor& data, const std::string& what,
                                                       uint32_t expected_version);
/// Views that must not be changed in place; `indirect`: their base was.
/// `mode`: "no_grad" or "inference".
[[noreturn]] TENON_COLD void view_of_unrecorded_mode(const char* mode, bool indirect);
[[noreturn]] TENON_COLD void one_of_several_views(const Tensor& view, bool indirect);
[[noreturn]] TENON_COLD void view_of_custom_function(const Tensor& view, bool indirect);

}  // namespace tenon::autograd::messages
