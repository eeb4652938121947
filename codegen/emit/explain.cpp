#include "codegen/emit/explain.h"

#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

const Json* find_entry(const Json& ir, const std::string& name, size_t& index) {
  for (size_t i = 0; i < ir["operators"].size(); ++i) {
    const Json& entry = ir["operators"][i];
    for (const Json& form : entry["forms"]) {
      const std::string overload = form["overload"];
      const std::string full =
          form["name"].get<std::string>() + (overload.empty() ? "" : "." + overload);
      if (full == name || entry["name"] == name) {
        index = i;
        return &entry;
      }
    }
  }
  return nullptr;
}

void explain_form(const Json& form, std::ostream& out) {
  out << "  " << form["schema"].get<std::string>() << "\n      "
      << (form["derived"] ? "derived " : "written, ") << form["kind"].get<std::string>()
      << (form["method"] ? ", method" : "") << (form["function"] ? ", function" : "") << "\n";
  for (const auto& [backend, symbol] : form["dispatch"]["table"].items()) {
    for (const Json& thunk : form["dispatch"]["thunks"]) {
      if (thunk["symbol"] != symbol) continue;
      out << "      " << backend << ": " << thunk["kind"].get<std::string>();
      if (thunk.contains("meta")) out << ", shapes by " << thunk["meta"].get<std::string>();
      if (thunk.contains("kernel") && !thunk["kernel"].is_null()) {
        out << ", kernel " << thunk["kernel"].get<std::string>();
      }
      out << "\n";
    }
  }
}

void explain_node(const Json& node, std::ostream& out) {
  out << "backward: " << node["name"].get<std::string>() << " ("
      << node["source"].get<std::string>() << ":" << node["line"] << ")\n";
  for (const Json& saved : node["saved"]) {
    out << "  saves " << saved["name"].get<std::string>() << " ("
        << saved["kind"].get<std::string>() << ") for the gradient of";
    for (const Json& user : saved["users"]) {
      out << " " << node["inputs"][user.get<size_t>()]["name"].get<std::string>();
    }
    out << (saved["guarded"] ? ", only when that is wanted\n" : "\n");
  }
  for (const Json& one : node["pointwise"]) {
    out << "  grad of " << node["inputs"][one["input"].get<size_t>()]["name"].get<std::string>()
        << " = " << one["readable"].get<std::string>() << "\n";
  }
  for (const Json& formula : node["formulas"]) {
    out << "  grad of";
    for (const Json& o : formula["outputs"]) {
      out << " " << node["inputs"][o.get<size_t>()]["name"].get<std::string>();
    }
    out << " = " << formula["original"].get<std::string>() << "\n";
  }
  for (const Json& kernel : node["kernels"]) {
    out << "  fused kernel " << kernel["ident"].get<std::string>() << "\n";
  }
}

}  // namespace

bool explain(const Model& model, const Json& ir, const std::string& name, std::ostream& out,
             std::ostream& errors) {
  size_t index = 0;
  const Json* entry = find_entry(ir, name, index);
  if (!entry) {
    std::vector<std::string> names;
    for (const Operator& op : model.operators()) names.push_back(op.name());
    const std::string near = schema::nearest(name, names);
    errors << "tenonc: there is no operator '" << name << "'"
           << (near.empty() ? "" : "; did you mean '" + near + "'?") << "\n";
    return false;
  }
  out << (*entry)["name"].get<std::string>() << "  (" << (*entry)["source"].get<std::string>()
      << ":" << (*entry)["line"] << ")\n";
  if (entry->contains("expression")) {
    for (const Json& text : (*entry)["expression"])
      out << "pointwise: " << text.get<std::string>() << "\n";
  }
  out << "forms:\n";
  for (const Json& form : (*entry)["forms"]) explain_form(form, out);
  if ((*entry)["node"].is_null()) {
    out << "backward: none of its own\n";
  } else {
    explain_node((*entry)["node"], out);
  }
  out << "files:\n";
  for (const Json& file : ir["files"]) {
    for (const Json& member : file["operators"]) {
      if (member == index) out << "  " << file["path"].get<std::string>() << "\n";
    }
  }
  return true;
}

}  // namespace tenon::codegen
