#include "runtime/serialization/values/value_names.h"

#include "runtime/serialization/values/value_text.h"
#include "runtime/serialization/values/value_visit.h"

namespace tenon::serialization {
namespace {

using detail::Node;
using detail::Part;

/// Keys that are no strings are shortened to this.
constexpr size_t kKeyText = 1024;

class NameWalk {
 public:
  NameWalk(Repeats repeats, Budget& budget,
           const std::function<unsigned(const std::string&, const Value&)>& f)
      : repeats_(repeats), budget_(budget), f_(f) {}

  void run(const Value& root) {
    visit(root);
    while (!open_.empty()) {
      Level& level = open_.back();
      if (level.next == level.children.size()) {
        if (repeats_ == Repeats::All) entered_.erase(level.node);
        open_.pop_back();
        continue;
      }
      const Child child = level.children[level.next++];
      name_.resize(level.name_bytes);
      if (child.part == Part::Item) add_to_name(child.key, level.items++);
      visit(*child.value);
    }
  }

 private:
  struct Child {
    Part part;
    const Value* value;
    const Value* key;
  };
  struct Level {
    const Node* node;
    size_t name_bytes;
    std::vector<Child> children;
    size_t next = 0;
    size_t items = 0;
  };

  void visit(const Value& value) {
    budget_.spend(Budget::kValue);
    const unsigned into = f_(name_, value);
    const Node* node = Node::of(value);
    if (into == kNothing || !node || !entered_.insert(node).second) return;
    Level level{node, name_.size(), {}};
    detail::each_child(value, [&](Part part, const Value& child, const Value* key) {
      const unsigned wanted = part == Part::Item         ? kItems
                              : part == Part::Arguments  ? kArguments
                              : part == Part::Attributes ? kAttributes
                                                         : kNothing;
      if (into & wanted) level.children.push_back({part, &child, key});
    });
    open_.push_back(std::move(level));
  }

  void add_to_name(const Value* key, size_t index) {
    if (!name_.empty()) name_ += '.';
    if (!key) {
      name_ += std::to_string(index);
    } else if (key->is_string()) {
      budget_.spend(key->to_string().size());
      name_ += key->to_string();
    } else {
      const std::string text = text_of(*key, kKeyText);
      budget_.spend(text.size());
      name_ += text;
    }
  }

  Repeats repeats_;
  Budget& budget_;
  const std::function<unsigned(const std::string&, const Value&)>& f_;
  std::string name_;
  std::vector<Level> open_;
  detail::Nodes entered_;  // of Repeats::All: those on the way, else all
};

}  // namespace

void walk_names(const Value& root, Repeats repeats, Budget& budget,
                const std::function<unsigned(const std::string&, const Value&)>& f) {
  NameWalk(repeats, budget, f).run(root);
}

}  // namespace tenon::serialization
