// `pointwise` with arguments that decide which expression a call means.

#include "codegen/expr/switches.h"

#include <algorithm>
#include <cctype>

#include "codegen/model/expression.h"
#include "codegen/model/loaders.h"
#include "codegen/model/operands.h"
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

/// The words that the argument can be, by the trees of the texts that it is an argument of.
TextWords words_of(const Argument& argument, const std::vector<const expr::Formula*>& trees) {
  TextWords result = {argument.name, argument.type.is_optional(), {}};
  const auto add = [&](const std::string& word) {
    if (std::find(result.words.begin(), result.words.end(), word) == result.words.end())
      result.words.push_back(word);
  };
  const auto* value = argument.default_value ? argument.default_value->get<schema::StringValue>()
                                             : nullptr;
  for (const expr::Formula* tree : trees) {
    const std::vector<std::string> compared = expr::compared_words(*tree, argument.name);
    if (value != nullptr && !compared.empty()) add(value->text);
    for (const std::string& word : compared) add(word);
  }
  return result;
}

/// What the calls of one choice compute.
struct Way {
  expr::Choice choice;
  std::vector<std::string> texts;  // of the cases of `pointwise`; none where something is missing
  std::set<std::string> names, absent;

  bool fails() const { return !absent.empty(); }
};

/// The text without spaces, by which expressions are compared.
std::string key_of(const Way& way) {
  std::string key;
  for (const std::string& text : way.texts) {
    for (const char c : text) {
      if (!std::isspace(static_cast<unsigned char>(c))) key += c;
    }
    key += '\n';
  }
  return key;
}

/// Takes one entry apart: an operator for each expression that a call can mean, and a composition
/// that chooses among them.
class Switch {
 public:
  Switch(const std::vector<Operator>& operators, Operator& op) : operators_(operators), op_(op) {}

  /// False where nothing is chosen, or it is reported why nothing can be.
  bool read(DiagnosticSink& sink) {
    std::vector<const expr::Formula*> trees;
    parsed_.reserve(cases().size());
    for (const PointwiseCase& one : cases()) {
      parsed_.push_back(expr::parse_formula(one.expression.text));
      if (!parsed_.back().ok()) return false;  // reported with the expression
      trees.push_back(&parsed_.back().formula);
    }
    for (const Argument& argument : op_.schema.args) {
      const bool text = is_text(argument.type);
      bool optional = argument.type.is_optional_tensor() || (text && argument.type.is_optional());
      for (const expr::Formula* tree : trees) {
        optional |= is_optional_number(argument.type) &&
                    !expr::tested_names(*tree, {argument.name}).empty();
      }
      if (!text && !optional) continue;
      if (optional) arguments_.optionals.insert(argument.name);
      if (text) arguments_.texts.insert(argument.name);
      order_.push_back(&argument);
    }
    if (order_.empty()) return false;
    if (check(trees, sink) && find_ways(sink)) return true;
    op_.pointwise.reset();  // what else could be said of it follows from that
    return false;
  }

  /// Appends to `made`; the entry becomes the composition.
  void take_apart(std::vector<Operator>& made) {
    for (const Way& way : ways_) {
      if (way.fails() || calls_.contains(key_of(way))) continue;
      Operator one = operator_of(way);
      if (std::optional<expr::Function> function = function_of(one); function && is_plain(way)) {
        function->name = op_.base_name();
        function->op = op_.name();
        functions_.push_back(std::move(*function));
      }
      const Operator* same = same_operator(one);
      calls_[key_of(way)] = call_of(same != nullptr ? *same : one, one.schema);
      if (same == nullptr) made.push_back(std::move(one));
    }
    std::string text = decide(0, {}, SchemaKind::kFunctional);
    Switched switched;
    const auto has = [&](bool VariantSet::*form) {
      return op_.variants.*form && std::all_of(calls_.begin(), calls_.end(), [&](const auto& call) {
               return call.second.variants.*form;
             });
    };
    if (has(&VariantSet::inplace)) switched.inplace = decide(0, {}, SchemaKind::kInplace);
    if (has(&VariantSet::out)) switched.out = decide(0, {}, SchemaKind::kOut);
    switched.functions = std::move(functions_);
    constexpr std::string_view kOfExpressions[] = {"pointwise", "dtypes", "promote", "check"};
    std::erase_if(op_.keys, [&](const LocatedName& key) {
      return std::find(std::begin(kOfExpressions), std::end(kOfExpressions), key.text) !=
             std::end(kOfExpressions);
    });
    const Location place = op_.pointwise->location;
    op_.keys.push_back({"composite", place});
    op_.composite = Composite::kImplicit;
    op_.composition = {std::move(text), place, {}};
    op_.words = std::move(words_);
    op_.switched = std::move(switched);
    op_.pointwise.reset();
    op_.dtypes.clear();
    op_.promotion = Promotion::kDefault;
    op_.check.reset();
  }

 private:
  /// What errors call it.
  std::string shown() const {
    return op_.schema.ns.empty() ? op_.schema.name : op_.schema.ns + "::" + op_.schema.name;
  }

  const std::vector<PointwiseCase>& cases() const { return op_.pointwise->cases; }

  bool check(const std::vector<const expr::Formula*>& trees, DiagnosticSink& sink) {
    const size_t before = sink.num_errors();
    for (size_t i = 0; i < trees.size(); ++i)
      report(cases()[i].expression, expr::switch_mistakes(*trees[i], arguments_), sink);
    for (const Argument* argument : order_) {
      const auto decides = [&](const expr::Formula* tree) {
        return !expr::tested_names(*tree, {argument->name}, true).empty();
      };
      if (argument->type.is_optional_tensor() &&
          std::none_of(trees.begin(), trees.end(), decides)) {
        sink.error(op_.at(argument->span),
                   "`" + argument->name + "` may be absent: the expression tests it, `" +
                       argument->name + " ? a : b`, or says what stands for it then, `" +
                       argument->name + " ?? b`");
      }
      if (!arguments_.texts.contains(argument->name) || sink.num_errors() != before) continue;
      words_.push_back(words_of(*argument, trees));
      const size_t values = words_.back().words.size() + argument->type.is_optional();
      if (words_.back().words.empty()) {
        sink.error(op_.at(argument->span),
                   "no expression compares the text `" + argument->name + "` with a word, as `" +
                       argument->name + " == \"...\" ? a : b`");
      } else if (values == 1) {
        sink.error(op_.at(argument->span), "`" + argument->name + "` can be \"" +
                                               words_.back().words[0] +
                                               "\" alone: compare it with each of its words, or "
                                               "give it a default");
      }
    }
    return sink.num_errors() == before;
  }

  const TextWords* words(const std::string& name) const {
    for (const TextWords& one : words_) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }

  /// All values of the arguments, in the order of the schema.
  bool find_ways(DiagnosticSink& sink) {
    size_t count = 1;
    for (const Argument* argument : order_) {
      const TextWords* text = words(argument->name);
      count *= (text ? text->words.size() : 1) + arguments_.optionals.contains(argument->name);
      if (count <= kMaxWays) continue;
      sink.error(op_.at(argument->span), "the arguments that choose an expression have more than " +
                                             std::to_string(kMaxWays) + " values together");
      return false;
    }
    add_ways(0, {});
    if (std::any_of(ways_.begin(), ways_.end(), [](const Way& way) { return !way.fails(); }))
      return true;
    const std::string& name = *ways_[0].absent.begin();
    sink.error(op_.at(op_.schema.find_arg(name)->span),
               "every expression needs `" + name + "`, which may be absent");
    return false;
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
    if (const TextWords* text = words(argument.name)) {
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
          expr::choose(cases()[i].expression.text, parsed_[i].formula, arguments_, choice);
      way.names.merge(chosen.names);
      way.absent.merge(chosen.absent);
      way.texts.push_back(std::move(chosen.text));
    }
    return way;
  }

  /// Takes its arguments: those that decide nothing, and of the others those that it computes with.
  bool takes(const Way& way, const Argument& argument) const {
    if (arguments_.texts.contains(argument.name)) return false;
    return !arguments_.optionals.contains(argument.name) || way.names.contains(argument.name);
  }

  Operator operator_of(const Way& way) const {
    Operator one = op_;
    std::string name = (op_.schema.name.starts_with("_") ? "" : "_") + op_.schema.name;
    if (!op_.schema.overload.empty()) name += "_" + op_.schema.overload;
    for (const Argument* argument : order_) {
      const auto word = way.choice.words.find(argument->name);
      if (word != way.choice.words.end()) {
        name += "_" + word->second;
      } else if (takes(way, *argument)) {
        name += "_" + argument->name;
      }
    }
    for (char& c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    one.schema.name = name;
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
    constexpr std::string_view kOfForms[] = {"variants", "out_name", "autogen",
                                             "cpp_no_default_args"};
    std::erase_if(one.keys, [&](const LocatedName& key) {
      return std::find(std::begin(kOfForms), std::end(kOfForms), key.text) != std::end(kOfForms);
    });
    one.variants.method = false;
    one.variants.function = true;
    one.out_name.reset();
    one.autogen.clear();
    one.cpp_no_default_args.clear();
    one.work_of = shown();
    for (size_t i = 0; i < way.texts.size(); ++i)
      one.pointwise->cases[i].expression.text = way.texts[i];
    return one;
  }

  /// The operator that the expression is a call of, `clamp_min(self, min)`, with the same
  /// arguments and dtypes; null where it is another.
  const Operator* same_operator(const Operator& one) const {
    std::string called;
    for (const PointwiseCase& text : one.pointwise->cases) {
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
    const auto found = std::find_if(
        operators_.begin(), operators_.end(), [&](const Operator& other) {
          return other.pointwise && other.base_name() == called && same_types(other, one) &&
                 (categories(one) == any || categories(other) == categories(one)) && other.schema.ns == one.schema.ns;
        });
    return found == operators_.end() ? nullptr : &*found;
  }

  static bool same_types(const Operator& a, const Operator& b) {
    return std::equal(a.schema.args.begin(), a.schema.args.end(), b.schema.args.begin(),
                      b.schema.args.end(),
                      [](const Argument& x, const Argument& y) { return x.type == y.type; });
  }

  static std::set<std::string> categories(const Operator& op) {
    std::set<std::string> all;
    for (const PointwiseCase& one : op.pointwise->cases) all.insert(one.category);
    return all;
  }

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

  /// Names of the outputs, in their order.
  std::string outs() const {
    std::string names;
    const auto out = derive_out(op_.schema, out_overload(op_));
    for (const Argument* argument : out->out_args())
      names += (names.empty() ? "" : ", ") + argument->name;
    return names;
  }

  /// What a call means in other expressions that leaves texts out: they are as their defaults say,
  /// and numbers and tensors that may be absent are given from the first one on.
  bool is_plain(const Way& way) const {
    bool ended = false;
    for (const Argument* argument : order_) {
      const bool given = way.choice.given.contains(argument->name);
      if (arguments_.texts.contains(argument->name)) {
        const auto word = way.choice.words.find(argument->name);
        const auto* value = argument->default_value
                                ? argument->default_value->get<schema::StringValue>()
                                : nullptr;
        if (word == way.choice.words.end() ? value != nullptr
                                           : value == nullptr || value->text != word->second)
          return false;
      } else if (given && ended) {
        return false;
      } else {
        ended |= !given;
      }
    }
    return true;
  }

  /// The part of the composition that is meant once the first `i` arguments are known.
  std::string decide(size_t i, const expr::Choice& choice, SchemaKind form) const {
    if (i == order_.size()) {
      const Way way = way_of(choice);
      if (way.fails()) return failure_of(way);
      return calls_.at(key_of(way)).text(form, form == SchemaKind::kOut ? outs() : "");
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
    const TextWords* of_text = words(argument.name);
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

  const std::vector<Operator>& operators_;
  Operator& op_;
  std::vector<expr::FormulaResult> parsed_;
  expr::SwitchArguments arguments_;
  std::vector<const Argument*> order_;
  std::vector<TextWords> words_;
  std::vector<Way> ways_;
  std::map<std::string, Call> calls_;  // by expression
  expr::Functions functions_;
};

}  // namespace

void resolve_switches(std::vector<Operator>& operators, DiagnosticSink& sink) {
  const RuleScope scope(sink, "pointwise_switch");
  std::vector<Operator> made;
  for (Operator& op : operators) {
    if (op.pointwise && op.pointwise->complete) {
      Switch one(operators, op);
      if (one.read(sink)) one.take_apart(made);
    } else if (op.composition) {
      const expr::FormulaResult parsed = expr::parse_formula(op.composition->text);
      for (const Argument& argument : op.schema.args) {
        if (!parsed.ok() || !is_text(argument.type)) continue;
        TextWords words = words_of(argument, {&parsed.formula});
        if (!words.words.empty()) op.words.push_back(std::move(words));
      }
    }
  }
  for (Operator& op : made) operators.push_back(std::move(op));
}

}  // namespace tenon::codegen::detail
