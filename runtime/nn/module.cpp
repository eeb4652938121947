#include "runtime/nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <typeinfo>
#include <unordered_set>

#include "aten/core/thread_state.h"

namespace tenon::nn {
namespace {

/// "tenon::nn::LinearImpl" as "Linear": what the user wrote.
std::string class_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type.name();
  std::free(demangled);
  if (const size_t colons = name.rfind("::"); colons != std::string::npos)
    name.erase(0, colons + 2);
  if (name.size() > 4 && name.ends_with("Impl")) name.erase(name.size() - 4);
  return name;
}

void check_name(const char* what, const std::string& name) {
  TENON_CHECK_VALUE(!name.empty(), "[", what, "] the name must not be empty");
  TENON_CHECK_VALUE(name.find('.') == std::string::npos, "[", what,
                    "] the name must not contain a dot, got '", name, "'");
}

/// Appends "; what: a, b" for a list that is not empty.
void append_list(std::string& text, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text += text.empty() ? "" : "; ";
  text += std::string(what) + ": ";
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
}

}  // namespace

const std::string& Module::name() const {
  if (!name_) name_ = class_name(typeid(*this));
  return *name_;
}

void Module::visit(const std::string& prefix,
                   const std::function<void(const std::string&, const Module&)>& f) const {
  f(prefix, *this);
  for (const auto& child : children_) {
    if (child.value()) child.value()->visit(prefix + child.key() + ".", f);
  }
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> all("Parameter");
  std::unordered_set<const void*> seen;
  const auto collect = [&](const std::string& prefix, const Module& module) {
    for (const auto& p : module.parameters_) {
      if (p->defined() && seen.insert(p->unsafe_impl()).second)
        all.insert(prefix + p.key(), p.value());
    }
  };
  recurse ? visit("", collect) : collect("", *this);
  return all;
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> all("Buffer");
  std::unordered_set<const void*> seen;
  const auto collect = [&](const std::string& prefix, const Module& module) {
    for (const auto& b : module.buffers_) {
      if (b->defined() && seen.insert(b->unsafe_impl()).second)
        all.insert(prefix + b.key(), b.value());
    }
  };
  recurse ? visit("", collect) : collect("", *this);
  return all;
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

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> all("Submodule");
  const std::string start = prefix.empty() ? "" : prefix + ".";
  visit(start, [&](const std::string& path, const Module& module) {
    const std::string key = path.empty() ? "" : path.substr(0, path.size() - 1);
    if (&module == this && !include_self) return;
    auto self = const_cast<Module&>(module).weak_from_this().lock();
    TENON_CHECK(self, "[modules] ", module.name(),
                " is not owned by a std::shared_ptr or a holder; ask for the modules without the "
                "module itself");
    all.insert(key, std::move(self));
  });
  return all;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules({}, include_self).values();
}

void Module::apply(const std::function<void(Module&)>& f) {
  for (auto& child : children_) {
    if (child.value()) child.value()->apply(f);
  }
  f(*this);
}

void Module::train(bool on) {
  training_ = on;
  for (auto& child : children_) {
    if (child.value()) child.value()->train(on);
  }
}

void Module::zero_grad(bool set_to_none) {
  for (Tensor& p : parameters()) {
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

void Module::move(std::optional<Device> device, std::optional<ScalarType> dtype) {
  NoGradGuard no_grad;
  const auto moved = [&](const Tensor& t) {
    return t.to(device.value_or(t.device()),
                t.is_floating_point() ? dtype.value_or(t.dtype()) : t.dtype());
  };
  for (Tensor& p : parameters()) {
    p.set_data(moved(p));
    if (Tensor& grad = p.mutable_grad(); grad.defined()) grad = moved(grad);
  }
  for (Tensor& b : buffers()) b.set_data(moved(b));
}

void Module::to(Device device, ScalarType dtype) { move(device, dtype); }
void Module::to(ScalarType dtype) { move(std::nullopt, dtype); }
void Module::to(Device device) { move(device, std::nullopt); }

StateDict Module::state_dict() const {
  StateDict state("Tensor");
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto* tensors : {&module.parameters_, &module.buffers_}) {
      for (const auto& t : *tensors) {
        if (t->defined()) state.insert(prefix + t.key(), t->detach());
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
  check_name("register_parameter", name);
  TENON_CHECK(!buffers_.contains(name), "[register_parameter] '", name, "' is already a buffer of ",
              this->name());
  if (tensor.defined()) tensor.requires_grad_(requires_grad);
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("register_buffer", name);
  TENON_CHECK(!parameters_.contains(name), "[register_buffer] '", name,
              "' is already a parameter of ", this->name());
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("register_module", name);
  children_.insert(std::move(name), std::move(module));
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
