// What the model makes of PyTorch 2.15's derivatives.yaml against derivatives.txt, which is what
// torchgen makes of it (tests/codegen/oracle/facts.py describes the lines). That a gradient
// which is not defined gives none is not compared: torchgen's nodes check it for some formulas,
// ours for all.

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/expr/formulas/formula.h"
#include "codegen/load/loader.h"
#include "codegen/meaning/differentiability.h"
#include "tests/codegen/model/facts.h"
#include "tests/codegen/upstream.h"

namespace tenon::codegen {
namespace {

using Names = std::set<std::string>;
using Words = std::vector<std::string>;

struct ExpectedBackward {
  Names kept;  // "self" or "self.sizes"
};
struct ExpectedForward {
  Words outputs;
  Names tangents, primals;
  std::string text;
};
struct ExpectedEntry {
  Words inputs, outputs;
  std::map<Words, ExpectedBackward> backward;
  std::map<std::string, std::set<size_t>> guards;
  std::vector<ExpectedForward> forward;
};
struct Expected {
  std::map<std::string, ExpectedEntry> entries;
  std::map<std::string, std::string> inherited;
};

Words split(const std::string& line) {
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// torchgen's variable and expression, as "self" or "self.sizes".
Names kept_names(const std::string& variable, const std::string& expression) {
  static const std::vector<std::pair<std::regex, std::string>> kForms = {
      {std::regex(
           R"((\w+)(?:\.|->)(?:sym_)?(sizes|numel|options|scalar_type|dim|layout|is_conj)\(\))"),
       "$1.$2"},
      {std::regex(R"((\w+)\.sym_size\(-(\w+)\))"), "$1.size_m$2"},
      {std::regex(R"((\w+)\.sym_size\((\w+)\))"), "$1.size_$2"},
      {std::regex(R"(to_(args_\w+?)(?:_symint)?\((\w+)\))"), "$2.$1"},
      {std::regex(R"(TensorGeometry\((\w+)\))"), "$1.geometry"},
      {std::regex(R"(strides_or_error\((\w+), "\w+"\))"), "$1.strides"},
      {std::regex(R"(at::sparse_csr::getSymIntBlockSize\((\w+)\))"), "$1.blocksize"},
      {std::regex(R"((\w+)\.has_value\(\) \? .*->sym_sizes\(\)\).*)"), "$1.sizes"},
  };
  if (variable == expression) return {expression};
  if (variable == expression + "_info") return {expression + ".sizes", expression + ".options"};
  for (const auto& [form, name] : kForms) {
    if (std::regex_match(expression, form)) return {std::regex_replace(expression, form, name)};
  }
  FAIL("a form of saved value that this test does not know: " << variable << " = " << expression);
  return {};
}

Expected read_expected(const std::string& path) {
  Expected expected;
  ExpectedEntry* entry = nullptr;
  ExpectedBackward* backward = nullptr;
  for (const std::string& line : read_lines(path)) {
    Words words = split(line);
    REQUIRE(!words.empty());
    const std::string kind = words[0];
    if (entry != nullptr && !entry->forward.empty() && entry->forward.back().text.empty()) {
      entry->forward.back().text = line.substr(4);
    } else if (kind == "entry") {
      entry = words.size() > 2 ? &expected.entries[words[1]] : nullptr;
      if (entry == nullptr) expected.entries[words[1]];
    } else if (kind == "inherit") {
      expected.inherited[words[1]] = words[2];
    } else if (kind == "inputs" || kind == "outputs") {
      (kind == "inputs" ? entry->inputs : entry->outputs).assign(words.begin() + 1, words.end());
    } else if (kind == "backward") {
      if (words.back() == "undefined") words.pop_back();
      backward = &entry->backward[Words(words.begin() + 1, words.end())];
    } else if (kind == "input" || kind == "output") {
      const size_t at = line.find(kind) + kind.size() + words[1].size() + 2;
      backward->kept.merge(kept_names(words[1], line.substr(at)));
    } else if (kind == "guard") {
      for (size_t i = 2; i < words.size(); ++i)
        entry->guards[words[1]].insert(std::stoul(words[i]));
    } else if (kind == "forward") {
      ExpectedForward forward;
      size_t part = 0;
      for (size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "tangents" || words[i] == "primals" || words[i] == "original") {
          ++part;
        } else if (part == 0) {
          forward.outputs.push_back(words[i]);
        } else if (part < 3) {
          (part == 1 ? forward.tangents : forward.primals).insert(words[i]);
        }
      }
      entry->forward.push_back(std::move(forward));
    } else {
      FAIL("unknown line " << line);
    }
  }
  return expected;
}

std::string join(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}
template <typename Set>
std::string join_set(const Set& set) {
  std::ostringstream out;
  for (const auto& item : set) out << " " << item;
  return out.str();
}

// `at::f_symint(x)` and `at::f(x)` are one operator; spaces and redundant marks do not count.
std::string canonical(std::string text) {
  text = std::regex_replace(text, std::regex(R"(_symint\()"), "(");
  const expr::FormulaResult parsed = expr::parse_formula(text);
  return parsed.ok() ? expr::print_formula(parsed.formula) : "no formula: " + text;
}

class Comparison {
 public:
  Comparison(const Model& model, const Expected& expected) : model_(model), expected_(expected) {}

  // Where the model keeps less, or says something else.
  Words less, other;

  void entry(const Derivative& derivative, const FormulaSet& set) {
    name_ = derivative.schema.qualified_name();
    if (set.key.text != "Default") name_ += ":" + set.key.text;
    const auto known = expected_.entries.find(name_);
    if (known == expected_.entries.end()) {
      other.push_back(name_ + ": not in torchgen's list");
      return;
    }
    const ExpectedEntry& expected = known->second;
    const Operator& op = model_.operators()[derivative.target];
    const Differentiability found = differentiability(op, derivative, set);
    for (const FormulaError& error : found.errors) differs("error", "", error.error.message);

    Words inputs, outputs;
    for (const schema::Argument* arg : found.inputs) inputs.push_back(arg->name);
    differs("inputs", join(expected.inputs), join(inputs));
    if (inputs.empty()) return;
    for (size_t i = 0; i < found.outputs.size(); ++i) {
      if (!found.outputs[i]) continue;
      outputs.push_back(derivative.schema.is_inplace() ? "self" : derivative.schema.return_name(i));
    }
    differs("outputs", join(expected.outputs), join(outputs));
    backward(expected, found);
    guards(expected, found);
    forward(expected, found);
  }

 private:
  void differs(const std::string& what, const std::string& expected, const std::string& actual) {
    if (expected != actual)
      other.push_back(name_ + " " + what + ": expected " + expected + ", got " + actual);
  }

  void backward(const ExpectedEntry& expected, const Differentiability& found) {
    differs("number of formulas", std::to_string(expected.backward.size()),
            std::to_string(found.backward.size()));
    for (const BackwardFormula& formula : found.backward) {
      Words key;
      for (const LocatedName& name : formula.source->names) key.push_back(name.text);
      const auto known = expected.backward.find(key);
      if (known == expected.backward.end()) {
        other.push_back(name_ + ": no formula for " + join(key));
        continue;
      }
      Names kept;
      for (const size_t index : formula.kept) {
        const KeptValue& value = found.kept[index];
        kept.insert(value.value.attribute.empty() ? value.value.name
                                                  : value.value.name + "." + value.value.attribute);
      }
      // A property is less than the whole.
      for (const std::string& one : kept) {
        const std::string whole = one.substr(0, one.find('.'));
        if (known->second.kept.contains(one)) continue;
        if (known->second.kept.contains(whole)) {
          less.push_back(name_ + " " + join(key) + ": " + one + " instead of " + whole);
        } else {
          other.push_back(name_ + " " + join(key) + ": keeps " + one + " too");
        }
      }
      for (const std::string& one : known->second.kept) {
        const bool replaced = std::any_of(kept.begin(), kept.end(), [&](const std::string& k) {
          return k.starts_with(one + ".");
        });
        if (!kept.contains(one) && !replaced)
          less.push_back(name_ + " " + join(key) + ": not " + one);
      }
    }
  }

  void guards(const ExpectedEntry& expected, const Differentiability& found) {
    for (const auto& [variable, users] : expected.guards) {
      for (const KeptValue& value : found.kept) {
        if (value.value.variable != variable) continue;
        // Kept for no input for which torchgen does not keep it.
        for (const size_t user : value.users) {
          if (!users.contains(user))
            differs("guard " + variable, join_set(users), join_set(value.users));
        }
      }
    }
  }

  void forward(const ExpectedEntry& expected, const Differentiability& found) {
    differs("number of forward formulas", std::to_string(expected.forward.size()),
            std::to_string(found.forward.size()));
    for (const ExpectedForward& wanted : expected.forward) {
      for (const ForwardFormula& formula : found.forward) {
        if (formula.outputs != wanted.outputs) continue;
        differs("forward formula", canonical(wanted.text), canonical(formula.text));
        Names tangents;  // torchgen names arguments that have none, too
        for (const schema::Argument* arg : found.inputs) {
          if (wanted.tangents.contains(arg->name)) tangents.insert(arg->name);
        }
        differs("tangents", join_set(tangents), join_set(formula.tangents));
        differs("primals", join_set(wanted.primals), join_set(formula.primals));
      }
    }
  }

  const Model& model_;
  const Expected& expected_;
  std::string name_;
};

// Where the model keeps less than torchgen, and why that is enough.
const std::map<std::string, Words> kLess = {
    {"a property that torchgen's list of properties lacks, in place of the tensor",
     {"acosh self: self.is_complex instead of self",
      "_log_softmax_backward_data grad_output: output.scalar_type instead of output",
      "_log_softmax_backward_data output: output.scalar_type instead of output",
      "_softmax_backward_data grad_output: output.scalar_type instead of output",
      "_softmax_backward_data output: output.scalar_type instead of output",
      "cudnn_batch_norm input weight bias: input.suggest_memory_format instead of input",
      "miopen_batch_norm input weight bias: input.suggest_memory_format instead of input",
      "_nested_tensor_from_tensor_list list: list.length instead of list",
      "_thnn_fused_lstm_cell input_gates hidden_gates cx input_bias hidden_bias: "
      "input_bias.defined instead of input_bias",
      "_thnn_fused_gru_cell input_gates hidden_gates hx input_bias hidden_bias: "
      "input_bias.defined instead of input_bias"}},
    {"ones_like(self) needs sizes and options alone (nested tensors, whose sizes are no list, do "
     "not "
     "exist here)",
     {"mean:AutogradNestedTensor self: self.options instead of self",
      "mean:AutogradNestedTensor self: self.sizes instead of self",
      "sum:AutogradNestedTensor self: self.options instead of self",
      "sum:AutogradNestedTensor self: self.sizes instead of self"}},
    {"the name is that of a function, of a method or stands in the text of not_implemented",
     {"complex real: not real", "complex imag: not imag", "native_dropout_backward mask: not mask",
      "native_batch_norm_backward save_mean: not save_mean",
      "native_batch_norm_backward save_invstd: not save_invstd",
      "native_layer_norm_backward mean: not mean", "native_layer_norm_backward rstd: not rstd",
      "batch_norm_backward save_mean: not save_mean", "batch_norm_backward save_var: not save_var",
      "batch_norm_backward reserve: not reserve",
      "sparse_compressed_tensor.comp_plain_value_size values: not values",
      "cudnn_batch_norm_backward save_mean: not save_mean",
      "cudnn_batch_norm_backward save_var: not save_var",
      "cudnn_batch_norm_backward reserveSpace: not reserveSpace",
      "miopen_batch_norm_backward save_mean: not save_mean",
      "miopen_batch_norm_backward save_var: not save_var"}}};

Words less_on_purpose() {
  Words lines;
  for (const auto& [reason, some] : kLess) lines.insert(lines.end(), some.begin(), some.end());
  return lines;
}

// Of a folder with torchgen's facts and a model of the same files.
struct Result {
  Words less, other, inheritance;
};

Result compare(const Model& model, const std::string& facts) {
  const Expected expected = read_expected(facts);
  Comparison comparison(model, expected);
  size_t sets = 0;
  for (const Derivative& derivative : model.derivatives()) {
    for (const FormulaSet& set : derivative.sets) {
      comparison.entry(derivative, set);
      ++sets;
    }
  }
  CHECK(sets == expected.entries.size());

  Words wanted, inherited;  // out forms are never differentiable
  for (const auto& [name, source] : expected.inherited) {
    const OperatorRef* known = model.find(name);
    const bool is_out = known != nullptr && model.op(*known).schema.is_out();
    if (!is_out) wanted.push_back(name + " from " + source);
  }
  for (const InheritedDerivative& one : model.inherited()) {
    if (one.form->kind == schema::SchemaKind::kOut) continue;
    inherited.push_back(one.form->schema.qualified_name() + " from " +
                        one.derivative->schema.qualified_name());
  }
  return {comparison.less, comparison.other, difference(wanted, inherited)};
}

TEST_CASE("derivatives mean what torchgen says", "[.][upstream]") {
  DiagnosticSink sink;
  const Model model =
      load({upstream_file("native_functions.yaml")}, {upstream_file("derivatives.yaml")},
           upstream_file("tags.yaml"), Dialect::kUpstream, sink);
  const Result result = compare(model, upstream_file("derivatives.txt"));
  CHECK(result.other == Words{});
  CHECK(difference(less_on_purpose(), result.less) == Words{});
  CHECK(result.inheritance == Words{});
}

}  // namespace
}  // namespace tenon::codegen
