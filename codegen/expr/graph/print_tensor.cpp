#include "codegen/expr/graph/print_tensor.h"

#include <algorithm>
#include <cmath>

namespace tenon::codegen::expr {
namespace {

enum class PieceKind : std::uint8_t {
  kTensor,
  kScalarObject,  ///< an expression of type Scalar
  kNumber         ///< a C++ arithmetic expression: double, integer or bool
};

struct Piece {
  std::string text;
  PieceKind kind = PieceKind::kTensor;
  bool is_tensor() const { return kind == PieceKind::kTensor; }
};

/// C++ of an intrinsic of numbers, by its row.
std::string number_text(const Intrinsic& row, const std::vector<std::string>& arguments) {
  std::string text;
  if (row.number == kOfCmath) {
    text = "std::" + std::string(row.name) + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
    return text + ")";
  }
  for (std::size_t i = 0; i < row.number.size(); ++i) {
    if (row.number[i] == '$') {
      text += arguments[static_cast<std::size_t>(row.number[++i] - '0')];
    } else {
      text += row.number[i];
    }
  }
  return text;
}

/// A polynomial of fewer steps is as short as calls of operators.
constexpr std::size_t kLongPolynomial = 4;

class TensorPrinter {
 public:
  TensorPrinter(const Graph& graph, NodeId root, const TensorTextOptions& options)
      : g_(graph), options_(options), uses_(graph.size(), 0), names_(options.rename) {
    order_ = topological_order(g_, {root});
    for (NodeId id : order_) {
      for (NodeId argument : g_[id].arguments) ++uses_[argument];
      if (!g_[id].is_variable()) continue;
      names_.use(g_[id].name);
      const bool is_grad = g_[id].kind == NodeKind::kGrad;
      if (g_[id].kind != NodeKind::kScalar && (like_.empty() || (is_grad && !like_is_grad_))) {
        like_ = names_.of(g_[id].name);
        like_is_grad_ = is_grad;
      }
    }
  }

  TensorText print(NodeId root) {
    std::string statements;
    for (NodeId id : order_) print_statement(id, statements);
    const Piece piece = reference(root);
    TensorText result;
    result.text = whole(piece);
    // Sharing needs statements; a lambda keeps the whole an expression.
    if (!statements.empty())
      result.text = "[&] { " + statements + "return " + result.text + "; }()";
    result.operators.assign(operators_.begin(), operators_.end());
    return result;
  }

  std::optional<std::string> number(NodeId root) {
    const Piece piece = reference(root);
    if (piece.is_tensor() || !operators_.empty()) return std::nullopt;
    return as_double(piece);
  }

 private:
  void print_statement(NodeId id, std::string& statements) {
    const Node& node = g_[id];
    if (node.loop) {
      print_loop(id, statements);
    } else if (node.kind == NodeKind::kCall && node.domain != Domain::kScalar && uses_[id] >= 2) {
      const std::string name = names_.next_temporary();
      statements += "const " + options_.prefix + "Tensor " + name + " = " + call(id).text + "; ";
      pieces_[id] = {name};
    }
  }

  /// A loop of operators, which end it when no element takes another step.
  void print_loop(NodeId id, std::string& statements) {
    if (pieces_.contains(id)) return;
    const Loop& loop = *g_[id].loop;
    const std::size_t count = loop.carried.size();
    const std::string tensor = options_.prefix + "Tensor ";
    TensorTextOptions options;
    options.prefix = options_.prefix;
    std::vector<std::string> carried;
    for (std::size_t i = 0; i < g_[id].arguments.size(); ++i) {
      const Piece value = reference(g_[id].arguments[i]);
      std::string text = value.is_tensor() ? value.text : as_double(value);
      const std::string name = names_.next_temporary();
      const Node& variable = loop.body[i < count ? loop.carried[i] : loop.captured[i - count]];
      const bool whole_tensor = variable.kind == NodeKind::kTensor;
      if (whole_tensor) text = whole(value);
      if (i < count) carried.push_back(name);
      statements += std::string(i < count ? "" : "const ") + (whole_tensor ? tensor : "double ") +
                    name + " = " + text + "; ";
      options.rename[variable.name] = name;
      options.plain_scalars.insert(variable.name);
    }
    for (const NodeId other : order_) {
      if (g_[other].same_loop(g_[id])) pieces_[other] = {carried[g_[other].index]};
    }
    const std::string step = names_.next_temporary();
    statements += "for (int " + step + " = 0; " + step + " < " + std::to_string(loop.most) +
                  "; ++" + step + ") { ";
    TensorPrinter body(loop.body, loop.condition, options);
    body.order_ = topological_order(loop.body, loop.roots());
    std::fill(body.uses_.begin(), body.uses_.end(), 2);
    body.names_.take_from(names_);
    body.like_ = carried[0];
    const bool always = loop.body[loop.condition].is_number(1);
    std::string active;
    const std::size_t tested = topological_order(loop.body, {loop.condition}).size();
    for (std::size_t i = 0; i <= body.order_.size(); ++i) {
      if (i == tested && !always) {
        active = body.names_.next_temporary();
        const Piece condition = body.reference(loop.condition);
        body.operators_.insert("any");
        statements += "const " + tensor + active + " = " + body.whole(condition) + "; if (!" +
                      options_.prefix + "any(" + active + ").item<bool>()) break; ";
      }
      if (i < body.order_.size()) body.print_statement(body.order_[i], statements);
    }
    std::string assignments;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string next = body.names_.next_temporary();
      statements +=
          "const " + tensor + next + " = " + body.whole(body.reference(loop.next[i])) + "; ";
      assignments += carried[i] + " = " +
                     (always ? next : body.op("where", {active, next, carried[i]})) + "; ";
    }
    statements += assignments + "} ";
    names_.take_from(body.names_);
    operators_.insert(body.operators_.begin(), body.operators_.end());
  }

  std::string whole(const Piece& piece) {
    if (piece.is_tensor()) return piece.text;
    if (like_.empty()) return op("scalar_tensor", {piece.text});
    return op("full_like", {like_, piece.text});
  }

  std::string op(const std::string& base, const std::vector<std::string>& arguments) {
    operators_.insert(base);
    std::string text = options_.prefix + base + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
    return text + ")";
  }

  Piece reference(NodeId id) {
    if (const auto it = pieces_.find(id); it != pieces_.end()) return it->second;
    const Node& node = g_[id];
    if (node.kind == NodeKind::kConstant) return {constant(node), PieceKind::kNumber};
    if (node.kind == NodeKind::kScalar)
      return {names_.of(node.name), options_.plain_scalars.count(node.name) != 0
                                        ? PieceKind::kNumber
                                        : PieceKind::kScalarObject};
    if (node.is_variable()) return {names_.of(node.name)};
    return node.domain == Domain::kScalar ? scalar_call(id) : call(id);
  }

  static std::string constant(const Node& node) {
    if (node.value_kind == ValueKind::kMask) return node.number != 0 ? "true" : "false";
    if (node.integral && std::fabs(node.number) < 2147483648.0)
      return std::to_string(static_cast<int>(node.number));
    return double_literal(node.number);
  }

  static std::string as_double(const Piece& piece) {
    return piece.kind == PieceKind::kScalarObject ? piece.text + ".to<double>()" : piece.text;
  }

  /// A 0-dim tensor, for operators without an overload for scalars.
  std::string as_tensor(const Piece& piece) {
    if (piece.is_tensor()) return piece.text;
    return op("scalar_tensor", {piece.text, like_ + ".options()"});
  }

  Piece scalar_call(NodeId id) {
    const Node& node = g_[id];
    const Op o = node.op;
    std::vector<Piece> a;
    for (NodeId argument : node.arguments) a.push_back(reference(argument));
    if (std::any_of(a.begin(), a.end(), [](const Piece& p) { return p.is_tensor(); }))
      return tensor_call(o, a);
    if (o == Op::kConj && a[0].kind == PieceKind::kScalarObject)
      return {a[0].text + ".conj()", PieceKind::kScalarObject};
    if (const Intrinsic& row = intrinsic(o); !row.number.empty()) {
      std::vector<std::string> x;
      for (const Piece& piece : a) x.push_back(as_double(piece));
      return {number_text(row, x), PieceKind::kNumber};
    }
    a[0] = {as_tensor(a[0])};
    return tensor_call(o, a);
  }

  /// `p`, `x` and `c` of p * x + c, with one of the factors as `x`.
  struct Step {
    NodeId p, x;
    double c;
  };
  std::optional<Step> step(NodeId id, bool swapped) const {
    const Node& node = g_[id];
    const bool fma = node.is_call(Op::kFma), minus = node.is_call(Op::kSub);
    if (!fma && !minus && !node.is_call(Op::kAdd)) return std::nullopt;
    NodeId constant = node.arguments.back();
    const std::vector<NodeId>* factors = fma ? &node.arguments : nullptr;
    for (int k = 0; k < 2 && !fma; ++k) {
      if (!g_[node.arguments[k]].is_call(Op::kMul) || (k == 1 && minus)) continue;
      factors = &g_[node.arguments[k]].arguments;
      if (uses_[node.arguments[k]] > 1) return std::nullopt;
      constant = node.arguments[1 - k];
    }
    if (!factors || g_[constant].kind != NodeKind::kConstant) return std::nullopt;
    return Step{(*factors)[swapped], (*factors)[!swapped],
                minus ? -g_[constant].number : g_[constant].number};
  }

  /// The long sum ((c0 * x + c1) * x + c2) ... as one call, where it is one.
  std::optional<std::string> polynomial(NodeId id) {
    if (options_.prefix != TensorTextOptions().prefix) return std::nullopt;
    for (const bool swapped : {false, true}) {
      std::vector<double> numbers;
      std::optional<NodeId> x;
      NodeId rest = id;
      while (numbers.empty() || uses_[rest] == 1) {
        std::optional<Step> next = step(rest, swapped);
        if (next && x && next->x != *x) next = step(rest, !swapped);
        if (!next || (x && next->x != *x)) break;
        numbers.push_back(next->c);
        x = next->x;
        rest = next->p;
      }
      const Node& last = g_[rest];
      if (numbers.size() < kLongPolynomial || last.kind != NodeKind::kConstant || last.integral ||
          g_[*x].domain == Domain::kScalar)
        continue;
      operators_.insert({"add", "mul"});
      std::string text = options_.prefix + "native::polynomial(" + reference(*x).text + ", {" +
                         double_literal(last.number);
      for (std::size_t k = numbers.size(); k-- > 0;) text += ", " + double_literal(numbers[k]);
      return text + "})";
    }
    return std::nullopt;
  }

  Piece call(NodeId id) {
    if (const auto text = polynomial(id)) return {*text};
    std::vector<Piece> arguments;
    for (NodeId argument : g_[id].arguments) arguments.push_back(reference(argument));
    return tensor_call(g_[id].op, arguments);
  }

  Piece tensor_call(Op o, const std::vector<Piece>& a) {
    const std::string base(intrinsic(o).tensor_op);
    switch (o) {
    case Op::kWhere: return {where(a[0], a[1], a[2])};
    case Op::kFma: return tensor_call(Op::kAdd, {tensor_or_number_product(a[0], a[1]), a[2]});
    case Op::kToMask: return {op(base, {a[0].text, "0"})};
    case Op::kFromMask: return {cast_mask(a[0])};
    case Op::kRowSum:
    case Op::kRowProd:
    case Op::kRowMax:
    case Op::kRowMin:
    case Op::kRowArgmax:
    case Op::kRowArgmin:
    case Op::kRowCount: return {op(base, {a[0].text, "-1", "true"})};
    case Op::kRowFmax:
    case Op::kRowFmin:
      operators_.insert({"all", "amax", "amin", "isnan", "where"});
      return {options_.prefix + "native::" + std::string(intrinsic(o).name) + "_of_rows(" +
              a[0].text + ")"};
    case Op::kRowOthers: return {options_.prefix + "native::product_of_others(" + a[0].text + ")"};
    case Op::kPick:
      // The position of a column's extreme is one for all rows.
      return {op(base, {op("expand", {a[0].text, "{rows_, length_}"}), "-1",
                        op("expand", {a[1].text, "{rows_, 1}"})})};
    case Op::kDetach: return {a[0].text + ".detach()"};
    case Op::kRowIndex:
      return {op(base,
                 {"length_", "tenon::TensorOptions(tenon::kLong).device(" + like_ + ".device())"})};
    case Op::kTruncDivide: return {op(base, {as_tensor(a[0]), a[1].text, "\"trunc\""})};
    default: break;
    }
    if (a.size() == 1) return {op(base, {a[0].text})};
    if (a[0].is_tensor() && a[1].is_tensor()) return {op(base, {a[0].text, a[1].text})};
    if (!a[0].is_tensor()) return number_first(o, a[0], a[1]);
    // clamp propagates NaN as maximum does. Its derivative on a tie is 1 where maximum's is 1/2;
    // ties with a constant only occur inside a derivative, second order.
    const std::string_view name = intrinsic(o).with_number;
    return {name.empty() ? op(base, {a[0].text, as_tensor(a[1])})
                         : op(std::string(name), {a[0].text, a[1].text})};
  }

  Piece number_first(Op o, const Piece& number, const Piece& tensor) {
    const Intrinsic& row = intrinsic(o);
    if (o == Op::kDiv) {
      const std::string inverse = op("reciprocal", {tensor.text});
      return {number.text == "1" ? inverse : op("mul", {inverse, number.text})};
    }
    if (!row.number_first.empty())
      return {op(std::string(row.number_first), {number.text, tensor.text})};
    if (!row.swapped.empty()) return {op(std::string(row.swapped), {tensor.text, number.text})};
    return {op(std::string(row.tensor_op), {as_tensor(number), tensor.text})};
  }

  Piece tensor_or_number_product(const Piece& a, const Piece& b) {
    if (a.is_tensor() || b.is_tensor()) return tensor_call(Op::kMul, {a, b});
    return {"(" + as_double(a) + " * " + as_double(b) + ")", PieceKind::kNumber};
  }

  std::string cast_mask(const Piece& mask) {
    operators_.insert("to");
    return mask.text + ".to(" + like_ + ".scalar_type())";
  }

  std::string where(const Piece& condition, const Piece& a, const Piece& b) {
    if (!condition.is_tensor())
      return "(" + as_double(condition) + " ? " + whole(a) + " : " + whole(b) + ")";
    if (a.is_tensor() || b.is_tensor()) return op("where", {condition.text, a.text, b.text});
    // where(condition, Scalar, Scalar) would have a dtype of its own.
    if (a.text == "1" && b.text == "0") return cast_mask(condition);
    return op("where", {condition.text, as_tensor(a), b.text});
  }

  const Graph& g_;
  const TensorTextOptions& options_;
  std::vector<NodeId> order_;
  std::vector<std::uint32_t> uses_;
  std::map<NodeId, Piece> pieces_;
  std::set<std::string> operators_;
  PrintedNames names_;
  std::string like_;
  bool like_is_grad_ = false;
};

}  // namespace

TensorText print_tensor_ops(const Graph& graph, NodeId node, const TensorTextOptions& options) {
  return TensorPrinter(graph, node, options).print(node);
}

std::optional<std::string> print_number(const Graph& graph, NodeId node,
                                        const TensorTextOptions& options) {
  return TensorPrinter(graph, node, options).number(node);
}

}  // namespace tenon::codegen::expr
