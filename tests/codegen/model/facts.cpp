#include "tests/codegen/model/facts.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "codegen/schema/printer.h"

namespace tenon::codegen {

namespace {

using schema::SchemaKind;

// Upstream makes a group of forms that include a functional and an out form.
bool is_grouped(const Family& family) {
  const auto has = [&](SchemaKind kind) {
    return std::any_of(family.forms.begin(), family.forms.end(),
                       [&](const Form& form) { return form.kind == kind; });
  };
  return has(SchemaKind::kFunctional) && has(SchemaKind::kOut);
}

std::string form_line(const Model& model, const Form& form, bool grouped, bool structured) {
  const bool generated = form.origin == Form::Origin::kGenerated;
  std::string line(schema::to_string(form.kind));
  line += " " + form.schema.qualified_name();
  if (grouped) line += " grouped";
  if (grouped && structured) line += " structured";
  if (!generated && model.operators()[form.op].is_view()) line += " view";
  if (generated) line += " generated";
  return line;
}

}  // namespace

std::vector<std::string> operator_facts(const Model& model) {
  std::vector<std::string> lines;
  std::vector<const Family*> families;
  const auto first_name = [](const Family* family) {
    std::string first;
    for (const Form& form : family->forms) {
      const std::string name = form.schema.qualified_name();
      if (first.empty() || name < first) first = name;
    }
    return first;
  };
  for (const Family& family : model.families()) families.push_back(&family);
  std::sort(families.begin(), families.end(),
            [&](const Family* a, const Family* b) { return first_name(a) < first_name(b); });
  for (size_t i = 0; i < families.size(); ++i) {
    const Family& family = *families[i];
    const bool grouped = is_grouped(family);
    const bool structured =
        std::any_of(family.forms.begin(), family.forms.end(), [&](const Form& form) {
          return form.kind == SchemaKind::kOut && model.operators()[form.op].is<Structured>();
        });
    for (const Form& form : family.forms) {
      lines.push_back(std::to_string(i + 1) + " " + form_line(model, form, grouped, structured));
      if (form.origin == Form::Origin::kGenerated) {
        lines.push_back("= " + schema::to_string(form.schema));
      }
    }
  }
  return lines;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> difference(std::vector<std::string> expected,
                                    std::vector<std::string> actual) {
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  std::vector<std::string> missing, extra, result;
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(),
                      std::back_inserter(missing));
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(),
                      std::back_inserter(extra));
  for (const std::string& line : missing) result.push_back("- " + line);
  for (const std::string& line : extra) result.push_back("+ " + line);
  return result;
}

}  // namespace tenon::codegen
