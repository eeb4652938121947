#pragma once

#include <string>
#include <vector>

#include "codegen/model/model.h"

namespace tenon::codegen {

/// What the model says about a pair of upstream files, in the form in which tests/codegen/oracle
/// writes down what torchgen says.
std::vector<std::string> operator_facts(const Model& model);

/// Lines of `path`.
std::vector<std::string> read_lines(const std::string& path);

/// Lines of one that the other lacks, "- expected" and "+ actual", for a message; the order of
/// lines does not count.
std::vector<std::string> difference(std::vector<std::string> expected,
                                    std::vector<std::string> actual);

}  // namespace tenon::codegen
