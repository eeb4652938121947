// Which parts of compositions become kernels, and what they are guarded by.

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

constexpr const char* kBase = R"(
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  pointwise: self + alpha * other
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self * other
- func: gt.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self > other
- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
  pointwise: where(condition, self, other)
- func: bitwise_not(Tensor self) -> Tensor
  dtypes: bool, integral
  pointwise: ~self
- func: chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
  composite: explicit
- func: relu(Tensor self) -> Tensor
  pointwise: relu(self)
- func: silu(Tensor self) -> Tensor
  variants: function, inplace
  pointwise: self * sigmoid(self)
- func: shrink(Tensor self, Scalar lambd=0.5) -> Tensor
  check: shrink_check
  pointwise: where(abs(self) > lambd, self, 0)
- func: masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor
  pointwise: where(mask, value, self)
- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  structured: CPU
  non_differentiable: True
- func: matmul(Tensor self, Tensor other) -> Tensor
  structured: CPU
  non_differentiable: True
- func: gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor
  structured: CPU
  non_differentiable: True
- func: squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
  composite: explicit
- func: unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
  composite: explicit
- func: mean.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  structured: CPU
  non_differentiable: True
- func: _softmax(Tensor self, int dim, bool half_to_float) -> Tensor
  check: _softmax_check
  rowwise: e = exp(self - detach(max(self))); e * (1 / sum(e))
  over: dim
- func: softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
  composite: _softmax(self, dim, false)
)";

/// A library that adds to `kBase`.
struct Library {
  explicit Library(const std::string& text, const std::vector<std::string>& dtypes = {}) {
    Sources base_sources, sources;
    base_sources.native.push_back(sink.sources().add("base.yaml", kBase));
    base = load(base_sources, Dialect::kTenon, sink);
    sources.native.push_back(sink.sources().add("own.yaml", text));
    model = load(sources, Dialect::kTenon, sink, &base, dtypes);
    run_checks(model, sink, &base);
    std::ostringstream out;
    sink.print(out);
    INFO(out.str());
    CHECK(sink.num_errors() == 0);
  }

  const Operator* find(const std::string& name) const {
    const auto& all = model.operators();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Operator& op) { return op.name() == name; });
    return found == all.end() ? nullptr : &*found;
  }

  const Fusion& fusion(const std::string& name = "mine::f") const {
    static const Fusion none;
    const std::optional<Fusion>& found = find(name)->composition()->fusion;
    return found ? *found : none;
  }

  std::string kernel(const std::string& name = "mine::_f_fused") const {
    const Operator* op = find(name);
    if (op == nullptr) return "none";
    const Rowwise* rows = op->as<Rowwise>();
    const std::string text =
        rows ? rows->parts[0].expression.text : op->as<Pointwise>()->cases[0].expression.text;
    return (rows ? "over " + rows->over->text + ": " : "") + text;
  }

  DiagnosticSink sink;
  Model base, model;
};

Library one(const std::string& arguments, const std::string& text, const std::string& keys = "") {
  return Library("- func: mine::f(" + arguments + ") -> Tensor\n" + keys + "  composite: '" + text +
                 "'\n");
}

TEST_CASE("a composition of elements is one kernel with a guard", "[fusion]") {
  const Library made = one("Tensor x, Tensor y", "t = x + y; relu(t) * silu(t)");
  CHECK(made.kernel() == "t = (x + y); (relu(t) * silu(t))");
  CHECK(made.fusion().text.empty());
  CHECK(made.fusion().call == "mine::_f_fused(x, y)");
  CHECK(made.fusion().guard ==
        "tenon::native::can_fuse({{x, tenon::native::FusedRole::kElement}, {y, "
        "tenon::native::FusedRole::kElement}})");
  REQUIRE(made.fusion().parts.size() == 1);
  CHECK(made.fusion().parts[0].num_operators == 4);
  CHECK(made.fusion().parts[0].traffic == 3);
  CHECK(made.fusion().parts[0].unfused_traffic == 10);
}

TEST_CASE("rows, conditions and columns have their roles", "[fusion]") {
  const Library made = one("Tensor x, Tensor mask, Tensor bias, int dim",
                           "softmax((x + bias).masked_fill(mask, -inf), -1)", "  columns: bias\n");
  CHECK(made.kernel() == "over -1: self = masked_fill((x + bias), mask, (-inf)); "
                         "e1 = (exp(self - detach(max(self)))); y = (e1 * (1 / sum(e1))); y");
  CHECK(made.fusion().guard ==
        "tenon::native::can_fuse({{x, tenon::native::FusedRole::kFull}, {bias, "
        "tenon::native::FusedRole::kColumn}, {mask, tenon::native::FusedRole::kCondition}}, "
        "tenon::IntArrayRef({-1}))");
  CHECK(made.find("mine::_f_fused")->as<Rowwise>()->columns.size() == 1);
}

TEST_CASE("an argument of dimensions is the kernel's", "[fusion]") {
  const Library made = one("Tensor x, int dim", "softmax(silu(x), dim)");
  CHECK(made.find("mine::_f_fused")->as<Rowwise>()->over->text == "dim");
  CHECK(made.fusion().guard.ends_with(", tenon::IntArrayRef({dim}))"));
}

TEST_CASE("products stay operators between kernels", "[fusion]") {
  const Library made =
      one("Tensor x, Tensor w, Tensor b", "h = silu(matmul(x, w) + b); relu(h * h)");
  CHECK(made.fusion().text == "mine::_f_part1(matmul(x, w), b)");
  CHECK(made.kernel("mine::_f_fused1") == "h = silu((x1 + b)); relu((h * h))");
  // The operators one by one, of the part's operands.
  CHECK(made.find("mine::_f_part1")->composition()->text.text == "h = silu(x1 + b); relu(h * h)");
}

TEST_CASE("a local that two kernels read is computed before them", "[fusion]") {
  const Library made =
      one("Tensor x, Tensor w", "h = relu(x + x); matmul(silu(h * h), w) * (h + x)");
  CHECK(made.fusion().text ==
        "h = mine::_f_part1(x); mine::_f_part2(matmul(mine::_f_part3(h), w), h, x)");
}

TEST_CASE("a local that gives a name another dimension is read at its places", "[fusion]") {
  const Library made =
      one("Tensor x, Tensor i", "y = softmax(x, -1); j = unsqueeze(i, -1); v = gather(y, -1, j); "
                                "w = v.squeeze(-1); relu(w) + mean(y, {-1})");
  CHECK(made.fusion().text.empty());
  CHECK(made.fusion().call == "mine::_f_fused(x, i)");
  CHECK(made.kernel().ends_with("v = pick(y, i); (relu(v) + mean(y))"));
  // Operators read the view; its text is repeated.
  const Library kept = one("Tensor x, Tensor i", "j = unsqueeze(i, 0); relu(matmul(x, j)) + j");
  CHECK(kept.fusion().text == "mine::_f_part1(matmul(x, unsqueeze(i, 0)), unsqueeze(i, 0))");
}

TEST_CASE("kernels write to the parts of a result", "[fusion]") {
  const Library made = one("Tensor x, Tensor y, float p", "cat({relu(x + y), silu(x * p)}, -1)");
  CHECK(made.fusion().text == "mine::_f_cat2(x, y, p)");
  const Composition& parts = *made.find("mine::_f_cat2")->composition();
  CHECK(parts.text.text == "cat({mine::_f_part1(x0, x1), mine::_f_part2(x0, x2)}, -1)");
  CHECK(parts.fusion->guard.starts_with("tenon::native::can_fill_parts({{x0, x1}, {x0}}) && "));
  CHECK(parts.fusion->call ==
        "tenon::native::filled_parts({{x0, x1}, {x0}}, -1, [&](size_t part, tenon::Tensor& out, "
        "const tenon::Tensor* in) { if (part == 0) mine::_f_fused1_out(out, in[0], in[1]); "
        "if (part == 1) mine::_f_fused2_out(out, in[0], x2); })");
  CHECK(made.find("mine::_f_fused1")->variants.out);
  // A part of rows, and one of Bool, have other kernels.
  CHECK(one("Tensor x", "cat({softmax(relu(x), -1), relu(x + x)}, -1)")
            .fusion()
            .text.starts_with("cat({mine::_f_part1(x), "));
}

TEST_CASE("numbers are computed once, before the kernel", "[fusion]") {
  const Library made = one("Tensor x, int n", "relu(x * (1.0 / n)) + x.size(-1)");
  CHECK(made.fusion().call == "mine::_f_fused(x, (1.0 / n), x.size(-1))");
  CHECK(made.kernel() == "(relu((x * n1)) + n2)");
}

TEST_CASE("each branch of a choice has its kernel", "[fusion]") {
  const Library made =
      one("Tensor x, Tensor[] ys, float p", "p > 0 ? relu(x * ys[0]) : silu(x * p)");
  CHECK(made.fusion().text == "p > 0 ? mine::_f_part1(x, ys[0]) : mine::_f_part2(x, p)");
}

TEST_CASE("what has other rows, a check of values, a write or one operator is not fused",
          "[fusion]") {
  CHECK(one("Tensor x", "silu(x)").kernel() == "none");
  CHECK(one("Tensor x", "relu(x + x)", "  fuse: False\n").kernel() == "none");
  CHECK(one("Tensor x", "relu(x + x).silu_()").kernel() == "none");
  CHECK(one("Tensor x", "shrink(relu(x))").kernel() == "none");
  CHECK(one("Tensor x", "x * mean(x, {-1})").kernel() == "none");
  // A sum of all that keeps dimensions has other sizes than a kernel's value without them.
  CHECK(one("Tensor x", "mean(relu(x), {}, true) + 1").kernel() == "none");
  // Each softmax has rows of its own.
  const Library two = one("Tensor x", "softmax(softmax(relu(x), -1), -2)");
  CHECK(two.fusion().text == "softmax(mine::_f_part1(x), -2)");
  // Nor are entries of the library that others add to.
  const Read tree = read_text("- func: relu(Tensor self) -> Tensor\n  pointwise: relu(self)\n"
                              "- func: f(Tensor x) -> Tensor\n  composite: relu(relu(x))\n");
  CHECK_FALSE(tree.model.operators()[1].composition()->fusion);
}

TEST_CASE("the library's own entries are inlined", "[fusion]") {
  const std::string own =
      "- func: mine::center(Tensor self, float by=1) -> Tensor\n  over: -1\n"
      "  rowwise: (self - mean(self)) * by\n"
      "- func: mine::last(Tensor self) -> Tensor\n  over: -1\n  rowwise: argmax(self)\n"
      "- func: mine::twice(Tensor x, float n=2) -> Tensor\n  composite: t = relu(x); t * n + t\n";
  const Library made(own + "- func: mine::f(Tensor x) -> Tensor\n"
                           "  composite: center(mine::twice(x), 0.5)\n");
  CHECK(made.kernel() ==
        "over -1: t = relu(x); self = ((t * 2) + t); y = ((self - mean(self)) * 0.5); y");
  // Positions are integers, which no kernel of floating elements computes with.
  const Library whole(own + "- func: mine::f(Tensor x) -> Tensor\n"
                            "  composite: last(relu(x)) + last(x)\n");
  CHECK(whole.kernel() == "none");
}

TEST_CASE("values per row that an inlined entry gives are saved for the gradient", "[fusion]") {
  const Library made(
      "- func: mine::center(Tensor self) -> (Tensor out, Tensor middle)\n  over: -1\n"
      "  keepdim: True\n  rowwise:\n    middle: mean(self)\n    out: self - middle\n"
      "- func: mine::f(Tensor x) -> Tensor\n  composite: std::get<0>(center(relu(x)))\n");
  CHECK(made.fusion().call == "std::get<0>(mine::_f_fused(x))");
  const Operator* kernel = made.find("mine::_f_fused");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->schema.returns.size() == 2);
  CHECK(kernel->as<Rowwise>()->parts[1].expression.text ==
        "self = relu(x); middle = (mean(self)); middle");
}

TEST_CASE("values per row keep the row's dimensions or drop them", "[fusion]") {
  const Library kept = one("Tensor x", "silu(mean(relu(x), {-1}, true)) * x");
  CHECK(kept.kernel() == "over -1: (silu(mean(relu(x))) * x)");
  const Library dropped = one("Tensor x, Tensor y", "mean(relu(x), {-1}) * y");
  CHECK(dropped.kernel() == "over -1: (mean(relu(x)) * y)");
  CHECK(dropped.fusion().guard.find("{y, tenon::native::FusedRole::kRow}") != std::string::npos);
  CHECK(dropped.find("mine::_f_fused")->as<Rowwise>()->rows.size() == 1);
  CHECK_FALSE(dropped.find("mine::_f_fused")->as<Rowwise>()->keepdim);
  CHECK(one("Tensor x", "mean(relu(x), {-1}, true) + 1")
            .find("mine::_f_fused")
            ->as<Rowwise>()
            ->keepdim);
}

TEST_CASE("several results are one kernel", "[fusion]") {
  const Library made("- func: mine::f(Tensor x, Tensor y) -> (Tensor, Tensor)\n"
                     "  composite: h = x + y; std::make_tuple(relu(h), h * silu(y))\n");
  const Operator* kernel = made.find("mine::_f_fused");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->schema.returns.size() == 2);
  CHECK(made.fusion().guard.find("{x, tenon::native::FusedRole::kFull}") != std::string::npos);
}

TEST_CASE("elements of lists are operands", "[fusion]") {
  const Library made = one("Tensor x", "relu(chunk(x, 2, -1)[0]) * chunk(x, 2, -1)[1]");
  CHECK(made.kernel("mine::_f_fused1") == "(relu(x1) * x2)");
}

TEST_CASE("what no kernel of floating elements computes stays operators", "[fusion]") {
  const Library made =
      one("Tensor x, Tensor y, Tensor z", "where(bitwise_not(x > y) == (y > z), x, y) * relu(z)");
  CHECK(made.kernel("mine::_f_fused") == "none");
}

TEST_CASE("a kernel may be for some dtypes alone", "[fusion]") {
  const Library made("- func: mine::f(Tensor x) -> Tensor\n  composite: relu(x) * silu(x)\n",
                     {"Float", "Half"});
  CHECK(made.fusion().guard ==
        "tenon::native::can_fuse({{x, tenon::native::FusedRole::kElement}}) && (x.scalar_type() == "
        "tenon::kFloat || x.scalar_type() == tenon::kHalf)");
  CHECK(made.find("mine::_f_fused")->fused_dtypes == std::vector<std::string>{"Float", "Half"});
}

}  // namespace
}  // namespace tenon::codegen
