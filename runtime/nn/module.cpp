#include "runtime/nn/module.h"

#include <cxxabi.h>

#include <cstdlib>
#include <unordered_set>

#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"
#include "runtime/nn/archive.h"

namespace tenon::detail {

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type.name();
  std::free(demangled);
  return name;
}

}  // namespace tenon::detail

namespace tenon::nn {
namespace {

void check_name(const char* what, const std::string& name) {
  TENON_CHECK_VALUE(!name.empty(), what, " name must not be empty");
  TENON_CHECK_VALUE(name.find('.') == std::string::npos, what,
                    " name must not contain a dot (got '", name, "')");
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// Appends "; what: a, b" for a list that is not empty.
void append_list(std::string& text, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text += text.empty() ? "" : "; ";
  text += std::string(what) + ": ";
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
}

}  // namespace

const std::string& Module::name() const noexcept {
  if (!name_) {
    name_ = tenon::detail::type_name(typeid(*this));
    // Programs know the library's own modules by libtorch's names.
    if (name_->starts_with("tenon::")) name_->replace(0, 5, "torch");
  }
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  tenon::detail::raise<NotImplementedError>(
      "clone() has not been implemented for ", name(), ". Subclass torch::nn::Cloneable<", name(),
      "> instead of torch::nn::Module to inherit the ability to clone.");
}

void Module::forget_registered() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

void Module::copy_registered(const Module& from, const std::optional<Device>& device) {
  const auto check_count = [](size_t cloned, size_t own, const char* what, const char* function) {
    TENON_CHECK(cloned == own, "The cloned module does not have the same number of ", what,
                " as the original module after calling reset(). Are you sure you called ", function,
                "() inside reset() and not the constructor?");
  };
  const auto copy_tensors = [&](OrderedDict<std::string, Tensor>& to,
                                const OrderedDict<std::string, Tensor>& of) {
    for (const auto& tensor : of) {
      if (!tensor->defined()) continue;
      const bool moves = device && tensor->device() != *device;
      to[tensor.key()].set_data(moves ? tensor->to(*device) : tensor->clone());
    }
  };
  check_count(parameters_.size(), from.parameters_.size(), "parameters", "register_parameter");
  copy_tensors(parameters_, from.parameters_);
  check_count(buffers_.size(), from.buffers_.size(), "buffers", "register_buffer");
  copy_tensors(buffers_, from.buffers_);
  check_count(children_.size(), from.children_.size(), "child modules", "register_module");
  for (const auto& child : from.children_) {
    if (child.value()) children_[child.key()]->clone_(*child.value(), device);
  }
}

void Module::clone_(Module&, const std::optional<Device>&) {}

void Module::visit(const std::string& prefix, const ConstNamedModuleApplyFunction& f) const {
  f(prefix, *this);
  visit_parts(prefix, [&](const std::string& name, const std::shared_ptr<Module>& part) {
    f(name, *part);
  });
}

void Module::visit_parts(const std::string& prefix,
                         const NamedModulePointerApplyFunction& f) const {
  for (const auto& child : children_) {
    if (!child.value()) continue;
    const std::string name = joined(prefix, child.key());
    f(name, child.value());
    child.value()->visit_parts(name, f);
  }
}

OrderedDict<std::string, Tensor>
Module::named_tensors(OrderedDict<std::string, Tensor> Module::*tensors, bool recurse) const {
  OrderedDict<std::string, Tensor> all((this->*tensors).key_description());
  std::unordered_set<const void*> seen;
  const auto collect = [&](const std::string& prefix, const Module& module) {
    for (const auto& t : module.*tensors) {
      if (t->defined() && seen.insert(t->unsafe_impl()).second)
        all.insert(joined(prefix, t.key()), t.value());
    }
  };
  recurse ? visit("", collect) : collect("", *this);
  return all;
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return named_tensors(&Module::parameters_, recurse);
}
OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return named_tensors(&Module::buffers_, recurse);
}
std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  OrderedDict<std::string, std::shared_ptr<Module>> present("Submodule");
  for (const auto& child : children_) {
    if (child.value()) present.insert(child.key(), child.value());
  }
  return present;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return named_children().values(); }

std::shared_ptr<Module> Module::shared_self() const {
  auto self = const_cast<Module*>(this)->weak_from_this().lock();
  TENON_CHECK(self,
              "It looks like you attempted to retrieve your top-level module as a shared_ptr, but "
              "it is not stored in a shared_ptr. Use std::make_shared<",
              name(),
              "> instead of creating your module on the stack, or alternatively do not try to "
              "access your top-level module at all by passing /*include_self=*/false to modules() "
              "or named_modules()");
  return self;
}

OrderedDict<std::string, std::shared_ptr<Module>>
Module::named_modules(const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> all("Submodule");
  if (include_self) all.insert(name_prefix, shared_self());
  visit_parts(name_prefix, [&](const std::string& name, const std::shared_ptr<Module>& part) {
    all.insert(name, part);
  });
  return all;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules({}, include_self).values();
}

void Module::apply(const ModuleApplyFunction& f) {
  f(*this);
  visit_parts("", [&](const std::string&, const std::shared_ptr<Module>& part) { f(*part); });
}
void Module::apply(const ConstModuleApplyFunction& f) const {
  visit("", [&](const std::string&, const Module& module) { f(module); });
}
void Module::apply(const NamedModuleApplyFunction& f, const std::string& name_prefix) {
  f(name_prefix, *this);
  visit_parts(name_prefix, [&](const std::string& name, const std::shared_ptr<Module>& part) {
    f(name, *part);
  });
}
void Module::apply(const ConstNamedModuleApplyFunction& f, const std::string& name_prefix) const {
  visit(name_prefix, f);
}
void Module::apply(const ModulePointerApplyFunction& f) const {
  f(shared_self());
  visit_parts("", [&](const std::string&, const std::shared_ptr<Module>& part) { f(part); });
}
void Module::apply(const NamedModulePointerApplyFunction& f, const std::string& name_prefix) const {
  f(name_prefix, shared_self());
  visit_parts(name_prefix, f);
}

void Module::train(bool on) {
  training_ = on;
  for (auto& child : children_) {
    if (child.value()) child.value()->train(on);
  }
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) {
    if (child.value()) child.value()->zero_grad(set_to_none);
  }
  for (Tensor& p : parameters(false)) {
    Tensor& grad = p.mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      grad = grad.detach();
      grad.zero_();
    }
  }
}

void Module::move(std::optional<Device> device, std::optional<ScalarType> dtype,
                  bool non_blocking) {
  NoGradGuard no_grad;
  const auto moved = [&](const Tensor& t) {
    const bool converts = t.is_floating_point() || t.is_complex();
    return t.to(device.value_or(t.device()), converts ? dtype.value_or(t.dtype()) : t.dtype(),
                non_blocking);
  };
  for (Tensor& p : parameters(false)) {
    p.set_data(moved(p));
    if (Tensor& grad = p.mutable_grad(); grad.defined()) grad = moved(grad);
  }
  for (Tensor& b : buffers(false)) b.set_data(moved(b));
}

// Parts first, each by its own to(), which it may have overridden.
void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  for (const auto& part : children()) part->to(device, dtype, non_blocking);
  move(device, dtype, non_blocking);
}
void Module::to(ScalarType dtype, bool non_blocking) {
  for (const auto& part : children()) part->to(dtype, non_blocking);
  move(std::nullopt, dtype, non_blocking);
}
void Module::to(Device device, bool non_blocking) {
  for (const auto& part : children()) part->to(device, non_blocking);
  move(device, std::nullopt, non_blocking);
}

StateDict Module::state_dict() const {
  StateDict state("Tensor");
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto* tensors : {&module.parameters_, &module.buffers_}) {
      for (const auto& t : *tensors) {
        if (t->defined()) state.insert(joined(prefix, t.key()), t->detach());
      }
    }
  });
  return state;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  const StateDict own = state_dict();
  std::vector<std::string> missing, unexpected, mismatched;
  for (const auto& t : own) {
    const Tensor* given = state.find(t.key());
    if (!given) {
      missing.push_back(t.key());
    } else if (given->sizes() != t->sizes()) {
      mismatched.push_back(
          tenon::detail::concat(t.key(), " (expected ", t->sizes(), ", got ", given->sizes(), ")"));
    }
  }
  for (const auto& t : state) {
    if (!own.contains(t.key())) unexpected.push_back(t.key());
  }
  std::string problems;
  if (strict) {
    append_list(problems, "missing keys", missing);
    append_list(problems, "unexpected keys", unexpected);
  }
  append_list(problems, "size mismatch for", mismatched);
  TENON_CHECK(problems.empty(), "[load_state_dict] ", name(), ": ", problems);

  NoGradGuard no_grad;
  for (const auto& t : own) {
    // state_dict() gave tensors that share the module's memory, and its version counters with it.
    if (const Tensor* given = state.find(t.key())) Tensor(t.value()).copy_(*given);
  }
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  TENON_CHECK(!buffers_.contains(name), "[register_parameter] '", name, "' is already a buffer of ",
              this->name());
  if (tensor.defined()) {
    tensor.requires_grad_(requires_grad);
  } else if (requires_grad) {
    TENON_WARN("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` "
               "function parameter.");
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  TENON_CHECK(!parameters_.contains(name), "[register_buffer] '", name,
              "' is already a parameter of ", this->name());
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  children_.insert(std::move(name), std::move(module));
}

void Module::unregister_module(const std::string& name) {
  TENON_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto* tensors : {&parameters_, &buffers_}) {
    for (const auto& t : *tensors) {
      if (t->defined()) archive.write(t.key(), t->detach());
    }
  }
  for (const auto& child : children_) {
    if (!child.value() || !child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  for (const auto* tensors : {&parameters_, &buffers_}) {
    for (const auto& t : *tensors) {
      if (t->defined()) archive.copy_into(t.key(), t.value());
    }
  }
  for (const auto& child : children_) {
    if (!child.value() || !child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    archive.read(child.key(), nested);
    child.value()->load(nested);
  }
}

void Module::pretty_print(std::ostream& out) const { out << name(); }

void Module::print(std::ostream& out, const std::string& indent) const {
  pretty_print(out);
  if (children_.is_empty()) return;
  out << "(\n";
  for (const auto& child : children_) {
    out << indent << "  (" << child.key() << "): ";
    if (child.value()) {
      child.value()->print(out, indent + "  ");
    } else {
      out << "None";
    }
    out << '\n';
  }
  out << indent << ')';
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, "");
  return out;
}

}  // namespace tenon::nn
