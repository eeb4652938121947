#include "tenon/native/einsum.h"

#include <algorithm>
#include <array>
#include <string>

namespace tenon {
namespace {

constexpr int kLetters = 52;
constexpr int kEllipsis = kLetters;

int label_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  TENON_CHECK(c >= 'a' && c <= 'z',
              "[einsum] invalid subscript given, subscripts must be in [a-zA-Z], got '", c, "'");
  return c - 'a' + 26;
}

/// The labels of one term, such as "ij" or "...ij". place: of which term, for errors.
std::vector<int> labels_of(std::string_view term, const std::string& place) {
  std::vector<int> labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term[i] != '.') {
      labels.push_back(label_of(term[i]));
      continue;
    }
    TENON_CHECK(term.substr(i, 3) == "...", "[einsum] found '.' for ", place,
                " that is not part of any ellipsis in \"", term, "\"");
    TENON_CHECK(std::find(labels.begin(), labels.end(), kEllipsis) == labels.end(),
                "[einsum] found more than one ellipsis in \"", term, "\"");
    labels.push_back(kEllipsis);
    i += 2;
  }
  return labels;
}

/// Where the dimensions of a label stand among all of the sum's: first the result's.
struct Places {
  std::array<int64_t, kLetters + 1> place;
  int64_t covered = 0;  ///< dimensions that "..." stands for
  int64_t kept = 0, total = 0;

  Places() { place.fill(-1); }
  void add(int label) {
    place[label] = total;
    total += label == kEllipsis ? covered : 1;
  }
};

/// The operand with a dimension for each of the sum's, those that it has not of one element.
/// Labels that stand twice are its diagonal.
Tensor spread(Tensor operand, const std::vector<int>& labels, const Places& layout) {
  std::vector<int64_t> places;
  const auto covered = operand.dim() - static_cast<int64_t>(labels.size()) +
                       std::count(labels.begin(), labels.end(), kEllipsis);
  for (const int label : labels) {
    if (label == kEllipsis) {  // which has, as in broadcasting, the last of those it covers
      for (int64_t i = layout.covered - covered; i < layout.covered; ++i)
        places.push_back(layout.place[label] + i);
      continue;
    }
    const int64_t place = layout.place[label];
    const auto earlier = std::find(places.begin(), places.end(), place);
    if (earlier == places.end()) {
      places.push_back(place);
      continue;
    }
    const int64_t a = earlier - places.begin(), b = static_cast<int64_t>(places.size());
    TENON_CHECK(operand.size(a) == operand.size(b),
                "[einsum] subscript is repeated for an operand but the sizes don't match, ",
                operand.size(b), " != ", operand.size(a));
    operand = operand.diagonal(0, a, b).movedim(-1, a);
  }
  std::vector<int64_t> order(places.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  operand = operand.permute(order);
  for (int64_t d = 0; d < layout.total; ++d) {
    if (std::find(places.begin(), places.end(), d) == places.end()) operand = operand.unsqueeze(d);
  }
  return operand;
}

Tensor summed(const Tensor& tensor, IntArrayRef dims) {
  return dims.empty() ? tensor : tensor.sum(dims, true, tensor.scalar_type());
}

/// The sum over `dims` of the product of two tensors of as many dimensions; dimensions stay.
Tensor contracted(Tensor a, Tensor b, IntArrayRef dims) {
  DimVector both, of_a, of_b, inside, single, alone_a, alone_b;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1;
    const bool ends = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (ends && in_a != in_b) (in_a ? alone_a : alone_b).push_back(d);
    if (in_a && in_b) {
      (ends ? inside : both).push_back(d);
    } else if (!ends && in_a) {
      of_a.push_back(d);
    } else if (!ends && in_b) {
      of_b.push_back(d);
    } else {
      single.push_back(d);
    }
  }
  // A sum of integers is int64, as sums are, where no product of matrices takes it.
  if (inside.empty()) {
    const auto total = [](const Tensor& t, const DimVector& over) {
      return over.empty() ? t : t.sum(IntArrayRef(over), true);
    };
    return total(a, alone_a) * total(b, alone_b);
  }
  a = summed(a, alone_a);
  b = summed(b, alone_b);
  const auto sizes = [](const Tensor& tensor, IntArrayRef chosen, DimVector& into) {
    int64_t count = 1;
    for (const int64_t d : chosen) {
      into.push_back(tensor.size(d));
      count *= tensor.size(d);
    }
    return count;
  };
  DimVector out, unused, order_a(both), order_b(both), order(both);
  const int64_t batch = sizes(a, both, out), m = sizes(a, of_a, out), n = sizes(b, of_b, out),
                k = sizes(a, inside, unused);
  const DimVector ones(inside.size() + single.size(), 1);
  out.append(ones.begin(), ones.end());
  for (const DimVector* dims_a : {&of_a, &inside, &of_b, &single})
    order_a.append(dims_a->begin(), dims_a->end());
  for (const DimVector* dims_b : {&inside, &of_b, &of_a, &single})
    order_b.append(dims_b->begin(), dims_b->end());
  for (const DimVector* dims_out : {&of_a, &of_b, &inside, &single})
    order.append(dims_out->begin(), dims_out->end());
  DimVector back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return a.permute(order_a)
      .reshape({batch, m, k})
      .bmm(b.permute(order_b).reshape({batch, k, n}))
      .reshape(out)
      .permute(back);
}

}  // namespace

/// Einstein's sum: "ij,jk->ik" names each operand's dimensions, and the result's; a name that the
/// result lacks is summed over. "..." stands for dimensions that are broadcast. Without "->" the
/// result has "..." and then, in the alphabet's order, each name that stands once. Operands are
/// multiplied from left to right, in pairs by bmm, whatever order `path` proposes: it changes no
/// value.
Tensor native::einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path) {
  TENON_CHECK(!tensors.empty(), "[einsum] must provide at least one operand");
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  std::vector<std::vector<int>> labels;
  for (bool more = true; more;) {
    const size_t comma = left.find(',');
    labels.push_back(labels_of(left.substr(0, comma), detail::concat("operand ", labels.size())));
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
  }
  TENON_CHECK(labels.size() == tensors.size(), "[einsum] the equation \"", equation, "\" has ",
              labels.size(), " operands, but ", tensors.size(), " were provided");
  const size_t steps = tensors.size() == 1 ? 2 : 2 * (tensors.size() - 1);
  TENON_CHECK(!path || path->size() == steps,
              "[einsum] expected contraction path given in path parameter to have size ", steps,
              " but got ", path ? path->size() : 0);
  Places layout;
  std::array<int, kLetters + 1> uses{};
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool dots = std::count(labels[i].begin(), labels[i].end(), kEllipsis) > 0;
    const int64_t covered = tensors[i].dim() - static_cast<int64_t>(labels[i].size()) + dots;
    TENON_CHECK(dots ? covered >= 0 : covered == 0,
                "[einsum] the number of subscripts in the equation \"", equation, "\" (",
                labels[i].size() - dots, ") does not match the number of dimensions (",
                tensors[i].dim(), ") for operand ", i, dots ? "" : " and no ellipsis was given");
    layout.covered = std::max(layout.covered, covered);
    for (const int label : labels[i]) ++uses[label];
  }
  if (arrow == std::string_view::npos) {
    if (uses[kEllipsis]) layout.add(kEllipsis);
    for (int label = 0; label < kLetters; ++label) {
      if (uses[label] == 1) layout.add(label);
    }
  } else {
    for (const int label : labels_of(equation.substr(arrow + 2), "output")) {
      TENON_CHECK(layout.place[label] < 0, "[einsum] output subscript appears more than once in \"",
                  equation, "\"");
      TENON_CHECK(uses[label] > 0 || label == kEllipsis,
                  "[einsum] output subscript does not appear in the equation for any input "
                  "operand, got \"",
                  equation, "\"");
      layout.add(label);
    }
  }
  layout.kept = layout.total;
  for (int label = 0; label <= kEllipsis; ++label) {
    if (uses[label] && layout.place[label] < 0) layout.add(label);
  }
  std::vector<Tensor> operands;
  for (size_t i = 0; i < labels.size(); ++i) {
    operands.push_back(spread(tensors[i], labels[i], layout));
    for (int64_t d = 0; d < layout.total; ++d) {
      for (size_t j = 0; j < i; ++j) {
        const int64_t a = operands[j].size(d), b = operands[i].size(d);
        TENON_CHECK(
            a == b || a == 1 || b == 1,
            "[einsum] operands do not broadcast with remapped shapes [original->remapped]: ",
            tensors[j].sizes(), "->", operands[j].sizes(), " ", tensors[i].sizes(), "->",
            operands[i].sizes());
      }
    }
  }
  // A dimension is summed over as soon as no later operand has it.
  const auto ending = [&](size_t at) {
    DimVector dims;
    for (int64_t d = layout.kept; d < layout.total; ++d) {
      size_t last = 0;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].size(d) != 1) last = i;
      }
      if (last == at) dims.push_back(d);
    }
    return dims;
  };
  std::vector<DimVector> ends;
  for (size_t i = 0; i < operands.size(); ++i) ends.push_back(ending(i));
  Tensor result = operands[0];
  if (operands.size() > 1) {
    ends[1].append(ends[0].begin(), ends[0].end());
  } else if (!ends[0].empty()) {
    // Alone, integers are added up in int64, as `sum` does.
    result = result.sum(IntArrayRef(ends[0]), true);
  }
  for (size_t i = 1; i < operands.size(); ++i) result = contracted(result, operands[i], ends[i]);
  if (layout.kept == layout.total) return result;
  return result.reshape(result.sizes().slice(0, static_cast<size_t>(layout.kept)));
}

}  // namespace tenon
