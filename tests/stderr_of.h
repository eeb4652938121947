#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace tenon::test {

/// Calls f while the standard error stream is `descriptor`.
template <class F>
void with_stderr(int descriptor, F&& f) {
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(descriptor, STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
}

/// What f prints on the standard error stream, no more than 10,000 bytes.
template <class F>
std::string stderr_of(F&& f) {
  FILE* file = std::tmpfile();
  with_stderr(fileno(file), f);
  std::rewind(file);
  std::string text(10000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace tenon::test
