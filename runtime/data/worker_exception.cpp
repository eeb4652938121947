#include "runtime/data/worker_exception.h"

#include <utility>

namespace tenon::data {
namespace {

std::string text_of(const std::exception_ptr& original) {
  const std::string text = "Caught exception in DataLoader worker thread.";
  try {
    std::rethrow_exception(original);
  } catch (const std::exception& e) {
    return text + " Original message: " + e.what();
  } catch (...) {
    return text + " It is no std::exception.";
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original)
    : Error(text_of(original)), original_exception(std::move(original)), message(what()) {}

}  // namespace tenon::data
