#include "codegen/emit/ir.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "codegen/emit/autograd.h"
#include "codegen/emit/composition.h"
#include "codegen/emit/pointwise.h"
#include "codegen/emit/python.h"
#include "codegen/emit/rowwise.h"
#include "codegen/emit/update.h"
#include "codegen/model/cpp_types.h"
#include "codegen/select/select.h"

namespace tenon::codegen {
namespace {

/// Source files of Python's functions.
constexpr int kPythonShards = 8;

/// FNV-1a: the same on every machine, so that an operator's shard never moves.
uint32_t hash_name(const std::string& name) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : name) hash = (hash ^ c) * 16777619u;
  return hash;
}

std::string namespace_of(const Operator& op) {
  return op.schema.ns.empty() || op.schema.ns == "aten" ? "tenon" : op.schema.ns;
}

/// The form of operator `of` that the alias's form is another name of.
const VariantSchema& form_of(const Model& model, const Operator& of, const VariantSchema& form) {
  for (const VariantSchema& one : model.variants(model.find(of.name())->op)) {
    if (one.kind == form.kind) return one;
  }
  throw std::logic_error("[tenonc] an alias has a form that its operator has not");
}

Json emit_operator(const Model& model, size_t index, const EmitOptions& options) {
  const Operator& op = model.operators()[index];
  const auto& forms = model.variants(index);
  const Operator* of = op.alias_of ? &model.op(*model.find(op.alias_of->text)) : nullptr;
  Json entry = {
      {"name", op.name()},
      {"ident", cpp_identifier(op.schema)},
      {"base", op.schema.base_name()},
      {"namespace", namespace_of(op)},
      {"header", namespace_of(op) + "/ops/" + op.schema.base_name() + ".h"},
      {"source", short_source(op.location)},
      {"line", op.location.line},
      {"forms", Json::array()},
      // Those of all backends: kernels compile alike whichever are built.
      {"declarations", emit_kernel_declarations(op, Targets{.cuda = true})},
      {"check", op.check ? Json(op.check->text) : Json(nullptr)},
      {"alias", nullptr},
      {"aliases", Json::array()},
      {"kernel", op.pointwise ? emit_pointwise(op) : Json(nullptr)},
      {"updates", op.update ? emit_update(op) : Json(nullptr)},
      {"rowwise", op.rowwise ? emit_rowwise(op) : Json(nullptr)},
      {"composition", emit_composition(op)},
      {"node", emit_node(model, index)},
  };
  if (op.pointwise) {
    Json text = Json::array();
    for (const auto& one : op.pointwise->cases) text.push_back(one.expression.text);
    entry["expression"] = text;
  }
  if (of) {
    entry["alias"] = {{"name", of->name()},
                      {"base", of->base_name()},
                      {"header", namespace_of(*of) + "/ops/" + of->schema.base_name() + ".h"}};
  }
  for (size_t f = 0; f < forms.size(); ++f) {
    Json form = emit_form(op, forms[f]);
    if (of) {
      const VariantSchema& same = form_of(model, *of, forms[f]);
      form["of"] = {{"ident", cpp_identifier(same.schema)}, {"name", same.schema.name}};
      form["dispatch"] = {{"table", Json::object()}, {"thunks", Json::array()}};
      form["autograd"] = nullptr;
    } else {
      form["of"] = nullptr;
      form["dispatch"] = emit_dispatch(model, index, f, options.targets);
      form["autograd"] = emit_autograd(model, index, f, entry["node"]);
    }
    form["cpp_namespace"] = entry["namespace"];
    if (options.python) {
      form["python"] = emit_python_call(forms[f].schema, form, entry["namespace"],
                                        op.python_module ? op.python_module->text : "");
    }
    entry["forms"].push_back(std::move(form));
  }
  return entry;
}

class Files {
 public:
  void add(const std::string& path, const std::string& tmpl, const std::vector<size_t>& operators,
           Json extra = Json::object()) {
    Json file = {{"path", path}, {"template", tmpl}, {"operators", operators}};
    for (auto& [key, value] : extra.items()) file[key] = value;
    files_.push_back(std::move(file));
  }
  Json take() && { return std::move(files_); }

 private:
  Json files_ = Json::array();
};

/// Headers of the operators that a node's formulas, or the composed form of a row operator, call,
/// as far as they are operators: those of their own namespace `ns` and Tenon's by their names,
/// others as `other::f`.
std::vector<std::string> called_headers(const Model& model, const Model* base,
                                        const std::string& ns, const Json& caller) {
  std::vector<std::string> headers;
  for (const Json& name : caller["operators"]) {
    const std::string text = name.get<std::string>();
    for (const Model* known : {&model, base}) {
      if (!known) continue;
      for (const OperatorGroup& group : known->groups()) {
        const Operator& op = known->operators()[group.operators[0]];
        const std::string of = namespace_of(op), function = op.base_name();
        const bool seen =
            text == of + "::" + function || (text == function && (of == ns || of == "tenon"));
        if (seen) headers.push_back(of + "/ops/" + function + ".h");
      }
    }
  }
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  return headers;
}

}  // namespace

Json emit_ir(const Model& model, const EmitOptions& options, DiagnosticSink& sink) {
  Json operators = Json::array();
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> by_base;  // namespace, base
  std::map<uint32_t, std::vector<size_t>> shards;
  std::vector<size_t> all;
  std::vector<size_t> order(model.operators().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Everything follows the order of names, so that moving an entry in the file changes nothing.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return model.operators()[a].name() < model.operators()[b].name();
  });
  for (size_t index : order) {
    Json entry = emit_operator(model, index, options);
    if (!entry["node"].is_null()) {
      entry["node"]["headers"] =
          called_headers(model, options.base, entry["namespace"], entry["node"]);
    }
    if (!entry["updates"].is_null()) {
      entry["updates"]["headers"] =
          called_headers(model, options.base, entry["namespace"], entry["updates"]);
    }
    if (!entry["composition"].is_null()) {
      entry["composition"]["headers"] =
          called_headers(model, options.base, entry["namespace"], entry["composition"]);
    }
    if (!entry["rowwise"].is_null()) {
      entry["rowwise"]["headers"] =
          called_headers(model, options.base, entry["namespace"], entry["rowwise"]);
    }
    operators.push_back(std::move(entry));
  }
  for (const Json& entry : operators) {
    if (entry["alias"].is_null()) continue;
    for (Json& op : operators) {
      if (op["name"] != entry["alias"]["name"]) continue;
      for (const Json& form : entry["forms"]) op["aliases"].push_back(form);
    }
  }
  Json unused_sources = Json::array();
  if (!options.selected.empty()) {
    unused_sources =
        select_operators(operators, options.selected, options.root, options.targets, sink);
  }
  const auto selected = [&](size_t at) { return operators[at].value("selected", true); };
  std::vector<size_t> left_out;
  for (size_t at = 0; at < operators.size(); ++at) {
    const Json& entry = operators[at];
    by_base[{entry["namespace"], entry["base"]}].push_back(at);
    all.push_back(at);
    if (!entry["alias"].is_null()) continue;  // where its operator is
    if (selected(at)) {
      shards[hash_name(entry["base"]) % static_cast<uint32_t>(options.shards)].push_back(at);
    } else {
      left_out.push_back(at);
    }
  }

  Files files;
  for (const auto& [key, group] : by_base) {
    const auto& [ns, base] = key;
    const Json extra = {{"base", base}, {"namespace", ns}};
    files.add(ns + "/ops/" + base + ".h", "operator.h.j2", group, extra);
    const bool declares = std::any_of(group.begin(), group.end(), [&](size_t i) {
      return !operators[i]["declarations"].empty();
    });
    if (declares) {
      files.add(ns + "/native/" + base + ".h", "native.h.j2", group, extra);
    }
    std::vector<size_t> pointwise;
    for (size_t i : group) {
      const Json& node = operators[i]["node"];
      if (!selected(i)) continue;
      if (!operators[i]["kernel"].is_null() || !operators[i]["updates"].is_null() ||
          (!node.is_null() && !node["kernels"].empty())) {
        pointwise.push_back(i);
      }
    }
    std::vector<size_t> rowwise;
    for (size_t i : group) {
      const Json& node = operators[i]["node"];
      const bool derived = !node.is_null() && !node["rowwise"].is_null();
      if (selected(i) && (!operators[i]["rowwise"].is_null() || derived)) rowwise.push_back(i);
    }
    if (!rowwise.empty()) {
      const std::string folder = ns == "tenon" ? "rowwise/" : "rowwise/" + ns + "/";
      files.add(folder + base + ".cpp", "rowwise.cpp.j2", rowwise, extra);
      if (options.targets.cuda) files.add(folder + base + ".cu", "rowwise.cu.j2", rowwise, extra);
    }
    if (!pointwise.empty()) {
      const std::string folder = ns == "tenon" ? "pointwise/" : "pointwise/" + ns + "/";
      files.add(folder + base + ".cpp", "pointwise.cpp.j2", pointwise, extra);
    }
  }
  for (int shard = 0; shard < options.shards; ++shard) {
    const auto found = shards.find(static_cast<uint32_t>(shard));
    const std::vector<size_t> members =
        found == shards.end() ? std::vector<size_t>{} : found->second;
    if (members.empty() && !options.library) continue;
    const std::string number = std::to_string(shard);
    files.add("operators_" + number + ".cpp", "operators.cpp.j2", members, {{"shard", shard}});
    files.add("autograd_" + number + ".cpp", "autograd.cpp.j2", members, {{"shard", shard}});
    if (options.targets.cuda) {
      files.add("pointwise_" + number + ".cu", "pointwise.cu.j2", members, {{"shard", shard}});
    }
  }
  if (options.python) {
    std::vector<size_t> members[kPythonShards];
    std::vector<size_t> chosen;
    for (size_t at : all) {
      if (!selected(at)) continue;
      members[hash_name(operators[at]["base"]) % kPythonShards].push_back(at);
      chosen.push_back(at);
    }
    for (int shard = 0; shard < kPythonShards; ++shard) {
      Json extra = emit_python(operators, members[shard]);
      extra["shard"] = shard;
      files.add("python/functions_" + std::to_string(shard) + ".cpp", "python/functions.cpp.j2",
                members[shard], extra);
    }
    Json extra = emit_python(operators, chosen);
    extra["shards"] = kPythonShards;
    files.add("python/tables.cpp", "python/tables.cpp.j2", {}, extra);
    files.add("python/_C.pyi", "python/_C.pyi.j2", {}, extra);
  }
  if (!options.selected.empty()) files.add("left_out.cpp", "left_out.cpp.j2", left_out);
  if (options.library) {
    files.add("tenon/tensor.h", "tensor.h.j2", all);
    files.add("tenon/ops.h", "ops.h.j2", all);
    files.add("tenon/tenon.h", "tenon.h.j2", {});
  } else {
    files.add(options.header, "ops.h.j2", all);
  }
  Json ir = {{"version", kIrVersion},
             {"library", options.library_name},
             {"in_tree", options.library},
             {"cuda", options.targets.cuda},
             {"operators", std::move(operators)},
             {"files", std::move(files).take()}};
  if (!options.selected.empty()) ir["unused_sources"] = std::move(unused_sources);
  return ir;
}

}  // namespace tenon::codegen
