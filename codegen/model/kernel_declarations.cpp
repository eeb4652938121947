#include "codegen/model/kernel_declarations.h"

namespace tenon::codegen {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string kernel_signature(const Json& form, const Json& declaration) {
  const std::string kind = declaration["kind"];
  std::string text =
      kind == "structured" || kind == "check"
          ? "void"
          : (kind == "meta" ? declaration["result"] : form["return_type"]).get<std::string>();
  text += " native::" + declaration["name"].get<std::string>() + "(";
  const char* comma = "";
  for (const Json& argument : form["arguments"]) {
    text += comma + argument["type"].get<std::string>() + " " + argument["name"].get<std::string>();
    comma = ", ";
  }
  if (kind == "structured") {
    for (const Json& out : declaration["outputs"])
      text += ", const tenon::Tensor& " + out.get<std::string>();
  }
  text += ")";
  replace_all(text, "::std::", "std::");
  if (form["namespace"] == "aten") replace_all(text, "tenon::", "");
  return text;
}

}  // namespace tenon::codegen
