#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace tenon::hub {

/// Inflates raw deflated data (RFC 1951) that comes in pieces.
class Inflater {
 public:
  using Put = std::function<void(const char* data, size_t bytes)>;

  /// Whether this build has zlib; without it all data count as damaged.
  static bool is_available();

  explicit Inflater(Put put);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// False if the data are damaged or go on after their end.
  bool push(const char* data, size_t bytes);
  /// Whether the end of the data was there.
  bool finished() const;

 private:
  struct State;
  Put put_;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::hub
