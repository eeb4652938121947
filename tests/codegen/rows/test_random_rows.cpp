// Random row operators: what their expressions mean, by definitions of their own, is what the graph
// of the generator gives, what the steps of their kernels give, and what the derivative gives, as
// graph and as steps. The entries are the same in every run; TENON_FUZZ sets their number,
// TENON_FUZZ_SEED the first of them.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/expr/rows/row_schedule.h"
#include "codegen/meaning/row_expression.h"
#include "tests/codegen/model/read_text.h"
#include "tests/codegen/rows/interpret.h"
#include "tests/codegen/rows/random_entry.h"
#include "tests/codegen/rows/reference.h"

namespace tenon::codegen::rows {
namespace {

using expr::DearValues;
using expr::NodeId;
using expr::RowOutput;
using Values = std::vector<double>;

/// The entry `random` with so many results; its expressions are put in later.
Operator declare(size_t num_results) {
  std::string returns, parts;
  for (size_t i = 0; i < num_results; ++i) {
    const std::string name = RandomEntry::result_name(i, num_results);
    returns += (i == 0 ? "Tensor " : ", Tensor ") + name;
    parts += "    " + name + ": x + r\n";
  }
  const Read read = read_text(
      std::string("- func: random::f(") + kRandomArguments + ") -> (" + returns +
          ")\n  over: -1\n  columns: [w, v]\n  rows: [r, place]\n" + "  rowwise:\n" + parts,
      "", Dialect::kTenon, false);
  INFO(read.messages);
  REQUIRE(read.num_errors == 0);
  REQUIRE(read.model.operators().size() == 1);
  return read.model.operators()[0];
}

bool is_named(const Operator& op, const std::string& name) {
  const std::regex word("\\b" + name + "\\b");
  return std::any_of(
      op.as<Rowwise>()->parts.begin(), op.as<Rowwise>()->parts.end(),
      [&](const auto& part) { return std::regex_search(part.expression.text, word); });
}

/// The entry's expressions; what they do not name is no argument. Nothing where it is refused.
std::optional<RowExpression> parse_used(Operator& op, DiagnosticSink& sink) {
  std::erase_if(op.schema.args,
                [&](const schema::Argument& argument) { return !is_named(op, argument.name); });
  return parse_rowwise(op, sink);
}

struct Counts {
  size_t entries = 0, refused = 0, samples = 0, values = 0, slopes = 0, wild = 0, passes = 0,
         spills = 0, picks_left_out = 0, losing_nan = 0;
};

class Trial {
 public:
  Trial(Operator op, const RandomEntry& entry, Counts& counts)
      : op_(std::move(op)), entry_(entry), counts_(counts) {
    for (size_t i = 0; i < entry.results.size(); ++i) {
      texts_ += "    " + op_.as<Rowwise>()->parts[i].name.text + ": " + entry.text(i) + "\n";
      op_.as<Rowwise>()->parts[i].expression.text = entry.text(i);
    }
  }

  void run(std::mt19937_64& random) {
    ++counts_.entries;
    INFO(texts_);
    DiagnosticSink sink;
    std::optional<RowExpression> row = parse_used(op_, sink);
    if (!row) return refused(sink);
    outputs_ = row->expression.outputs;
    derivative_ = expr::differentiate_rows(row->expression);
    REQUIRE(derivative_.errors.empty());
    row_ = std::move(*row);
    schedule();
    for (int i = 0; i < 3; ++i) sample(random);
  }

 private:
  expr::Graph& graph() { return row_.expression.graph; }

  /// Constants may fold so far that a row has no elements left, which is an error and said so.
  void refused(const DiagnosticSink& sink) {
    ++counts_.refused;
    std::string said;  // without its place, which is another sink's
    for (const Diagnostic& diagnostic : sink.sorted()) said += diagnostic.message + "\n";
    INFO(said);
    for (const char* expected : {"takes the elements of a row, got one value per",
                                 "is the same for every row: it depends on no element",
                                 // What names it was folded away.
                                 "no expression reads the "}) {
      if (said.find(expected) != std::string::npos) return;
    }
    FAIL("the entry must be accepted");
  }

  void schedule() {
    for (const NodeId output : outputs_) {
      kinds_.push_back(graph()[output].domain == Domain::kRow ? RowOutput::kRow
                                                              : RowOutput::kElement);
    }
    for (const expr::RowGradient& gradient : derivative_.gradients) {
      gradients_.push_back(gradient.node);
      gradient_kinds_.push_back(is_row(gradient.input) ? RowOutput::kRow
                                : gradient.input == "w" || gradient.input == "v"
                                    ? RowOutput::kColumn
                                    : RowOutput::kElement);
    }
    for (const DearValues dear : {DearValues::kSpilled, DearValues::kRepeated}) {
      forward_.push_back(expr::schedule_rows(graph(), outputs_, kinds_, dear));
      backward_.push_back(expr::schedule_rows(graph(), gradients_, gradient_kinds_, dear));
    }
    counts_.passes += forward_[0].num_passes() + backward_[0].num_passes();
    counts_.spills += forward_[0].spill_outputs.size() + backward_[0].spill_outputs.size();
  }

  static bool is_row(const std::string& name) { return name == "r" || name == "place"; }

  void sample(std::mt19937_64& random) {
    constexpr size_t kLengths[] = {0, 1, 2, 3, 4, 5, 5, 7};
    const size_t length = kLengths[random() % std::size(kLengths)];
    std::uniform_real_distribution<double> draw(-2, 2);
    const auto row = [&](size_t n) {
      Values values(n);
      for (double& value : values) value = draw(random);
      return values;
    };
    RowValues values = {{"r", row(1)}, {"scale", row(1)}};
    for (const char* name : {"x", "y", "w"}) values[name] = row(length);
    values["v"] = random() % 4 == 0 ? Values(length, kAbsent) : row(length);
    const bool outside = entry_.picks_guarded && (length == 0 || random() % 3 == 0);
    // Entries that pick have no empty rows unless they choose another value for them.
    if (length == 0 && !outside && picks()) return;
    values["place"] = {outside ? -1 : static_cast<double>(length == 0 ? 0 : random() % length)};
    RowValues slopes;
    for (const expr::RowGradient& gradient : derivative_.gradients)
      slopes[gradient.input] = row(values.at(gradient.input).size());
    ++counts_.samples;
    counts_.picks_left_out += outside && picks();
    std::ostringstream said;
    said.precision(17);
    for (const auto& [name, numbers] : values) {
      said << name << ":";
      for (const double number : numbers) said << " " << number;
      said << "\n";
    }
    INFO(said.str());
    check(length, values, slopes, random);
    if (length > 0 && random() % 4 == 0) check_nan(length, values, random);
  }

  /// A NaN shows in the results of the kernel's steps as in those of the graph, where maxima that
  /// may lose it are used as well.
  void check_nan(size_t length, RowValues values, std::mt19937_64& random) {
    auto operand = values.begin();
    std::advance(operand, random() % values.size());
    if (operand->first == "place") return;
    operand->second[random() % operand->second.size()] = std::nan("");
    INFO("with a NaN in " << operand->first);
    const std::vector<Values> results = evaluate(graph(), outputs_, length, values);
    for (const expr::RowSchedule& schedule : forward_)
      same(rows::run(schedule, outputs_.size(), length, values), results, kinds_, length);
    for (const expr::RowStep& step : forward_[0].steps) {
      for (const expr::RowStep::Reduction& one : step.reductions)
        counts_.losing_nan += one.kind.ends_with("UnlessNan");
    }
  }

  bool picks() const { return !row_.positions.empty(); }

  void check(size_t length, RowValues values, const RowValues& slopes, std::mt19937_64& random) {
    const Reference expected = evaluate(entry_, length, values, slopes);
    // Rounding is told from mistakes where nothing on the way is large.
    const bool tame = expected.largest < 1e4 && !expected.empty_maximum;
    counts_.wild += !tame;
    const std::vector<Values> results = evaluate(graph(), outputs_, length, values);
    if (tame) {
      ++counts_.values;
      for (size_t i = 0; i < outputs_.size(); ++i) {
        for (size_t k = 0; k < results[i].size() && k < expected.results[i].size(); ++k) {
          INFO("result " << i << ", element " << k);
          close(results[i][k], expected.results[i][k].value, expected.largest, 1e-11);
        }
      }
    }
    if (!(length == 0 && forward_[0].needs_elements)) {
      for (const expr::RowSchedule& schedule : forward_) {
        INFO("steps of the forward kernel");
        same(rows::run(schedule, outputs_.size(), length, values), results, kinds_, length);
      }
    }
    // Backward: of random gradients of the results.
    double forward_slope = 0, size = 0;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const bool mask = !expr::has_gradient(graph(), outputs_[i]);
      const size_t n = kinds_[i] == RowOutput::kRow ? 1 : length;
      // What has elements as it is written may have one value when it is simplified.
      if (n > 0 && expected.results[i].empty()) return;
      Values grad(n);
      for (size_t k = 0; k < n; ++k) {
        grad[k] = std::uniform_real_distribution<double>(-2, 2)(random);
        const std::vector<Dual>& duals = expected.results[i];
        const double term = mask ? 0 : grad[k] * duals[duals.size() == 1 ? 0 : k].slope;
        forward_slope += term;
        size += std::fabs(term);
      }
      values[expr::grad_name(i, outputs_.size())] = grad;
      values[expr::result_name(i, outputs_.size())] = spread(results[i], n);
    }
    const std::vector<Values> gradients = evaluate(graph(), gradients_, length, values);
    if (tame) {
      double backward_slope = 0, largest = 0;
      for (size_t i = 0; i < gradients.size(); ++i) {
        const Values& direction = slopes.at(derivative_.gradients[i].input);
        for (size_t k = 0; k < direction.size(); ++k) {
          const double term = gradients[i][gradients[i].size() == 1 ? 0 : k] * direction[k];
          backward_slope += term;
          largest = std::fmax(largest, std::fabs(term));
        }
      }
      ++counts_.slopes;
      INFO("the derivative along a direction");
      close(backward_slope, forward_slope, std::max({1., size, largest, expected.largest}), 1e-9);
    }
    if (!(length == 0 && backward_[0].needs_elements)) {
      for (const expr::RowSchedule& schedule : backward_) {
        INFO("steps of the backward kernel");
        same(rows::run(schedule, gradients_.size(), length, values), gradients, gradient_kinds_,
             length);
      }
    }
  }

  static Values spread(const Values& values, size_t n) {
    return values.size() == n ? values : Values(n, values[0]);
  }

  void close(double got, double expected, double scale, double tolerance) {
    if (std::fabs(got - expected) <= tolerance * std::fmax(1, scale)) return;
    INFO("got " << got << ", expected " << expected << ", scale " << scale);
    FAIL("the values must agree");
  }

  /// The same arithmetic in the same order: the same bits.
  void same(const std::vector<Values>& got, const std::vector<Values>& expected,
            const std::vector<RowOutput>& kinds, size_t length) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      const size_t n = kinds[i] == RowOutput::kRow ? 1 : length;
      INFO("output " << i);
      REQUIRE(got[i].size() == n);
      for (size_t k = 0; k < n; ++k) {
        const double a = got[i][k], b = expected[i][expected[i].size() == 1 ? 0 : k];
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        INFO("element " << k << ": got " << a << ", expected " << b);
        FAIL("a kernel's steps must give what its graph gives");
      }
    }
  }

  Operator op_;
  const RandomEntry& entry_;
  Counts& counts_;
  std::string texts_;
  RowExpression row_;
  expr::RowDerivative derivative_;
  std::vector<NodeId> outputs_, gradients_;
  std::vector<RowOutput> kinds_, gradient_kinds_;
  std::vector<expr::RowSchedule> forward_, backward_;
};

size_t number_from(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_CASE("random row operators", "[rows][fuzz]") {
  const std::vector<Operator> operators = {declare(1), declare(2), declare(3)};
  Counts counts;
  const size_t first = number_from("TENON_FUZZ_SEED", 0);
  for (size_t seed = first; seed < first + number_from("TENON_FUZZ", 1000); ++seed) {
    std::mt19937_64 random;
    const RandomEntry entry = random_entry(seed, &random);
    INFO("TENON_FUZZ_SEED=" << seed);
    Trial(operators[entry.results.size() - 1], entry, counts).run(random);
  }
  std::ostringstream said;
  said << counts.entries << " entries, " << counts.refused << " refused as without elements, "
       << counts.samples << " samples, " << counts.values << " with values and " << counts.slopes
       << " with slopes compared, " << counts.wild << " too large for it, " << counts.picks_left_out
       << " with picks left out; " << counts.passes << " passes, " << counts.spills << " kept rows";
  if (std::getenv("TENON_FUZZ") != nullptr) WARN(said.str());
  // The test tests something.
  INFO(said.str());
  CHECK(counts.slopes > counts.entries);
  CHECK(counts.refused * 5 < counts.entries);
  CHECK(counts.picks_left_out > 0);
  CHECK(counts.spills > 0);
  CHECK(counts.losing_nan > 0);
}

/// The entry `text` on a row whose position is `at`: what forward's and backward's steps give.
std::vector<Values> run_at(const std::string& text, double at) {
  Operator op = declare(1);
  op.as<Rowwise>()->parts[0].expression.text = text;
  DiagnosticSink sink;
  expr::Expression expression = parse_used(op, sink).value().expression;
  const expr::RowDerivative derivative = expr::differentiate_rows(expression);
  RowValues values = {{"place", {at}}, {"r", {1.5}},     {"scale", {2}},
                      {"w", {1, 1}},   {"v", {2, 2}},    {"x", {0.5, 0.25}},
                      {"y", {-1, -3}}, {"grad", {1, 1}}, {"result", {0, 0}}};
  const auto steps = [&](const std::vector<NodeId>& nodes) {
    const std::vector<RowOutput> kinds(nodes.size(), RowOutput::kElement);
    return rows::run(expr::schedule_rows(expression.graph, nodes, kinds), nodes.size(), 2, values);
  };
  std::vector<Values> results = steps(expression.outputs);
  values["result"] = results[0];
  std::vector<NodeId> gradients;
  for (const expr::RowGradient& gradient : derivative.gradients) gradients.push_back(gradient.node);
  for (Values& gradient : steps(gradients)) results.push_back(std::move(gradient));
  return results;
}

/// How often the passes of `text` take an exponential of what is known not to be positive.
size_t nonpositive_exponentials(const std::string& text) {
  Operator op = declare(1);
  op.as<Rowwise>()->parts[0].expression.text = text;
  DiagnosticSink sink;
  expr::Expression expression = parse_used(op, sink).value().expression;
  const expr::RowSchedule schedule =
      expr::schedule_rows(expression.graph, expression.outputs, {RowOutput::kElement});
  size_t count = 0;
  const auto look = [&](const std::string& line) {
    for (size_t at = 0; (at = line.find("exp_nonpositive(", at)) != std::string::npos; ++at)
      ++count;
  };
  for (const expr::RowStep& step : schedule.steps) {
    for (const std::string& line : step.statements) look(line);
    for (const expr::RowStep::Store& store : step.stores) look(store.text);
  }
  return count;
}

TEST_CASE("the distance from the row's largest is known not to be positive", "[rows]") {
  CHECK(nonpositive_exponentials("exp(x - detach(max(x)))") == 1);
  CHECK(nonpositive_exponentials("exp(x - max(y))") == 0);
  CHECK(nonpositive_exponentials("exp(x - min(x))") == 0);
  CHECK(nonpositive_exponentials("exp(max(x) - x)") == 0);
  CHECK(run_at("exp(x - max(x))", 0)[0] == Values{1, std::exp(-0.25)});
}

TEST_CASE("a position may be out of range where another value is chosen", "[rows]") {
  for (const char* text : {"(place < 0 ? r : log(sum(exp(x))) - pick(x, place)) + x",
                           // What chooses is made of the element itself.
                           "(place < 0 ? r : pick(y, place) > 0 ? pick(y, place) : r) + x",
                           "(place < 0 ? r : maximum(pick(y, place), r) * r) + x",
                           // Two terms of the gradient share what is made of it.
                           "x * (place < 0 ? r : exp(pick(y, place)) * sin(exp(pick(y, place))))",
                           "x * ((place < 0 ? r : exp(pick(y, place))) + (place + 1 < 0.5 ? r : "
                           "square(exp(pick(y, place)))))"}) {
    INFO(text);
    for (const Values& values : run_at(text, -1)) {
      for (const double value : values) CHECK(std::isfinite(value));
    }
    CHECK_NOTHROW(run_at(text, 1));
    CHECK_THROWS_AS(run_at(text, 2), std::out_of_range);
  }
  const char* never = "(2 < 1 ? exp(pick(y, place)) : r) + x";
  CHECK(run_at(never, 7)[0] == Values{2, 1.75});
}

}  // namespace
}  // namespace tenon::codegen::rows
