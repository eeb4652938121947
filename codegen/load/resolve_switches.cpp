// `pointwise` with arguments that decide which expression a call means.

#include "codegen/expr/formulas/switches.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/load/loaders.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/operands.h"
#include "codegen/model/variants.h"

namespace tenon::codegen::detail {

namespace {

using schema::Argument;
using schema::BaseType;
using schema::SchemaKind;

constexpr size_t kMaxWays = 64;

bool is_text(const schema::Type& type) { return type.without_optional().is(BaseType::kStr); }

bool is_optional_number(const schema::Type& type) {
  return type.is_optional() && is_number(type.without_optional());
}

const schema::StringValue* default_text(const Argument& argument) {
  return argument.default_value ? argument.default_value->get<schema::StringValue>() : nullptr;
}

/// The words that the argument can be, by the trees of the texts that it is an argument of; none
/// where it is no choice, or where what is wrong with them is reported.
EnumArgument words_of(const Operator& op, const Argument& argument,
                      const std::vector<const expr::Formula*>& trees, DiagnosticSink& sink) {
  EnumArgument result = {argument.name, argument.type.is_optional(), {}};
  const auto add = [&](const std::string& word) {
    if (std::find(result.words.begin(), result.words.end(), word) == result.words.end())
      result.words.push_back(word);
  };
  const schema::StringValue* value = default_text(argument);
  for (const expr::Formula* tree : trees) {
    const std::vector<std::string> compared = expr::compared_words(*tree, argument.name);
    if (value != nullptr && !compared.empty()) add(value->text);
    for (const std::string& word : compared) add(word);
  }
  if (result.words.empty()) return result;
  for (const std::string& word : result.words) {
    if (word.find_first_of("\"\\") == std::string::npos) continue;
    sink.error(op.at(argument.span),
               "a word has no quotes and no backslashes, `" + argument.name + "` can be " + word);
    return {argument.name, argument.type.is_optional(), {}};
  }
  if (result.words.size() == 1 && !result.optional) {
    sink.error(op.at(argument.span), "`" + argument.name + "` can be \"" + result.words[0] +
                                         "\" alone: compare it with each of its words, or give it "
                                         "a default");
    result.words.clear();
  }
  return result;
}

/// What the calls of one choice compute.
struct Way {
  expr::Choice choice;
  std::vector<std::string> texts;  // of the cases of `pointwise`
  std::set<std::string> names;     // that stand in them
  std::set<std::string> absent;    // of these, arguments that are not there: the call is an error
  bool draws = false;
  std::set<const expr::Formula*> parts;  // that are meant, of those that are chosen among

  bool fails() const { return !absent.empty(); }

  /// The texts without spaces, by which expressions are compared.
  std::string key() const {
    std::string key = fails() ? "!" : "";
    for (const std::string& text : texts) {
      for (const char c : text) {
        if (!std::isspace(static_cast<unsigned char>(c))) key += c;
      }
      key += '\n';
    }
    return key;
  }
};

/// Takes one entry apart: an operator for each expression that a call can mean, and a composition
/// that chooses among them.
class Switch {
 public:
  /// `made`: the operators of such entries so far.
  Switch(const std::vector<Operator>& operators, std::vector<Operator>& made, Operator& op)
      : operators_(operators), made_(made), op_(op) {}

  void take_apart(DiagnosticSink& sink) {
    bool can_choose = false, needs_it = false;
    for (const Argument& argument : op_.schema.args) {
      can_choose |= is_text(argument.type) || argument.type.is_optional();
      needs_it |= is_text(argument.type) || argument.type.is_optional_tensor();
    }
    if (!can_choose) return;
    if (!can_be_taken_apart() || !parse()) {
      // What is wrong is reported, the texts' mistakes here where they are not read again.
      for (size_t i = 0; i < parsed_.size() && needs_it; ++i)
        report(cases()[i].expression, parsed_[i].errors, sink);
      if (needs_it) op_.computation = Unsaid{};
      return;
    }
    find_arguments();
    if (order_.empty()) return;
    if (check(sink)) {
      make_operators();
      op_.computation = composition();
    } else {
      op_.computation = Unsaid{};
    }
  }

 private:
  // ---- what the entry says

  bool can_be_taken_apart() const {
    return op_.as<Pointwise>()->complete && op_.schema.kind() == SchemaKind::kFunctional;
  }

  bool parse() {
    bool ok = true;
    parsed_.reserve(cases().size());
    for (const PointwiseCase& one : cases()) {
      parsed_.push_back(expr::parse_formula(one.expression.text));
      ok &= parsed_.back().ok();
      trees_.push_back(&parsed_.back().formula);
    }
    return ok;
  }

  void find_arguments() {
    for (const Argument& argument : op_.schema.args) {
      const bool text = is_text(argument.type);
      bool optional = argument.type.is_optional_tensor() || (text && argument.type.is_optional());
      for (const expr::Formula* tree : trees_) {
        optional |= is_optional_number(argument.type) &&
                    !expr::tested_names(*tree, {argument.name}).empty();
      }
      if (optional) arguments_.optionals.insert(argument.name);
      if (text) arguments_.texts.insert(argument.name);
      if (text && !optional && default_text(argument) == nullptr)
        arguments_.without_default.insert(argument.name);
      if (text || optional) order_.push_back(&argument);
    }
  }

  bool check(DiagnosticSink& sink) {
    const size_t before = sink.num_errors();
    std::vector<std::string> known = {"inf", "nan", "pi"};
    for (const Argument& argument : op_.schema.args) known.push_back(argument.name);
    for (size_t i = 0; i < trees_.size(); ++i) {
      report(cases()[i].expression, expr::switch_mistakes(*trees_[i], arguments_), sink);
      report(cases()[i].expression, expr::local_mistakes(*trees_[i], known), sink);
    }
    if (sink.num_errors() != before) return false;
    for (const Argument* argument : order_) check_argument(*argument, sink);
    if (sink.num_errors() != before || !find_ways(sink)) return false;
    std::set<const expr::Formula*> parts;
    for (const Way& way : ways_) parts.insert(way.parts.begin(), way.parts.end());
    for (size_t i = 0; i < trees_.size(); ++i)
      report(cases()[i].expression, expr::unmeant_parts(*trees_[i], arguments_, parts), sink);
    for (const Argument* argument : order_) check_difference(*argument, sink);
    return sink.num_errors() == before;
  }

  void check_argument(const Argument& argument, DiagnosticSink& sink) {
    const auto decides = [&](const expr::Formula* tree) {
      return !expr::tested_names(*tree, {argument.name}, true).empty();
    };
    if (argument.type.is_optional_tensor() && std::none_of(trees_.begin(), trees_.end(), decides)) {
      sink.error(op_.at(argument.span), "`" + argument.name +
                                            "` may be absent: the expression tests it, `" +
                                            argument.name +
                                            " ? x : y`, or says what stands for it "
                                            "then, `(" +
                                            argument.name + " ?? 0)`");
    }
    if (!arguments_.texts.contains(argument.name)) return;
    const size_t before = sink.num_errors();
    words_.push_back(words_of(op_, argument, trees_, sink));
    if (words_.back().words.empty() && sink.num_errors() == before) {
      sink.error(op_.at(argument.span), "no expression compares the text `" + argument.name +
                                            "` with a word, as `" + argument.name +
                                            " == \"...\" ? x : y`");
    }
  }

  /// An argument that changes nothing would be taken and not heard.
  void check_difference(const Argument& argument, DiagnosticSink& sink) {
    for (const Way& way : ways_) {
      expr::Choice without = way.choice;
      without.given.erase(argument.name);
      without.words.erase(argument.name);
      bool differs = false;
      each_value(argument, without,
                 [&](const expr::Choice& other) { differs |= way_of(other).key() != way.key(); });
      if (differs) return;
    }
    sink.error(op_.at(argument.span), "`" + argument.name + "` makes no difference to a call");
  }

  // ---- what calls mean

  const EnumArgument* words(const std::string& name) const {
    for (const EnumArgument& one : words_) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }

  /// All values of the arguments, in the order of the schema.
  bool find_ways(DiagnosticSink& sink) {
    size_t count = 1;
    for (const Argument* argument : order_) {
      const EnumArgument* text = words(argument->name);
      count *= (text ? text->words.size() : 1) + arguments_.optionals.contains(argument->name);
      if (count <= kMaxWays) continue;
      sink.error(op_.at(argument->span), "the arguments that choose an expression have more than " +
                                             std::to_string(kMaxWays) + " values together");
      return false;
    }
    add_ways(0, {});
    for (const Way& way : ways_) {
      some_names_.insert(way.names.begin(), way.names.end());
      some_draw_ |= way.draws;
    }
    return true;
  }

  void add_ways(size_t i, const expr::Choice& choice) {
    if (i == order_.size()) {
      ways_.push_back(way_of(choice));
      return;
    }
    each_value(*order_[i], choice, [&](const expr::Choice& next) { add_ways(i + 1, next); });
  }

  template <class Visit>
  void each_value(const Argument& argument, const expr::Choice& choice, const Visit& visit) const {
    expr::Choice next = choice;
    if (arguments_.optionals.contains(argument.name)) next.given.insert(argument.name);
    if (const EnumArgument* text = words(argument.name)) {
      for (const std::string& word : text->words) {
        next.words[argument.name] = word;
        visit(next);
      }
    } else {
      visit(next);
    }
    if (arguments_.optionals.contains(argument.name)) visit(choice);
  }

  Way way_of(const expr::Choice& choice) const {
    Way way;
    way.choice = choice;
    for (size_t i = 0; i < cases().size(); ++i) {
      expr::Chosen chosen =
          expr::choose(cases()[i].expression.text, *trees_[i], arguments_, choice);
      for (const std::string& name :
           expr::called_functions(expr::parse_formula(chosen.text).formula))
        way.draws |= name == "uniform" || name == "normal" || name == "bernoulli";
      way.names.merge(chosen.names);
      way.absent.merge(chosen.absent);
      way.parts.merge(chosen.parts);
      way.texts.push_back(std::move(chosen.text));
    }
    return way;
  }

  // ---- the operators

  /// Each takes what its expression reads, and what no expression reads, so that this is reported.
  bool takes(const Way& way, const Argument& argument) const {
    if (arguments_.texts.contains(argument.name)) return false;
    if (argument.type.base == BaseType::kGenerator) return way.draws || !some_draw_;
    const bool chooses = arguments_.optionals.contains(argument.name);
    return way.names.contains(argument.name) || (!chooses && !some_names_.contains(argument.name));
  }

  void make_operators() {
    for (const Way& way : ways_) {
      if (way.fails()) continue;
      Operator one = operator_of(way);
      const auto known = calls_.find(way.key());
      if (std::optional<expr::Function> function = function_of_call(way, one))
        functions_.push_back(std::move(*function));
      if (known != calls_.end()) continue;
      const Operator* same = same_operator(one);
      calls_[way.key()] = call_of(same != nullptr ? *same : one, one.schema);
      if (same == nullptr) made_.push_back(std::move(one));
    }
  }

  Operator operator_of(const Way& way) const {
    Operator one = op_;
    one.schema.name = name_of(way);
    one.schema.overload.clear();
    one.schema.args.clear();
    for (const Argument& argument : op_.schema.args) {
      if (!takes(way, argument)) continue;
      one.schema.args.push_back(argument);
      if (!arguments_.optionals.contains(argument.name)) continue;
      Argument& given = one.schema.args.back();
      given.type = given.type.without_optional();
      given.default_value.reset();
      for (Argument& before : one.schema.args) before.default_value.reset();
    }
    constexpr std::string_view kOfEntry[] = {
        "variants", "out_name", "autogen", "cpp_no_default_args", "check", "dispatch"};
    std::erase_if(one.keys, [&](const LocatedName& key) {
      return std::find(std::begin(kOfEntry), std::end(kOfEntry), key.text) != std::end(kOfEntry);
    });
    one.variants.method = false;
    one.variants.function = true;
    one.variants.inplace &= one.schema.self() != nullptr;
    one.out_name.reset();
    one.autogen.clear();
    one.cpp_no_default_args.clear();
    one.check.reset();  // the entry's, of all arguments
    one.dispatch.clear();
    one.reports_as = shown();
    auto& expressions = *one.as<Pointwise>();
    expressions.branch_of = op_.name();
    for (size_t i = 0; i < way.texts.size(); ++i)
      expressions.cases[i].expression.text = way.texts[i];
    return one;
  }

  /// `_gelu_tanh`: what the call says, its words and the arguments that are there.
  std::string name_of(const Way& way) const {
    std::string name = (op_.schema.name.starts_with("_") ? "" : "_") + op_.schema.name;
    if (!op_.schema.overload.empty()) name += "_" + op_.schema.overload;
    for (const Argument* argument : order_) {
      const auto word = way.choice.words.find(argument->name);
      if (word != way.choice.words.end()) {
        name += "_" + (word->second.empty() ? "empty" : word->second);
      } else if (way.choice.given.contains(argument->name)) {
        name += "_" + argument->name;
      }
    }
    for (char& c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    name.erase(name.find_last_not_of('_') + 1);
    std::string free = name;
    for (int i = 2; is_taken(free); ++i) free = name + "_" + std::to_string(i);
    return free;
  }

  /// By an operator, or a form: names that end in `_out` are those of out forms.
  bool is_taken(const std::string& name) const {
    const auto same = [](const std::string& a, const std::string& b) {
      return std::equal(
          a.begin(), a.end(), b.begin(), b.end(),
          [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
    };
    const auto has_it = [&](const std::vector<Operator>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Operator& other) {
        return other.schema.ns == op_.schema.ns && same(other.base_name(), name);
      });
    };
    return name.ends_with("_out") || has_it(operators_) || has_it(made_);
  }

  /// The operator that the expression is a call of, `clamp_min(self, min)`, with the same
  /// arguments and dtypes; null where it is another.
  const Operator* same_operator(const Operator& one) const {
    if (one.schema.returns.size() != 1) return nullptr;
    std::string called;
    for (const PointwiseCase& text : one.as<Pointwise>()->cases) {
      expr::Formula tree = expr::parse_formula(text.expression.text).formula;
      while (tree.kind == expr::FormulaKind::kParentheses) tree = expr::Formula(tree.children[0]);
      const bool plain = tree.kind == expr::FormulaKind::kCall &&
                         tree.children[0].kind == expr::FormulaKind::kName &&
                         tree.children.size() == one.schema.args.size() + 1;
      if (!plain || (!called.empty() && called != tree.children[0].text)) return nullptr;
      for (size_t i = 1; i < tree.children.size(); ++i) {
        const expr::Formula& argument = tree.children[i];
        if (argument.kind != expr::FormulaKind::kName ||
            argument.text != one.schema.args[i - 1].name)
          return nullptr;
      }
      called = tree.children[0].text;
    }
    const std::set<std::string> any = {""};  // those of what is called
    const auto found =
        std::find_if(operators_.begin(), operators_.end(), [&](const Operator& other) {
          return other.as<Pointwise>() && other.base_name() == called && same_types(other, one) &&
                 other.variants.function && other.schema.ns == one.schema.ns &&
                 other.schema.returns.size() == 1 && other.promotion == one.promotion &&
                 (categories(one) == any || categories(other) == categories(one));
        });
    return found == operators_.end() ? nullptr : &*found;
  }

  static bool same_types(const Operator& a, const Operator& b) {
    return std::equal(a.schema.args.begin(), a.schema.args.end(), b.schema.args.begin(),
                      b.schema.args.end(), [](const Argument& x, const Argument& y) {
                        return x.type == y.type && !x.type.is_optional();
                      });
  }

  static std::set<std::string> categories(const Operator& op) {
    std::set<std::string> all;
    for (const PointwiseCase& one : op.as<Pointwise>()->cases) all.insert(one.category);
    return all;
  }

  /// What other expressions mean by calling the entry as a function of its tensors and numbers:
  /// texts are as their defaults say, and behind the first argument that is absent all are.
  std::optional<expr::Function> function_of_call(const Way& way, Operator one) const {
    one.schema.args.clear();
    std::string bound;
    bool ended = false;
    for (const Argument& argument : op_.schema.args) {
      const bool given = way.choice.given.contains(argument.name);
      const bool left_out = !argument.default_value || argument.default_value->is_none();
      if (arguments_.texts.contains(argument.name)) {
        const auto word = way.choice.words.find(argument.name);
        const schema::StringValue* value = default_text(argument);
        const bool as_default = word == way.choice.words.end()
                                    ? left_out
                                    : value != nullptr && value->text == word->second;
        if (!as_default) return std::nullopt;
      } else if (arguments_.optionals.contains(argument.name) && !given) {
        if (!left_out) return std::nullopt;
        ended = true;
      } else if (!ended) {
        one.schema.args.push_back(argument);
        Type& type = one.schema.args.back().type;
        if (given) type = type.without_optional();
      } else if (given) {
        return std::nullopt;
      } else if (way.names.contains(argument.name)) {
        const std::optional<std::string> literal = literal_of(argument);
        if (!literal) return std::nullopt;
        bound += argument.name + " = " + *literal + "; ";
      }
    }
    for (PointwiseCase& text : one.as<Pointwise>()->cases)
      text.expression.text = bound + text.expression.text;
    std::optional<expr::Function> function = function_of(one);
    if (function) function->name = op_.base_name();
    return function;
  }

  // ---- the composition

  /// A call of an operator, but for what is written.
  struct Call {
    std::string name, arguments;
    VariantSet variants;

    std::string text(SchemaKind form, const std::string& outs) const {
      if (form == SchemaKind::kInplace) return name + "_(" + arguments + ")";
      if (form == SchemaKind::kOut) return name + "_out(" + outs + ", " + arguments + ")";
      return name + "(" + arguments + ")";
    }
  };

  static Call call_of(const Operator& op, const schema::FunctionSchema& passed) {
    Call call = {op.schema.name, "", op.variants};
    if (!op.schema.ns.empty()) call.name = op.schema.ns + "::" + call.name;
    for (const Argument& argument : passed.args)
      call.arguments += (call.arguments.empty() ? "" : ", ") + argument.name;
    return call;
  }

  Composition composition() {
    const auto has = [&](bool VariantSet::*form) {
      return op_.variants.*form && std::all_of(calls_.begin(), calls_.end(), [&](const auto& call) {
               return call.second.variants.*form;
             });
    };
    OverloadSet set;
    if (has(&VariantSet::inplace)) set.inplace = decide(0, {}, SchemaKind::kInplace);
    if (has(&VariantSet::out)) set.out = decide(0, {}, SchemaKind::kOut);
    set.functions = std::move(functions_);
    Composition result;
    result.text = {decide(0, {}, SchemaKind::kFunctional), op_.as<Pointwise>()->location, {}};
    result.words = std::move(words_);
    result.overload_set = std::move(set);
    return result;
  }

  /// The part of the composition that is meant once the first `i` arguments are known.
  std::string decide(size_t i, const expr::Choice& choice, SchemaKind form) const {
    if (i == order_.size()) {
      const Way way = way_of(choice);
      if (way.fails()) return failure_of(way);
      return calls_.at(way.key()).text(form, form == SchemaKind::kOut ? outs() : "");
    }
    const Argument& argument = *order_[i];
    std::vector<std::string> parts;
    each_value(argument, choice,
               [&](const expr::Choice& next) { parts.push_back(decide(i + 1, next, form)); });
    if (std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return part == parts[0]; }))
      return parts[0];
    const auto nested = [](const std::string& part) {
      return part.find(" ? ") == std::string::npos ? part : "(" + part + ")";
    };
    std::string text;
    const EnumArgument* of_text = words(argument.name);
    for (size_t k = 0; k + 1 < parts.size(); ++k) {
      const std::string test =
          of_text ? argument.name + " == \"" + of_text->words[k] + "\"" : argument.name;
      text += test + " ? " + nested(parts[k]) + " : ";
    }
    return text + nested(parts.back());
  }

  /// Throws: what is missing, and what would do instead.
  std::string failure_of(const Way& way) const {
    std::vector<std::string> enough, missing(way.absent.begin(), way.absent.end());
    for (const Argument* argument : order_) {
      if (!arguments_.optionals.contains(argument->name) ||
          way.choice.given.contains(argument->name) || words(argument->name) != nullptr)
        continue;
      expr::Choice more = way.choice;
      more.given.insert(argument->name);
      if (!way_of(more).fails()) enough.push_back(argument->name);
    }
    const std::vector<std::string>& names = enough.empty() ? missing : enough;
    std::string text = enough.size() > 1 ? "at least one of " : "";
    for (size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return "tenon::native::missing_argument(\"" + shown() + "\", \"" + text + "\")";
  }

  /// Names of the outputs, in their order.
  std::string outs() const {
    std::string names;
    const auto out = derive_out(op_.schema, out_overload(op_));
    for (const Argument* argument : out->out_args())
      names += (names.empty() ? "" : ", ") + argument->name;
    return names;
  }

  /// What errors call it.
  std::string shown() const {
    return op_.schema.ns.empty() ? op_.schema.name : op_.schema.ns + "::" + op_.schema.name;
  }

  using Type = schema::Type;
  const std::vector<PointwiseCase>& cases() const { return op_.as<Pointwise>()->cases; }

  const std::vector<Operator>& operators_;
  std::vector<Operator>& made_;
  Operator& op_;
  std::vector<expr::FormulaResult> parsed_;
  std::vector<const expr::Formula*> trees_;  // of the cases
  expr::SwitchArguments arguments_;
  std::vector<const Argument*> order_;  // those of arguments_
  std::vector<EnumArgument> words_;
  std::vector<Way> ways_;
  std::set<std::string> some_names_;  // that stand in one of the expressions
  bool some_draw_ = false;
  std::map<std::string, Call> calls_;  // by expression
  expr::Functions functions_;
};

}  // namespace

void resolve_switches(std::vector<Operator>& operators, DiagnosticSink& sink) {
  std::vector<Operator> made;
  for (Operator& op : operators) {
    if (op.as<Pointwise>()) {
      const RuleScope scope(sink, "pointwise_switch");
      Switch(operators, made, op).take_apart(sink);
    } else if (Composition* composition = op.composition()) {
      const RuleScope scope(sink, "composition");
      const expr::FormulaResult parsed = expr::parse_formula(composition->text.text);
      for (const Argument& argument : op.schema.args) {
        if (!parsed.ok() || !is_text(argument.type)) continue;
        EnumArgument words = words_of(op, argument, {&parsed.formula}, sink);
        if (!words.words.empty()) composition->words.push_back(std::move(words));
      }
    }
  }
  for (Operator& op : made) operators.push_back(std::move(op));
}

}  // namespace tenon::codegen::detail
