#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/hub/transport.h"

namespace tenon::hub::test {

/// Answers from a table. What it does not hold is 404; offline, nothing answers.
class FakeTransport final : public Transport {
 public:
  struct Answered {
    int status = 200;
    std::string body{};
    std::vector<Header> headers{};
  };

  std::map<std::string, Answered> answers;
  bool offline = false;
  std::vector<Request> requests;

  void get(const Request& request, Receiver& receiver) override {
    requests.push_back(request);
    if (offline) throw TransportError("[hub] cannot fetch " + request.url, false);
    const auto it = answers.find(request.url);
    const Answered answer = it == answers.end() ? Answered{404} : it->second;
    if (receiver.head({answer.status, request.url, answer.headers}))
      receiver.body(answer.body.data(), answer.body.size());
  }

  std::vector<std::string> urls() const {
    std::vector<std::string> all;
    for (const Request& request : requests) all.push_back(request.url);
    return all;
  }
};

}  // namespace tenon::hub::test
