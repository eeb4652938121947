#pragma once

#include <string>
#include <vector>

#include "codegen/ir/library.h"

namespace tenon::codegen {

struct OutputOptions {
  std::string out;        // folder of the generated files
  std::string templates;  // folder of the Jinja2 templates
  std::string python;
  std::string depfile;  // may be empty
  std::string stamp;    // may be empty
};

/// Writes for Ninja that `target` depends on `files`; an unchanged file is left alone.
void write_depfile(const std::string& path, const std::string& target,
                   const std::vector<std::string>& files);

/// A document for the renderer, what the build reads besides, and the files that all of it is made
/// from.
struct Rendering {
  std::string ir;
  std::string sources_cmake;
  std::vector<std::string> inputs;
};

/// Writes OUT/ir.json and OUT/sources.cmake and lets the renderer make the files; when neither the
/// document nor a template has changed since the last complete run, nothing is rendered. The
/// command's exit status.
int write_rendering(const OutputOptions& options, const Rendering& rendering);

/// Writes a page for each operator of the library, in Markdown, and an index. The command's exit
/// status.
int write_pages(const OutputOptions& options, const ir::Library& library);

/// Writes the library to OUT/ir.json and lets the renderer make the files of it; when neither that
/// nor a template has changed since the last complete run, nothing is written. `inputs` are the
/// files read, for the depfile. The command's exit status.
int write_output(const OutputOptions& options, const std::vector<std::string>& inputs,
                 const ir::Library& library);

}  // namespace tenon::codegen
