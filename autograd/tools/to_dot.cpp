#include "autograd/tools/to_dot.h"

#include <mutex>
#include <sstream>
#include <unordered_map>

#include "autograd/engine/accumulate_grad.h"
#include "autograd/saved/saved_variable.h"

namespace tenon::autograd {
namespace {

/// Text between quotes of the DOT language, where "\n" is the line break of a label.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// What the node keeps: each tensor with its name, sizes and count of changes.
void describe_saved(std::ostream& label, const Node& node) {
  const std::lock_guard lock(node.saved_lock());
  size_t bytes = 0;
  for (const SavedEntry& entry : node.saved()) {
    bytes += entry.nbytes();
    if (entry.kind == SavedKind::Tensor) {
      const auto& saved = *static_cast<const SavedVariable*>(entry.value);
      if (saved.was_defined()) label << '\n' << entry.name << ": " << saved.summary();
    } else if (entry.kind == SavedKind::TensorList) {
      size_t i = 0;
      for (const auto& saved : *static_cast<const std::vector<SavedVariable>*>(entry.value)) {
        if (saved.was_defined())
          label << '\n' << entry.name << '[' << i << "]: " << saved.summary();
        ++i;
      }
    }
  }
  if (bytes) label << '\n' << bytes << " bytes saved";
}

std::string label_of(const Node& node) {
  std::ostringstream label;
  label << node.name();
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const InputMetadata& result = node.input_metadata(i);
    if (result.defined()) label << '\n' << result.dtype() << result.sizes();
  }
  describe_saved(label, node);
  return std::move(label).str();
}

class Picture {
 public:
  void add(const Edge& edge, const std::string& from) {
    if (!edge.is_valid()) return;
    Node* node = edge.function.get();
    const auto [found, fresh] = numbers_.try_emplace(node, numbers_.size());
    if (fresh) pending_.push_back(node);
    edges_ << "  " << from << " -> n" << found->second;
    if (node->num_inputs() > 1) edges_ << " [label=\"" << edge.input_nr << "\"]";
    edges_ << ";\n";
  }
  void add_root(const Tensor& tensor, size_t i) {
    const std::string name = "t" + std::to_string(i);
    std::ostringstream label;
    label << tensor.scalar_type() << tensor.sizes();
    nodes_ << "  " << name << " [shape=plain, label=" << quoted(std::move(label).str()) << "];\n";
    add(gradient_edge(tensor), name);
  }
  std::string text() {
    // In the order they were found, so that the text depends on the graph alone.
    for (size_t i = 0; i < pending_.size(); ++i) {
      const Node& node = *pending_[i];
      const std::string name = "n" + std::to_string(i);
      nodes_ << "  " << name << " [shape=" << (node.is_accumulator() ? "ellipse" : "box")
             << ", label=" << quoted(label_of(node)) << "];\n";
      for (const Edge& edge : node.next_edges()) add(edge, name);
    }
    return "digraph {\n" + nodes_.str() + edges_.str() + "}\n";
  }

 private:
  std::unordered_map<const Node*, size_t> numbers_;
  std::vector<Node*> pending_;
  std::ostringstream nodes_;
  std::ostringstream edges_;
};

}  // namespace

std::string to_dot(const std::vector<Tensor>& tensors) {
  Picture picture;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].defined(), "[to_dot] expected tensors, got an undefined one at ", i);
    picture.add_root(tensors[i], i);
  }
  return picture.text();
}

std::string to_dot(const Tensor& tensor) { return to_dot(std::vector<Tensor>{tensor}); }

}  // namespace tenon::autograd
