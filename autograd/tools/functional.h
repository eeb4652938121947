#pragma once

#include "autograd/engine/hooks.h"

/// Derivatives of functions of tensors. Everywhere
///   create_graph   the results can be differentiated themselves, also with respect to the inputs
///   strict         an output or a derivative that does not depend on an input is an error, instead
///                  of zeros
///   strategy       of jvp, hvp and jacobian, and of the outer derivative of hessian: forward mode
///                  (docs/modes.md) has neither create_graph nor strict. A jacobian takes one call
///                  of the function for each element of the inputs then, and in reverse mode one
///                  backward pass for each element of the outputs; hvp and hessian are forward over
///                  reverse.
namespace tenon::autograd::functional {

using MultiFunction = std::function<variable_list(const variable_list& inputs)>;

enum class Strategy { Reverse, Forward };

struct Options {
  bool create_graph = false;
  bool strict = false;
  Strategy strategy = Strategy::Reverse;
};

/// What a function gives, and a product with its derivative.
struct Product {
  variable_list outputs;
  variable_list product;
};

/// v^T J, one tensor of each input's sizes; v has the outputs' sizes, and may be left out for one
/// output of one element.
TENON_API Product vjp(const MultiFunction& f, const variable_list& inputs,
                      const variable_list& v = {}, const Options& options = {});

/// J v, one tensor of each output's sizes; v has the inputs' sizes, and may be left out for one
/// input of one element. In reverse mode computed by differentiating v^T J, which is linear in v,
/// with respect to v: what the function consists of must have second derivatives.
TENON_API Product jvp(const MultiFunction& f, const variable_list& inputs,
                      const variable_list& v = {}, const Options& options = {});

/// result[i][j], of sizes [*outputs[i].sizes(), *inputs[j].sizes()]: all derivatives of output i
/// with respect to input j.
TENON_API std::vector<variable_list> jacobian(const MultiFunction& f, const variable_list& inputs,
                                              const Options& options = {});

/// result[i][j], of sizes [*inputs[i].sizes(), *inputs[j].sizes()]: all second derivatives of f,
/// which must give one tensor of one element.
TENON_API std::vector<variable_list> hessian(const MultiFunction& f, const variable_list& inputs,
                                             const Options& options = {});

/// v^T H, for f as in hessian(); v has the inputs' sizes.
TENON_API Product vhp(const MultiFunction& f, const variable_list& inputs,
                      const variable_list& v = {}, const Options& options = {});
/// H v. The same as vhp() where second derivatives are continuous, which is faster.
TENON_API Product hvp(const MultiFunction& f, const variable_list& inputs,
                      const variable_list& v = {}, const Options& options = {});

}  // namespace tenon::autograd::functional
