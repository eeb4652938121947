#include <catch2/catch.hpp>

#include <sstream>

#include "codegen/load/loader.h"
#include "codegen/optimizers/emit_optimizers.h"
#include "codegen/optimizers/explain_optimizer.h"
#include "codegen/optimizers/optimizer.h"

using namespace tenon::codegen;
using namespace tenon::codegen::optimizers;

namespace {

const char* const kOperator =
    "- func: my_step_(Tensor(a!) self, Tensor grad, Tensor(b!)? mean=None, *, int step, float lr, "
    "float beta=0.9) -> Tensor(a!)\n"
    "  pointwise:\n"
    "    m: \"mean ? beta * mean + grad : grad\"\n"
    "    mean: m\n"
    "    self: \"self - lr * (step > 1 ? m : where(m > 0, m, -m)) / sqrt(1 - pow(beta, step))\"\n"
    "  non_differentiable: True\n";

const char* const kGood =
    "# What it does.\n"
    "- optimizer: Mine(float lr=1e-3, float[2] betas=[0.9, 0.99], bool centered=False, *, bool? "
    "foreach=None)\n"
    "  check:\n"
    "    0 <= betas[0] < 1: \"Invalid beta: {betas[0]}\"\n"
    "    \"!centered || lr > 0\": centered needs a rate\n"
    "  state:\n"
    "    step: 0\n"
    "    product: 1\n"
    "    mean: {init: full(lr), when: centered}\n"
    "  update: |\n"
    "    rate = lr / max(1, step - 3);\n"
    "    product *= betas[0];\n"
    "    my_step_(param, grad, mean, step, rate, product)\n";

/// What is said of a file of optimizers beside kOperator.
std::string messages_of(const std::string& text, std::vector<Optimizer>* result = nullptr,
                        ir::Library* library = nullptr) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", kOperator));
  const Model model = load(sources, Dialect::kTenon, sink);
  auto all = load_optimizers(*sink.sources().add("optimizers.yaml", text), model, sink);
  std::ostringstream out;
  sink.print(out);
  if (library && out.str().empty()) emit_optimizers(all, model, true, *library);
  if (result) *result = std::move(all);
  return out.str();
}

/// kGood with a part replaced.
std::string with(const std::string& part, const std::string& by) {
  std::string text = kGood;
  const size_t at = text.find(part);
  REQUIRE(at != text.npos);
  return text.replace(at, part.size(), by);
}

}  // namespace

TEST_CASE("an entry of optimizers.yaml", "[optimizers]") {
  std::vector<Optimizer> all;
  ir::Library library;
  CHECK(messages_of(kGood, &all, &library) == "");
  REQUIRE(all.size() == 1);
  CHECK(all[0].name() == "Mine");
  CHECK(all[0].comment == std::vector<std::string>{"What it does."});
  REQUIRE(all[0].states.size() == 3);
  CHECK(all[0].states[0].kind == StateItem::Kind::kStep);
  CHECK(all[0].states[1].kind == StateItem::Kind::kNumber);
  CHECK(all[0].states[2].kind == StateItem::Kind::kTensor);

  REQUIRE(library.optimizers.size() == 1);
  const ir::Optimizer& out = library.optimizers[0];
  CHECK(out.checks[0].condition.cpp ==
        "0.0 <= std::get<0>(defaults.betas()) && std::get<0>(defaults.betas()) < 1.0");
  CHECK(out.checks[0].condition.python == "0 <= betas[0] < 1");
  CHECK(out.checks[0].cpp_message ==
        std::vector<std::string>{"\"Invalid beta: \"", "std::get<0>(defaults.betas())"});
  CHECK(out.checks[1].condition.python == "(not centered or lr > 0)");
  CHECK(out.statements[0].value.cpp == "options.lr() / std::max(1.0, state.step() - 3.0)");
  CHECK(out.statements[0].value.python == "group[\"lr\"] / max(1, state[\"step\"].item() - 3)");
  CHECK(out.statements[1].kind == "scale");
  CHECK(out.call.arguments[2].when.cpp == "options.centered()");
  CHECK(out.call.arguments[5].value.cpp == "state.product().item<double>()");
  // The operator's own expressions, for steps that record.
  REQUIRE(out.formula.size() == 3);
  CHECK(out.formula[0].text == "beta * mean + grad if mean is not None else grad");
  CHECK(out.formula[1].state == "mean");
  CHECK(out.formula[2].text ==
        "param - lr * (m if step > 1 else where(m > 0, m, -m)) / sqrt(1 - pow(beta, step))");
  CHECK(out.helpers == std::vector<std::string>{"sqrt", "where"});
}

TEST_CASE("an entry that extends another one", "[optimizers]") {
  ir::Library library;
  const std::string text = std::string(kGood) +
                           "- optimizer: Other(float lr=1e-2, float[2] betas=[0.9, 0.99])\n"
                           "  extends: Mine(centered=True)\n";
  CHECK(messages_of(text, nullptr, &library) == "");
  REQUIRE(library.optimizers.size() == 2);
  const ir::Optimizer& out = library.optimizers[1];
  CHECK(out.base == "Mine");
  CHECK(out.states[2].when.cpp == "true");
  CHECK(out.options.back().is_settled);
}

TEST_CASE("mistakes in optimizers.yaml have a place", "[optimizers]") {
  const auto says = [](const std::string& text, const std::string& message) {
    CAPTURE(text);
    CHECK_THAT(messages_of(text), Catch::Contains(message));
  };
  says("a: 1\n", "optimizers.yaml:1:1: error: the file must be a list of entries, got a map");
  says("- update: f(param)\n",
       "optimizers.yaml:1:3: error: an entry of the optimizers needs `optimizer`");
  says(with("  state:", "  stat:"),
       "optimizers.yaml:6:3: error: unknown key `stat`; did you mean 'state'?");
  says(with("init: full", "inti: full"),
       "optimizers.yaml:9:12: error: unknown key `inti`; did you mean 'init'?");
  says(with("bool centered=False", "str centered=\"a\""),
       "option `centered` must be float, float[2], bool or int");
  says(with("float lr=1e-3", "float lr"), "option `lr` needs a default");
  says(with("float lr=1e-3", "float eps=1e-3"), "the first option must be `float lr`");
  says(with("  check:", "  group: lr, betas, foreach\n  check:"),
       "`group` lacks the option `centered`");
  says(with("0 <= betas[0] < 1", "0 <= beta[0] < 1"),
       "optimizers.yaml:4:10: error: there is no `beta` here; did you mean 'betas'?");
  says(with("0 <= betas[0] < 1", "0 <= betas[2] < 1"),
       "optimizers.yaml:4:10: error: `betas` has 2 elements");
  says(with("0 <= betas[0] < 1", "0 <= betas < 1"), "`betas` is a pair: write `betas[0]`");
  says(with("0 <= betas[0] < 1", "0 <= betas[0] <"),
       "error: expected a number, a name or '(', got the end of the text");
  says(with("max(1, step", "maximum(1, step"),
       "optimizers.yaml:11:17: error: there is no function `maximum`");
  says(with("product *= betas", "prodct *= betas"),
       "optimizers.yaml:12:5: error: only a number of the state changes, not `prodct`");
  says(with("product *= betas[0]", "mean *= betas[0]"), "`mean` is no number of the state");
  says(with("my_step_(", "my_stp_("),
       "optimizers.yaml:13:5: error: there is no operator `my_stp_`");
  says(with("my_step_(", "my_stp_("), "did you mean 'my_step_'?");
  says(with(", mean, step, rate, product)", ")"), "`my_step_` takes 6 arguments, got 2");
  says(with("mean, step, rate", "step, mean, rate"),
       "argument `mean` of `my_step_` must be a tensor");
  says(with("    my_step_(param, grad, mean, step, rate, product)\n", ""),
       "`update` must call one operator, got 0 calls");
  says(std::string(kGood) + "- optimizer: Other(float lr=1)\n  extends: Min(centered=True)\n",
       "`extends` names no optimizer above: `Min`; did you mean 'Mine'?");
}

TEST_CASE("explain says what an optimizer does", "[optimizers]") {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", kOperator));
  const Model model = load(sources, Dialect::kTenon, sink);
  const auto all = load_optimizers(*sink.sources().add("optimizers.yaml", kGood), model, sink);
  std::ostringstream out;
  CHECK_FALSE(explain_optimizer(all, model, "Other", out));
  CHECK(out.str().empty());
  REQUIRE(explain_optimizer(all, model, "Mine", out));
  for (const char* part :
       {"optimizers.yaml:2\n", "  What it does.\n",
        "MineOptions, MineParamState: runtime/optim/mine.h",
        "python/optim/mine.py; alone has foreach\n",
        "  0 <= betas[0] < 1: Invalid beta: {betas[0]}\n", "  product: a number, from 1 on\n",
        "  mean: like the parameter, from lr on, if centered\n", "  product *= betas[0]\n",
        "  my_step_(param, grad, mean, step, rate, product)\n",
        "  m = mean ? beta * mean + grad : grad\n"})
    CHECK_THAT(out.str(), Catch::Contains(part));
}
