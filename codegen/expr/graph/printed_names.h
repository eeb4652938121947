#pragma once

#include <map>
#include <set>
#include <string>

namespace tenon::codegen::expr {

using Renaming = std::map<std::string, std::string>;

/// The names in a printed expression: its variables, renamed, and temporaries beside them.
class PrintedNames {
 public:
  explicit PrintedNames(const Renaming& renaming) : renaming_(renaming) {}

  /// What the variable is called; no temporary will be called so.
  const std::string& use(const std::string& variable) {
    const std::string& name = of(variable);
    taken_.insert(name);
    return name;
  }
  const std::string& of(const std::string& variable) const {
    const auto renamed = renaming_.find(variable);
    return renamed == renaming_.end() ? variable : renamed->second;
  }
  /// No temporary will be called as one of theirs.
  void take_from(const PrintedNames& others) {
    taken_.insert(others.taken_.begin(), others.taken_.end());
    counter_ = others.counter_;
  }
  std::string next_temporary() {
    std::string name;
    do name = "t" + std::to_string(counter_++);
    while (taken_.contains(name));
    return name;
  }

 private:
  const Renaming& renaming_;
  std::set<std::string> taken_;
  int counter_ = 0;
};

}  // namespace tenon::codegen::expr
