#include "tests/codegen/rows/interpret.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "codegen/expr/graph/evaluate.h"
#include "codegen/expr/graph/intrinsics.h"

namespace tenon::codegen::rows {
namespace {

using expr::Node;
using expr::NodeId;
using expr::NodeKind;
using expr::Op;
using expr::RowStep;
using Values = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Total {
  explicit Total(std::string_view kind) : kind_(kind) {
    // Where a NaN is, such a reduction may give anything: here a number that shows in the results.
    if (kind_.ends_with("UnlessNan")) {
      of_nan_ = 12345;
      kind_.remove_suffix(std::string_view("UnlessNan").size());
      kind = kind_;
    }
    if (kind == "Prod") value_ = 1;
    if (kind == "Max") value_ = -kInf;
    if (kind == "Min") value_ = kInf;
    if (kind != "Sum" && kind != "Count" && kind != "Prod" && kind != "Max" && kind != "Min")
      throw std::logic_error("no reduction is called " + std::string(kind));
  }
  void add(double x) {
    if (kind_ == "Sum" || kind_ == "Count") {
      value_ += x;
    } else if (kind_ == "Prod") {
      value_ *= x;
    } else if (std::isnan(x) || std::isnan(value_)) {
      value_ = kNan;
    } else {
      // Which zero it is depends on the order alone.
      value_ = (kind_ == "Max" ? x > value_ : x < value_) ? x : value_;
    }
  }
  double value() const { return std::isnan(value_) ? of_nan_ : value_; }

 private:
  std::string_view kind_;
  double of_nan_ = kNan;
  double value_ = 0;
};

std::string_view reduction_kind(Op op) {
  switch (op) {
  case Op::kRowSum: return "Sum";
  case Op::kRowCount: return "Count";
  case Op::kRowProd: return "Prod";
  case Op::kRowMax: return "Max";
  case Op::kRowMin: return "Min";
  default: throw std::logic_error("no reduction: " + std::string(expr::intrinsic(op).name));
  }
}

double at(const Values& values, size_t i) { return values[values.size() == 1 ? 0 : i]; }

Values evaluate_call(const Node& node, size_t length, const std::vector<const Values*>& arguments) {
  switch (node.op) {
  case Op::kDetach: return *arguments[0];
  case Op::kRowLength: return {static_cast<double>(length)};
  case Op::kRowIndex: {
    Values row(length);
    for (size_t i = 0; i < length; ++i) row[i] = static_cast<double>(i);
    return row;
  }
  case Op::kRowOthers: {
    // As kernels do, to the bit.
    size_t zeros = 0;
    Total rest("Prod");
    for (size_t i = 0; i < length; ++i) {
      const double x = at(*arguments[0], i);
      zeros += x == 0;
      rest.add(x == 0 ? 1 : x);
    }
    Values row(length);
    for (size_t i = 0; i < length; ++i) {
      const double x = at(*arguments[0], i);
      row[i] = zeros == 0 ? (*arguments[1])[0] / x : zeros == 1 && x == 0 ? rest.value() : 0;
    }
    return row;
  }
  case Op::kPick: {
    const double position = (*arguments[1])[0];
    if (!(position >= 0 && position < static_cast<double>(length))) return {kNan};
    return {at(*arguments[0], static_cast<size_t>(position))};
  }
  default: break;
  }
  if (is_row_op(node.op)) {
    Total total(reduction_kind(node.op));
    for (size_t i = 0; i < length; ++i) total.add(at(*arguments[0], i));
    return {total.value()};
  }
  Values row(node.domain == Domain::kElement ? length : 1);
  for (size_t i = 0; i < row.size(); ++i) {
    double numbers[3] = {};
    for (size_t k = 0; k < arguments.size(); ++k) numbers[k] = at(*arguments[k], i);
    row[i] = expr::apply_op(node.op, numbers);
  }
  return row;
}

/// One expression of a kernel, `m::add(x, m::constant<V>(2.0))`, with its names looked up once.
class KernelText {
 public:
  KernelText(std::string_view text, const std::map<std::string, size_t, std::less<>>& slots)
      : rest_(text), slots_(slots) {
    root_ = expression();
    if (!rest_.empty()) fail("what follows");
  }

  double value(const Values& slots) const { return value(root_, slots); }

 private:
  struct Part {
    enum class Kind { kNumber, kSlot, kCall } kind;
    double number = 0;
    size_t slot = 0;
    Op op = Op::kAdd;
    std::vector<Part> arguments = {};
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::logic_error("a kernel's text: " + what + " before '" + std::string(rest_) + "'");
  }
  bool accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!accept(word)) fail("'" + std::string(word) + "' is expected");
  }
  std::string_view name() {
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_'))
      ++n;
    if (n == 0) fail("a name is expected");
    const std::string_view found = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return found;
  }

  double number() {
    const double sign = accept("-") ? -1 : 1;
    if (accept("std::numeric_limits<double>::quiet_NaN()")) return kNan;
    if (accept("std::numeric_limits<double>::infinity()")) return sign * kInf;
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a number is expected");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return sign * value;
  }

  Part expression() {
    const bool quotient = accept("rows::quotient");
    if (!quotient && !accept("m::")) {
      const std::string_view variable = name();
      const auto slot = slots_.find(variable);
      if (slot == slots_.end()) fail("nothing has made " + std::string(variable));
      return {.kind = Part::Kind::kSlot, .slot = slot->second};
    }
    std::string_view function = quotient ? "div" : name();
    if (function == "exp_nonpositive") function = "exp";
    accept("<V>");
    expect("(");
    if (function == "constant") {
      const double value = number();
      expect(")");
      return {.kind = Part::Kind::kNumber, .number = value};
    }
    const expr::Intrinsic* found = expr::find_intrinsic(function);
    if (found == nullptr) fail("no function is called " + std::string(function));
    Part part = {.kind = Part::Kind::kCall, .op = found->op};
    do part.arguments.push_back(expression());
    while (accept(", "));
    expect(")");
    if (part.arguments.size() != found->arity) fail("another number of arguments");
    return part;
  }

  static double value(const Part& part, const Values& slots) {
    if (part.kind == Part::Kind::kNumber) return part.number;
    if (part.kind == Part::Kind::kSlot) return slots[part.slot];
    double arguments[3] = {};
    for (size_t i = 0; i < part.arguments.size(); ++i)
      arguments[i] = value(part.arguments[i], slots);
    return expr::apply_op(part.op, arguments);
  }

  std::string_view rest_;
  const std::map<std::string, size_t, std::less<>>& slots_;
  Part root_;
};

class Runner {
 public:
  Runner(const expr::RowSchedule& schedule, size_t num_outputs, size_t length,
         const RowValues& values)
      : schedule_(schedule), length_(length), values_(values), outputs_(num_outputs) {
    set("length_", static_cast<double>(length));
    for (const auto& [name, row] : values) {
      if (row.size() == 1) set(name, row[0]);
    }
  }

  std::vector<Values> run() {
    for (const RowStep& step : schedule_.steps) {
      switch (step.kind) {
      case RowStep::Kind::kValues: values_step(step); break;
      case RowStep::Kind::kPick: pick_step(step); break;
      case RowStep::Kind::kPass: pass_step(step); break;
      }
    }
    return std::move(outputs_);
  }

 private:
  size_t slot(const std::string& name) {
    const auto [it, added] = names_.try_emplace(name, slots_.size());
    if (added) slots_.push_back(kNan);
    return it->second;
  }
  void set(const std::string& name, double value) { slots_[slot(name)] = value; }

  /// The statements of a step, and the texts after them; what they define is gone after the step.
  struct Step {
    std::vector<std::pair<size_t, KernelText>> statements;
    std::vector<KernelText> texts;
  };
  Step read(const RowStep& step, const std::vector<std::string>& texts) {
    Step result;
    for (const std::string& statement : step.statements) {
      constexpr std::string_view kStart = "const auto ";
      const size_t equals = statement.find(" = ");
      if (!statement.starts_with(kStart) || equals == std::string::npos ||
          !statement.ends_with(";"))
        throw std::logic_error("a kernel's statement: " + statement);
      const std::string name = statement.substr(kStart.size(), equals - kStart.size());
      const std::string_view value =
          std::string_view(statement).substr(equals + 3, statement.size() - equals - 4);
      KernelText text(value, names_);
      temporaries_.push_back(name);
      result.statements.emplace_back(slot(name), std::move(text));
    }
    for (const std::string& text : texts) result.texts.emplace_back(text, names_);
    return result;
  }
  void forget(const RowStep& step) {
    for (const std::string& name : temporaries_) names_.erase(name);
    temporaries_.clear();
    for (const std::string& name : step.loads) names_.erase(name);
  }

  void load(const std::string& name, size_t i) {
    if (name == "index_") return set(name, static_cast<double>(i));
    if (const auto kept = spills_.find(name); kept != spills_.end())
      return set(name, kept->second[i]);
    const auto operand = values_.find(name);
    if (operand == values_.end() || operand->second.size() != length_)
      throw std::logic_error("a step loads " + name + ", which is no row");
    set(name, operand->second[i]);
  }
  std::vector<double> compute(const Step& step) {
    for (const auto& [slot, text] : step.statements) slots_[slot] = text.value(slots_);
    std::vector<double> results;
    for (const KernelText& text : step.texts) results.push_back(text.value(slots_));
    return results;
  }

  void values_step(const RowStep& step) {
    std::vector<std::string> texts;
    for (const expr::NamedText& value : step.values) texts.push_back(value.text);
    for (const RowStep::Store& store : step.stores) texts.push_back(store.text);
    const std::vector<double> results = compute(read(step, texts));
    forget(step);
    for (size_t i = 0; i < step.values.size(); ++i) set(step.values[i].name, results[i]);
    for (size_t i = 0; i < step.stores.size(); ++i)
      outputs_[step.stores[i].output] = {results[step.values.size() + i]};
  }

  void pick_step(const RowStep& step) {
    const auto position = values_.find(step.position);
    if (position == values_.end()) throw std::logic_error("no position " + step.position);
    const double p = position->second[0];
    bool needed = true;
    if (!step.needed.empty()) needed = KernelText(step.needed, names_).value(slots_) != 0;
    const std::string& name = step.values[0].name;
    if (!(p >= 0 && p < static_cast<double>(length_))) {
      if (needed) throw std::out_of_range("a position that is needed is out of range");
      return set(name, kNan);
    }
    for (const std::string& load_name : step.loads) load(load_name, static_cast<size_t>(p));
    const double result = compute(read(step, {step.values[0].text}))[0];
    forget(step);
    set(name, result);
  }

  void pass_step(const RowStep& step) {
    for (const std::string& name : step.loads) slot(name);
    std::vector<std::string> texts;
    std::vector<Total> totals;
    for (const RowStep::Reduction& one : step.reductions) {
      texts.push_back(one.text);
      if (!one.factor.empty()) texts.push_back(one.factor);
      totals.emplace_back(one.kind);
    }
    for (const RowStep::Store& one : step.stores) texts.push_back(one.text);
    for (const expr::NamedText& one : step.spills) texts.push_back(one.text);
    const Step program = read(step, texts);
    std::map<std::string, Values> kept;
    for (size_t i = 0; i < length_; ++i) {
      for (const std::string& name : step.loads) load(name, i);
      const std::vector<double> results = compute(program);
      size_t at = 0;
      for (size_t k = 0; k < totals.size(); ++k) {
        const double x = results[at++];
        totals[k].add(step.reductions[k].factor.empty() ? x : x * results[at++]);
      }
      for (const RowStep::Store& one : step.stores) outputs_[one.output].push_back(results[at++]);
      for (const expr::NamedText& one : step.spills) kept[one.name].push_back(results[at++]);
    }
    forget(step);
    for (auto& [name, row] : kept) spills_[name] = std::move(row);
    for (size_t i = 0; i < totals.size(); ++i) {
      set(step.reductions[i].name, totals[i].value());
      if (step.reductions[i].whole) set(step.reductions[i].name + "whole_", totals[i].value());
    }
  }

  const expr::RowSchedule& schedule_;
  const size_t length_;
  const RowValues& values_;
  std::vector<Values> outputs_;
  std::map<std::string, size_t, std::less<>> names_;
  Values slots_;
  std::vector<std::string> temporaries_;
  std::map<std::string, Values> spills_;
};

}  // namespace

std::vector<Values> evaluate(const expr::Graph& graph, const std::vector<NodeId>& nodes,
                             size_t length, const RowValues& values) {
  std::map<NodeId, Values> known;
  for (const NodeId id : expr::topological_order(graph, nodes)) {
    const Node& node = graph[id];
    if (node.kind == NodeKind::kConstant) {
      known[id] = {node.number};
    } else if (node.is_variable()) {
      known[id] = values.at(node.name);
    } else {
      std::vector<const Values*> arguments;
      for (const NodeId argument : node.arguments) arguments.push_back(&known.at(argument));
      known[id] = evaluate_call(node, length, arguments);
    }
  }
  std::vector<Values> results;
  for (const NodeId node : nodes) results.push_back(known.at(node));
  return results;
}

std::vector<Values> run(const expr::RowSchedule& schedule, size_t num_outputs, size_t length,
                        const RowValues& values) {
  return Runner(schedule, num_outputs, length, values).run();
}

}  // namespace tenon::codegen::rows
