#include "codegen/optimizers/check_optimizer.h"

#include <algorithm>
#include <set>

#include "codegen/schema/suggest.h"
#include "codegen/yaml/words.h"

namespace tenon::codegen::optimizers {
namespace {

using schema::BaseType;
using Kind = Expr::Kind;

const std::vector<std::string> kFunctions = {"pow", "sqrt", "exp", "log", "abs", "max", "min"};

class Checker {
 public:
  Checker(const Optimizer& optimizer, const Model& model, DiagnosticSink& sink)
      : one_(optimizer), model_(model), sink_(sink) {}

  void run() {
    check_signature();
    for (const RangeCheck& check : one_.checks) check_names(check.condition, options_);
    for (const StateItem& item : one_.states) {
      if (item.init) check_names(*item.init, options_);
      if (item.when) check_names(*item.when, options_);
    }
    check_update();
    if (one_.lists) check_lists(*one_.lists);
  }

 private:
  void error(const char* rule, const Location& place, const std::string& message,
             const std::string& suggestion = "") {
    const RuleScope scope(sink_, rule);
    sink_.error(place, message, suggestion);
  }

  void check_signature() {
    for (const schema::Argument& option : one_.schema.args) {
      const schema::Type plain = option.type.without_optional();
      const bool pair = plain.base == BaseType::kFloat && plain.list_size() == 2;
      if (!pair && !plain.is(BaseType::kFloat) && !plain.is(BaseType::kBool) &&
          !plain.is(BaseType::kInt))
        error("optimizer_form", place_of(option),
              "option `" + option.name +
                  "` must be float, float[2], bool or int, or one of them with ?");
      if (!option.default_value)
        error("optimizer_form", place_of(option), "option `" + option.name + "` needs a default");
      options_.insert(option.name);
    }
    for (const auto& [name, value] : one_.fixed) options_.insert(name);
    if (one_.schema.args.empty() || one_.schema.args[0].name != "lr" ||
        !one_.schema.args[0].type.is(BaseType::kFloat))
      error("optimizer_form", one_.schema_text.location, "the first option must be `float lr`");
    if (one_.group.empty()) return;
    std::set<std::string> group(one_.group.begin(), one_.group.end());
    for (const schema::Argument& option : one_.schema.args) {
      if (group.erase(option.name) == 0)
        error("optimizer_form", place_of(option), "`group` lacks the option `" + option.name + "`");
    }
    for (const std::string& name : group) unknown(one_.schema_text.location, name, options_);
  }

  Location place_of(const schema::Argument& option) const {
    return one_.schema_text.at(option.span.begin);
  }

  void unknown(const Location& place, const std::string& name, const std::set<std::string>& known) {
    error("optimizer_name", place, "there is no `" + name + "` here",
          schema::nearest(name, {known.begin(), known.end()}));
  }

  void check_names(const Expr& expr, const std::set<std::string>& known) {
    walk(expr, [&](const Expr& part) {
      if (part.kind == Kind::kCall && !contains(kFunctions, part.text)) {
        error("optimizer_name", part.place, "there is no function `" + part.text + "`",
              schema::nearest(part.text, kFunctions));
      }
      if (part.kind != Kind::kName && part.kind != Kind::kElement) return;
      if (!known.contains(part.text)) return unknown(part.place, part.text, known);
      const schema::Argument* option = one_.schema.find_arg(part.text);
      const size_t size = option ? static_cast<size_t>(option->type.list_size().value_or(0)) : 0;
      if (part.kind == Kind::kElement && part.index >= size)
        error("optimizer_name", part.place,
              "`" + part.text + "` has " + std::to_string(size) + " elements");
      if (part.kind == Kind::kName && size > 0)
        error("optimizer_name", part.place,
              "`" + part.text + "` is a pair: write `" + part.text + "[0]`");
    });
  }

  void check_update() {
    std::set<std::string> known = options_;
    known.insert("first");
    for (const StateItem& item : one_.states)
      if (item.kind != StateItem::Kind::kTensor) known.insert(item.name.text);
    int calls = 0;
    for (const Statement& statement : one_.update) {
      if (statement.target.empty()) {
        ++calls;
        check_call(statement.value, known);
        continue;
      }
      check_names(statement.value, known);
      const StateItem* item = one_.state(statement.target);
      if (item && item->kind != StateItem::Kind::kNumber)
        error("optimizer_form", statement.place,
              "`" + statement.target + "` is no number of the state");
      if (!item && (statement.operation != "=" || options_.contains(statement.target)))
        error("optimizer_form", statement.place,
              "only a number of the state changes, not `" + statement.target + "`");
      known.insert(statement.target);
    }
    if (calls != 1)
      error("optimizer_call", one_.schema_text.location,
            "`update` must call one operator, got " + std::to_string(calls) + " calls");
  }

  void check_lists(const Expr& expr) {
    std::set<std::string> known = options_;
    known.insert("first");
    if (expr.kind != Kind::kChoice) return check_call(expr, known);
    check_names(expr.operands[0], options_);
    check_call(expr.operands[1], known);
    check_call(expr.operands[2], known);
  }

  void check_call(const Expr& call, const std::set<std::string>& numbers) {
    if (call.kind != Kind::kCall)
      return error("optimizer_call", call.place,
                   "`update` and `lists` must be a call of an operator");
    const Operator* op = find_operator(model_, call.text);
    if (op == nullptr) {
      std::vector<std::string> names;
      for (const Operator& other : model_.operators()) names.push_back(other.name());
      return error("optimizer_call", call.place, "there is no operator `" + call.text + "`",
                   schema::nearest(call.text, names));
    }
    const auto& arguments = op->schema.args;
    const auto given = call.operands.size();
    const auto required = static_cast<size_t>(
        std::count_if(arguments.begin(), arguments.end(),
                      [](const schema::Argument& a) { return !a.default_value; }));
    if (given > arguments.size() || given < required) {
      return error("optimizer_call", call.place,
                   "`" + call.text + "` takes " + std::to_string(arguments.size()) +
                       " arguments, got " + std::to_string(given));
    }
    for (size_t i = 0; i < given; ++i) {
      const Expr& value = call.operands[i];
      const StateItem* item = value.kind == Kind::kName ? one_.state(value.text) : nullptr;
      const bool is_tensor =
          value.kind == Kind::kName &&
          (value.text == "param" || value.text == "grad" ||
           (item && (item->kind == StateItem::Kind::kTensor || !numbers.contains(value.text))));
      if (is_tensor != arguments[i].type.holds_tensors()) {
        error("optimizer_call", value.place,
              "argument `" + arguments[i].name + "` of `" + call.text + "` must be " +
                  (is_tensor ? "a number" : "a tensor"));
      } else if (!is_tensor) {
        check_names(value, numbers);
      }
    }
  }

  const Optimizer& one_;
  const Model& model_;
  DiagnosticSink& sink_;
  std::set<std::string> options_;
};

}  // namespace

void check_optimizer(const Optimizer& optimizer, const Model& model, DiagnosticSink& sink) {
  Checker(optimizer, model, sink).run();
}

}  // namespace tenon::codegen::optimizers
