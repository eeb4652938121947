#include "runtime/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "aten/core/thread_state.h"
#include "runtime/nn/archive.h"
#include "runtime/optim/strong_wolfe.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/dot.h"
#include "tenon/ops/item.h"
#include "tenon/ops/max.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/reciprocal.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/zeros.h"

namespace tenon::optim {
namespace {

Tensor real(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

double largest(const Tensor& t) { return t.abs().max().item<double>(); }

double product(const Tensor& a, const Tensor& b) { return a.dot(b).item<double>(); }

double loss_of(const Optimizer::LossClosure& closure, Tensor* loss = nullptr) {
  AutoGradMode enabled(true);
  const Tensor value = closure();
  if (loss) *loss = value;
  return value.item<double>();
}

}  // namespace

Fields LBFGSOptions::fields() {
  return {{"lr", &lr_},
          {"max_iter", &max_iter_},
          {"max_eval", &max_eval_},
          {"tolerance_grad", &tolerance_grad_},
          {"tolerance_change", &tolerance_change_},
          {"history_size", &history_size_},
          {"line_search_fn", &line_search_fn_}};
}

Fields LBFGSParamState::fields() {
  return {{"func_evals", &func_evals_},
          {"n_iter", &n_iter_},
          {"al", &al_},
          {"d", &d_},
          {"t", &t_},
          {"old_dirs", &old_dirs_},
          {"old_stps", &old_stps_},
          {"ro", &ro_},
          {"H_diag", &H_diag_},
          {"prev_flat_grad", &prev_flat_grad_},
          {"prev_loss", &prev_loss_}};
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults)
    : Optimizer(std::move(groups), std::make_unique<LBFGSOptions>(defaults)) {
  TENON_CHECK_VALUE(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
  TENON_CHECK_VALUE(param_groups().size() == 1,
                    "LBFGS doesn't support per-parameter options (parameter groups)");
  for (OptimizerOptions* one : {&this->defaults(), &param_groups()[0].options()}) {
    auto& options = static_cast<LBFGSOptions&>(*one);
    if (!options.max_eval()) options.max_eval(options.max_iter() * 5 / 4);
  }
}

LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : LBFGS(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> LBFGS::new_state() const {
  return std::make_unique<LBFGSParamState>();
}

/// It has the fields of the one state by their names, without those that count.
void LBFGS::load_old(serialize::InputArchive& archive) {
  const Tensor& first = param_groups()[0].params().at(0);
  LBFGSParamState state;
  for (const Field& field : state.fields()) {
    const std::string name(field.name);
    IValue value;
    if (auto* const* number = std::get_if<double*>(&field.value)) {
      if (archive.try_read(name, value)) **number = value.toTensor().item<double>();
    } else if (auto* const* tensor = std::get_if<Tensor*>(&field.value)) {
      archive.try_read(name, **tensor);
    } else if (auto* const* list = std::get_if<std::deque<Tensor>*>(&field.value)) {
      const bool is_there = archive.try_read(name + "/size", value);
      for (int64_t i = 0; is_there && i < value.toTensor().item<int64_t>(); ++i)
        archive.read(name + "/" + std::to_string(i), (*list)->emplace_back());
    }
  }
  warn_of_old_archive();
  this->state()[first.unsafe_impl()] = std::make_unique<LBFGSParamState>(std::move(state));
}

Tensor LBFGS::flat_grad() const {
  std::vector<Tensor> parts;
  for (const Tensor& p : param_groups()[0].params()) {
    const Tensor grad = p.grad();
    const Tensor like = real(p);
    parts.push_back(grad.defined() ? real(grad).reshape({-1})
                                   : zeros({like.numel()}, like.options()));
  }
  return cat(parts);
}

/// p += t d.
void LBFGS::move(double t, const Tensor& d) {
  int64_t from = 0;
  for (const Tensor& p : param_groups()[0].params()) {
    Tensor target = real(p);
    const int64_t to = from + target.numel();
    target.add_(d.slice(0, from, to).view(target.sizes()), t);
    from = to;
  }
}

void LBFGS::set_params(const std::vector<Tensor>& values) {
  std::vector<Tensor>& params = param_groups()[0].params();
  for (size_t i = 0; i < params.size(); ++i) params[i].copy_(values[i]);
}

Tensor LBFGS::step(LossClosure closure) {
  TENON_CHECK_VALUE(closure, "LBFGS requires a closure function");
  return with_hooks([&] { return minimize(closure); });
}

/// Minus the approximate inverse Hessian times `grad`, by the two loops over the history.
void LBFGS::set_direction(LBFGSParamState& state, const Tensor& grad, int64_t history_size) {
  std::deque<Tensor>&dirs = state.old_dirs(), &steps = state.old_stps(), &ro = state.ro();
  if (state.n_iter() == 1) {
    state.d(grad.neg());
    state.H_diag(ones({}, grad.options()));
    dirs.clear(), steps.clear(), ro.clear();
    return;
  }
  const Tensor y = grad.sub(state.prev_flat_grad()), s = state.d().mul(state.t());
  const Tensor ys = y.dot(s);
  if (ys.item<double>() > 1e-10) {
    if (static_cast<int64_t>(dirs.size()) == history_size)
      dirs.pop_front(), steps.pop_front(), ro.pop_front();
    dirs.push_back(y);
    steps.push_back(s);
    ro.push_back(ys.reciprocal());
    state.H_diag(ys.div(y.dot(y)));
  }
  state.al(std::vector<Tensor>(dirs.size()));
  std::vector<Tensor>& al = *state.al();
  Tensor q = grad.neg();
  for (size_t i = dirs.size(); i-- > 0;) {
    al[i] = steps[i].dot(q).mul(ro[i]);
    q.add_(dirs[i], -al[i].item<double>());
  }
  q = q.mul(state.H_diag());
  for (size_t i = 0; i < dirs.size(); ++i)
    q.add_(steps[i], al[i].sub(dirs[i].dot(q).mul(ro[i])).item<double>());
  state.d(q);
}

Tensor LBFGS::minimize(const LossClosure& closure) {
  NoGradGuard no_grad;
  const std::vector<Tensor>& params = param_groups()[0].params();
  const auto& options = static_cast<const LBFGSOptions&>(param_groups()[0].options());
  TENON_CHECK_VALUE(!options.line_search_fn() || *options.line_search_fn() == "strong_wolfe",
                    "only 'strong_wolfe' is supported");
  Tensor first_loss;
  double loss = loss_of(closure, &first_loss);
  if (params.empty()) return first_loss;
  std::unique_ptr<OptimizerParamState>& kept = this->state()[params[0].unsafe_impl()];
  if (!kept) kept = new_state();
  auto& state = static_cast<LBFGSParamState&>(*kept);
  const int64_t max_eval = options.max_eval().value_or(options.max_iter() * 5 / 4);
  int64_t evaluations = 1;
  state.func_evals(state.func_evals() + 1);
  Tensor grad = flat_grad();
  bool optimal = largest(grad) <= options.tolerance_grad();
  if (optimal) return first_loss;

  for (int64_t i = 1; i <= options.max_iter(); ++i) {
    state.n_iter(state.n_iter() + 1);
    set_direction(state, grad, options.history_size());
    const Tensor& d = state.d();
    state.prev_flat_grad(grad.clone());
    state.prev_loss(loss);
    state.t(state.n_iter() == 1
                ? std::min(1.0, 1.0 / grad.abs().sum().item<double>()) * options.lr()
                : options.lr());
    const double slope = product(grad, d);
    if (slope > -options.tolerance_change()) break;

    int64_t calls = 0;
    if (options.line_search_fn()) {
      std::vector<Tensor> before;
      for (const Tensor& p : params) before.push_back(p.clone());
      const auto evaluate = [&](double t) {
        move(t, d);
        LinePoint point{t, loss_of(closure), flat_grad(), 0};
        point.slope = product(point.grad, d);
        set_params(before);
        return point;
      };
      const LineSearchResult found = strong_wolfe(evaluate, {0, loss, grad, slope}, state.t(),
                                                  largest(d), max_eval - evaluations);
      loss = found.point.loss;
      grad = found.point.grad;
      state.t(found.point.t);
      calls = found.evaluations;
      move(state.t(), d);
      optimal = largest(grad) <= options.tolerance_grad();
    } else {
      move(state.t(), d);
      // After the last iteration the loss would not be used.
      if (i != options.max_iter()) {
        loss = loss_of(closure);
        grad = flat_grad();
        optimal = largest(grad) <= options.tolerance_grad();
        calls = 1;
      }
    }
    evaluations += calls;
    state.func_evals(state.func_evals() + calls);
    if (evaluations >= max_eval || optimal) break;
    if (largest(d.mul(state.t())) <= options.tolerance_change()) break;
    if (std::abs(loss - state.prev_loss()) < options.tolerance_change()) break;
  }
  return first_loss;
}

}  // namespace tenon::optim
