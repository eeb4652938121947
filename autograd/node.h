#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tenon/tensor.h"

namespace tenon::autograd {

class Node;
using variable_list = SmallVector<Tensor, 3>;

/// Where a gradient goes: input `input_nr` of `function`; no function: nowhere.
struct Edge {
  IntrusivePtr<Node> function;
  uint32_t input_nr = 0;

  bool is_valid() const { return static_cast<bool>(function); }
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// What a gradient must be like: that of the forward result it belongs to.
struct InputMetadata {
  DimVector sizes;
  ScalarType dtype;
  Device device;

  explicit InputMetadata(const TensorBase& t)
      : sizes(t.sizes()), dtype(t.scalar_type()), device(t.device()) {}
};

using PreHook = std::function<variable_list(const variable_list& grads)>;
using PostHook =
    std::function<variable_list(const variable_list& grad_inputs, const variable_list& grad_outputs)>;
using TensorHook = std::function<Tensor(const Tensor& grad)>;

/// Hooks of a node and of the tensors it made; most nodes have none.
struct NodeHooks {
  struct OnTensor {
    uint32_t output_nr;
    TensorHook hook;  // empty once removed
  };
  struct Retained {
    uint32_t output_nr;
    TensorImpl* tensor;  // clears this entry when it goes
  };
  std::vector<OnTensor> tensor_hooks;
  std::vector<Retained> retained;
  std::vector<PreHook> pre_hooks;
  std::vector<PostHook> post_hooks;
};

/// One recorded operation. apply() takes the gradients of its results and gives those of its inputs,
/// one for each of next_edges(). Subclasses are generated, one per differentiable operator.
class TENON_API Node {
 public:
  RefCount refs;

  Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;
  static void destroy(Node* node) noexcept;

  /// "AddBackward0"
  virtual std::string name() const = 0;
  virtual variable_list apply(variable_list&& grads) = 0;
  /// Frees what was saved for backward.
  virtual void release_variables() {}
  /// A leaf's accumulator, which runs before other nodes.
  virtual bool is_accumulator() const { return false; }

  using Edges = SmallVector<Edge, 2>;
  const Edges& next_edges() const { return next_edges_; }
  void set_next_edges(Edges edges) { next_edges_ = std::move(edges); }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  size_t num_outputs() const { return next_edges_.size(); }
  size_t num_inputs() const { return metadata_.size(); }
  const InputMetadata& input_metadata(size_t i) const { return metadata_[i]; }
  /// Adds a result of the forward call and gives its number.
  uint32_t add_input_metadata(const TensorBase& result) {
    metadata_.emplace_back(result);
    return static_cast<uint32_t>(metadata_.size() - 1);
  }
  /// Number of this node among all of its thread: later ones run earlier.
  uint64_t sequence_nr() const { return sequence_nr_; }

  /// Whether the gradient of input i leads anywhere.
  bool should_compute_output(size_t i) const {
    return i < next_edges_.size() && next_edges_[i].is_valid();
  }
  /// The same, and it is wanted by the backward pass that runs now (`inputs` may prune it).
  bool task_should_compute_output(size_t i) const;
  /// Whether any of `count` gradients from i on is wanted.
  bool any_wanted(size_t i, size_t count) const {
    for (size_t k = i; k < i + count; ++k) {
      if (task_should_compute_output(k)) return true;
    }
    return false;
  }

  NodeHooks& hooks() {
    if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
    return *hooks_;
  }
  NodeHooks* hooks_or_null() const { return hooks_.get(); }
  void add_pre_hook(PreHook hook) { hooks().pre_hooks.push_back(std::move(hook)); }
  void add_post_hook(PostHook hook) { hooks().post_hooks.push_back(std::move(hook)); }

  static void* operator new(size_t bytes) { return memory::allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { memory::deallocate(block, bytes); }

 protected:
  uint64_t sequence_nr_;
  Edges next_edges_;
  SmallVector<InputMetadata, 1> metadata_;
  std::unique_ptr<NodeHooks> hooks_;
};

template <class T, class... Args>
IntrusivePtr<T> make_node(Args&&... args) {
  return IntrusivePtr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace tenon::autograd
