#pragma once

#include <string>

#include "tests/ops/call.h"
#include "tests/ops/forms.h"
#include "tests/ops/golden.h"

namespace tenon::ops_test {

/// A sample with its operator and what it must give. Each check reports what differs with
/// FAIL_CHECK, naming the row, the operator and the element.
struct Case {
  const Sample& sample;
  const Forms& forms;
  const Expected& expected;

  bool wants(const std::string& check) const { return sample.row->wants(check); }
  /// Units in the last place that a result may be off: the row's `ulps`, else by dtype.
  double ulps(ScalarType dtype) const;
  Call call() const { return Call(sample, forms.schema); }
  /// "" or what is wrong with the results' values; strides and memory are not looked at. `slack`
  /// multiplies the tolerance.
  std::string compare(const Stack& results, double slack = 1) const;
  void fail(const std::string& check, const std::string& text) const;
};

/// Where PyTorch raises, an Error whose text contains the row's `error`.
void check_error(const Case& c);
/// Results, strides and aliasing against PyTorch's.
void check_results(const Case& c);
/// The same results from arguments that lie otherwise in memory.
void check_noncontiguous(const Case& c);
/// The same sizes, strides and dtypes from meta tensors.
void check_meta(const Case& c);
/// out=: into an empty tensor, one of wrong sizes, one that is not contiguous, and an argument.
void check_out(const Case& c);
/// The in-place form: the same result in self's dtype, or an error that leaves self alone.
void check_inplace(const Case& c);
/// What a call does to memory against the schema's annotations, for every form.
void check_aliases(const Case& c);
/// Empty, 0-dim and one-element tensors of the sample's kinds: an error, or what meta tensors give.
void check_edges(const Case& c);
/// Nodes that get undefined gradients, all of them or all but one.
void check_undefined_gradients(const Case& c);
/// Gradients against PyTorch's.
void check_gradients(const Case& c);
/// The same for a call whose tensors may be elsewhere; `slack` multiplies the tolerance.
void check_gradients_of(const Case& c, const Call& call, double slack);
/// The same of the in-place form.
void check_inplace_gradients(const Case& c);
/// Tangents of forward mode against the gradients of reverse mode: <w, J v> = <J' w, v>, for each
/// differentiable argument alone and for all, of every form; and as functions of v in reverse. In
/// double precision second derivatives in both orders.
void check_forward(const Case& c);
/// Results and gradients on the GPU, where there is one and the operator has a kernel for it.
void check_cuda(const Case& c);
/// In double precision: gradients, and gradients of gradients, against finite differences.
void check_finite_differences(const Case& c);

}  // namespace tenon::ops_test
