#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/dispatch/value.h"
#include "autograd/engine/hooks.h"
#include "autograd/engine/input_metadata.h"
#include "autograd/engine/spin_lock.h"

namespace tenon::autograd {

class GraphTask;
class Node;
struct NodeTask;

/// Where a gradient goes: input `input_nr` of `function`. Invalid if there is no function.
struct Edge {
  IntrusivePtr<Node> function;
  uint32_t input_nr = 0;

  bool is_valid() const { return static_cast<bool>(function); }
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Number of the next node that this thread records.
extern TENON_API constinit thread_local uint64_t next_sequence_nr
    __attribute__((tls_model("initial-exec")));

/// Whether the backward pass that runs on this thread leaves out nodes (`inputs` may prune it).
extern TENON_API constinit thread_local bool current_task_is_pruned
    __attribute__((tls_model("initial-exec")));

/// The type of a value that is saved for backward. A tensor is saved as a SavedVariable, `Tensor[]`
/// and `Tensor?[]` as a vector of them, and other types as they are.
enum class SavedKind : uint8_t {
  Tensor,
  TensorList,
  Bool,
  Int,
  Double,
  Number,  ///< Scalar
  OptionalBool,
  OptionalInt,
  OptionalDouble,
  OptionalNumber,
  String,
  Sizes,  ///< DimVector
  Ints,
  OptionalInts,
  Doubles,
  Scalars,
  Bools,
  IntsOfTensors,  ///< numbers for each tensor of a list
  RowShape,
  Other,  ///< of a type that needs no destruction
};

/// Describes a value that a node has saved for backward.
struct TENON_API SavedEntry {
  std::string name;  ///< "self", "result", "dim", ...
  SavedKind kind;
  const void* value;
  const Node* node;  ///< the owner of the value

  /// Bytes of the tensors, not counting what saved-tensor hooks keep.
  size_t nbytes() const;
  /// The value if it is not a tensor; nothing if the schema language has no such type.
  std::optional<Value> plain() const;
};

/// One recorded operation. apply() takes the gradients of its results and returns the gradients of
/// its inputs, one for each of next_edges(). All operators have nodes of class OperatorNode.
class TENON_API Node {
 public:
  RefCount refs;

  Node() : sequence_nr_(next_sequence_nr++) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;
  /// Deletes the node and the nodes that only it keeps alive, without recursion: graphs may be
  /// deep.
  static void destroy(Node* node) noexcept;

  /// "AddBackward0"
  virtual std::string name() const = 0;
  virtual variable_list apply(variable_list&& grads) = 0;
  /// Frees what was saved for backward.
  virtual void release_variables() {}
  /// The values saved for backward, freed ones included.
  virtual std::vector<SavedEntry> saved() const { return {}; }
  /// Bytes saved for backward, not counting what saved-tensor hooks keep.
  size_t saved_nbytes() const;
  /// Whether this is a leaf's accumulator, which runs before other nodes.
  bool is_accumulator() const { return is_accumulator_; }

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
  /// Number of this node among those that its thread recorded. Higher numbers run first.
  uint64_t sequence_nr() const { return sequence_nr_; }

  /// Whether input i requires a gradient.
  bool should_compute_output(size_t i) const {
    return i < next_edges_.size() && next_edges_[i].is_valid();
  }
  /// Whether the backward pass that runs now needs the gradient of input i.
  bool task_should_compute_output(size_t i) const {
    return should_compute_output(i) && (TENON_LIKELY(!current_task_is_pruned) || needed_by_task(i));
  }
  /// The same of any of `count` inputs from i on.
  bool any_wanted(size_t i, size_t count) const {
    for (size_t k = i; k < i + count; ++k) {
      if (task_should_compute_output(k)) return true;
    }
    return false;
  }

  NodeHooks& hooks() { return hooks_.get_or_make(); }
  NodeHooks* hooks_or_null() const { return hooks_.get(); }
  HookHandle add_pre_hook(PreHook hook) { return hooks().pre.add(std::move(hook)); }
  HookHandle add_post_hook(PostHook hook) { return hooks().post.add(std::move(hook)); }

  /// Held while the node's saved values are read or freed: the passes of other threads must not see
  /// them half freed.
  SpinLock& saved_lock() const { return saved_lock_; }

  static void* operator new(size_t bytes) { return memory::allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { memory::deallocate(block, bytes); }

 protected:
  /// Ends the node's life.
  virtual void dispose() noexcept { delete this; }

  bool is_accumulator_ = false;
  uint64_t sequence_nr_;
  Edges next_edges_;
  SmallVector<InputMetadata, 1> metadata_;
  OnDemand<NodeHooks> hooks_;

 private:
  friend class GraphTask;

  bool needed_by_task(size_t i) const;

  mutable SpinLock saved_lock_;
  // The first backward pass to visit the node claims it and finds its NodeTask here. Only a second
  // pass at the same time, which is rare, needs a hash table.
  std::atomic<GraphTask*> claimed_by_{nullptr};
  union {
    NodeTask* task_ = nullptr;
    Node* next_dead_;  // while the node waits to be deleted
  };
};

template <class T, class... Args>
IntrusivePtr<T> make_node(Args&&... args) {
  return IntrusivePtr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace tenon::autograd
