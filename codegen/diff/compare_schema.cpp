#include "codegen/diff/compare_schema.h"

#include <algorithm>
#include <map>

#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

using schema::Alias;
using schema::Argument;
using schema::BaseType;
using schema::FunctionSchema;
using schema::Return;
using schema::Type;

std::string quoted(std::string_view text) {
  std::string result = "`";
  result += text;
  result += '`';
  return result;
}

bool accepts_base(BaseType before, BaseType after) {
  const auto is = [&](BaseType a, BaseType b) { return before == a && after == b; };
  return before == after || is(BaseType::kInt, BaseType::kSymInt) ||
         is(BaseType::kBool, BaseType::kSymBool) || is(BaseType::kInt, BaseType::kFloat) ||
         (after == BaseType::kScalar &&
          (before == BaseType::kInt || before == BaseType::kFloat || before == BaseType::kBool));
}

// The letters of a schema's annotations in the order in which they appear, so that (a) and (b) are
// the same where nothing else tells them apart.
class Letters {
 public:
  explicit Letters(const FunctionSchema& schema) {
    for (const Argument& arg : schema.args) add(arg.alias);
    for (const Return& ret : schema.returns) add(ret.alias);
  }

  std::optional<Alias> rename(std::optional<Alias> alias) const {
    if (!alias) return alias;
    for (auto* set : {&alias->before, &alias->after}) {
      for (char& letter : *set) letter = names_.at(letter);
    }
    return alias;
  }

 private:
  void add(const std::optional<Alias>& alias) {
    if (!alias) return;
    for (const auto* set : {&alias->before, &alias->after}) {
      for (const char letter : *set) {
        names_.try_emplace(letter, static_cast<char>('a' + names_.size()));
      }
    }
  }

  std::map<char, char> names_;
};

std::string describe(const std::optional<Alias>& alias) {
  return alias ? quoted(schema::to_string(*alias)) : "none";
}

class SchemaComparison {
 public:
  SchemaComparison(const FunctionSchema& before, const FunctionSchema& after, ChangeList& changes)
      : before_(before), after_(after), before_letters_(before), after_letters_(after),
        changes_(changes) {}

  void run() {
    match_arguments();
    for (size_t i = 0; i < before_.args.size(); ++i) {
      if (match_[i] < 0) {
        changes_.add("removed-argument", kBreaksBoth,
                     "argument " + quoted(before_.args[i].name) + " is gone");
      } else {
        compare_arguments(before_.args[i], after_.args[static_cast<size_t>(match_[i])]);
      }
    }
    compare_order();
    added_arguments();
    compare_returns();
  }

 private:
  bool is_matched(size_t after) const {
    return std::find(match_.begin(), match_.end(), static_cast<int>(after)) != match_.end();
  }

  // By name; then an argument of another name at the same place and of the same type is the old
  // one renamed.
  void match_arguments() {
    for (const Argument& arg : before_.args) match_.push_back(after_.arg_index(arg.name));
    for (size_t i = 0; i < before_.args.size() && i < after_.args.size(); ++i) {
      const Argument& a = before_.args[i];
      const Argument& b = after_.args[i];
      if (match_[i] >= 0 || is_matched(i)) continue;
      if (a.type == b.type && a.kwarg_only == b.kwarg_only && a.is_mutable() == b.is_mutable()) {
        match_[i] = static_cast<int>(i);
      }
    }
  }

  void compare_arguments(const Argument& a, const Argument& b) {
    const std::string name = "argument " + quoted(a.name);
    if (a.name != b.name) {
      changes_.add("renamed-argument", kBreaksBoth, name + " is now " + quoted(b.name));
    }
    if (a.type != b.type) {
      const bool wider = accepts(a.type, b.type);
      changes_.add(wider ? "widened-argument" : "argument-type", wider ? kCompatible : kBreaksBoth,
                   name + " is now " + quoted(schema::to_string(b.type)) + ", was " +
                       quoted(schema::to_string(a.type)));
    }
    compare_defaults(a, b, name);
    if (!a.kwarg_only && b.kwarg_only) {
      changes_.add("argument-keyword-only", kBreaksBoth, name + " is now keyword-only");
    } else if (a.kwarg_only && !b.kwarg_only) {
      changes_.add("argument-positional", kCompatible, name + " may now be given by position");
    }
    compare_aliases(before_letters_.rename(a.alias), after_letters_.rename(b.alias), name);
  }

  void compare_defaults(const Argument& a, const Argument& b, const std::string& name) {
    if (a.default_value == b.default_value) return;
    if (!a.default_value) {
      changes_.add("added-default", kCompatible,
                   name + " now has the default " + quoted(b.default_value->text));
    } else if (!b.default_value) {
      changes_.add("removed-default", kBreaksBoth, name + " no longer has a default");
    } else {
      changes_.add("changed-default", kBreaksBoth,
                   name + " now defaults to " + quoted(b.default_value->text) + ", was " +
                       quoted(a.default_value->text));
    }
  }

  void compare_aliases(const std::optional<Alias>& a, const std::optional<Alias>& b,
                       const std::string& what) {
    if (a == b) return;
    const bool writes = b && b->is_write;
    const bool wrote = a && a->is_write;
    std::string message = what + (writes && !wrote   ? " is now written to"
                                  : wrote && !writes ? " is no longer written to"
                                                     : " may share other memory");
    changes_.add("alias", kBreaksBoth,
                 message + ": annotation " + describe(b) + ", was " + describe(a));
  }

  // Positional arguments keep their places.
  void compare_order() {
    int last = -1;
    for (size_t i = 0; i < before_.args.size(); ++i) {
      if (before_.args[i].kwarg_only || match_[i] < 0) continue;
      if (after_.args[static_cast<size_t>(match_[i])].kwarg_only) continue;
      if (match_[i] < last) {
        changes_.add("argument-order", kBreaksBoth,
                     "argument " + quoted(before_.args[i].name) + " has another position");
        return;
      }
      last = match_[i];
    }
  }

  void added_arguments() {
    for (size_t i = 0; i < after_.args.size(); ++i) {
      if (is_matched(i)) continue;
      const Argument& arg = after_.args[i];
      const std::string name = "argument " + quoted(arg.name);
      if (!arg.default_value) {
        changes_.add("added-required-argument", kBreaksBoth, name + " is new and has no default");
      } else if (!arg.kwarg_only && precedes_a_positional(i)) {
        changes_.add("inserted-argument", kBreaksBoth,
                     name + " is new and stands before arguments that are given by position");
      } else {
        changes_.add("added-argument", kCompatible,
                     name + " is new, with the default " + quoted(arg.default_value->text));
      }
    }
  }

  bool precedes_a_positional(size_t index) const {
    for (size_t i = 0; i < before_.args.size(); ++i) {
      if (!before_.args[i].kwarg_only && match_[i] > static_cast<int>(index)) return true;
    }
    return false;
  }

  void compare_returns() {
    if (before_.returns.size() != after_.returns.size()) {
      changes_.add("returns", kBreaksBoth,
                   "returns " + quoted(schema::returns_to_string(after_.returns)) + ", was " +
                       quoted(schema::returns_to_string(before_.returns)));
      return;
    }
    for (size_t i = 0; i < before_.returns.size(); ++i) {
      const Return& a = before_.returns[i];
      const Return& b = after_.returns[i];
      const std::string name = "return " + std::to_string(i);
      if (a.type != b.type) {
        changes_.add("return-type", accepts(b.type, a.type) ? kCompatible : kBreaksBoth,
                     name + " is now " + quoted(schema::to_string(b.type)) + ", was " +
                         quoted(schema::to_string(a.type)));
      }
      if (a.name != b.name) compare_return_names(a.name, b.name, name);
      compare_aliases(before_letters_.rename(a.alias), after_letters_.rename(b.alias), name);
    }
  }

  void compare_return_names(const std::string& a, const std::string& b, const std::string& what) {
    if (a.empty()) {
      changes_.add("named-return", kCompatible, what + " is now named " + quoted(b));
    } else {
      changes_.add("return-name", kBreaksCallers,
                   what + (b.empty() ? " no longer has the name " + quoted(a)
                                     : " is now named " + quoted(b) + ", was " + quoted(a)));
    }
  }

  const FunctionSchema& before_;
  const FunctionSchema& after_;
  Letters before_letters_, after_letters_;
  ChangeList& changes_;
  std::vector<int> match_;  // per argument of before_: index into after_'s, or -1
};

}  // namespace

bool accepts(const Type& before, const Type& after) {
  if (before == after) return true;
  if (before.is_optional() && !after.is_optional()) return false;
  if (after.is_optional()) return accepts(before.without_optional(), after.without_optional());
  if (after.is_list()) {
    const std::optional<int64_t> size = after.list_size();
    // A lone value fills a list of fixed size.
    if (!before.is_list()) return size && accepts(before, after.element());
    return (!size || size == before.list_size()) && accepts(before.element(), after.element());
  }
  return !before.is_list() && before.class_name == after.class_name &&
         accepts_base(before.base, after.base);
}

void compare_schemas(const FunctionSchema& before, const FunctionSchema& after,
                     ChangeList& changes) {
  SchemaComparison(before, after, changes).run();
}

}  // namespace tenon::codegen
