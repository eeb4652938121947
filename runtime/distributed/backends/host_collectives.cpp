// The collectives of HostBackend: what each tells the others, and how the data is moved.

#include <cstring>
#include <numeric>

#include "runtime/distributed/backends/host_backend.h"
#include "runtime/distributed/mesh/blocks.h"

namespace tenon::distributed::detail {
namespace {

std::vector<int64_t> counts(const std::vector<Tensor>& tensors) {
  std::vector<int64_t> numbers;
  for (const Tensor& t : tensors) numbers.push_back(t.numel());
  return numbers;
}

std::vector<size_t> bytes_of(const int64_t* counts, size_t n, size_t element) {
  std::vector<size_t> bytes;
  for (size_t i = 0; i < n; ++i) bytes.push_back(static_cast<size_t>(counts[i]) * element);
  return bytes;
}

size_t sum(const std::vector<size_t>& sizes, size_t n) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(n), size_t{0});
}

[[noreturn]] void raise_unequal(const char* what, const std::string& text, int giver, int64_t gives,
                                int taker, int64_t takes) {
  raise<DistBackendError>("[", what, "] ", text, ": rank ", giver, " gives ", gives,
                          " elements to rank ", taker, ", which expects ", takes);
}

Mark begun(std::vector<Tensor> some, const std::vector<Tensor>& others) {
  some.insert(some.end(), others.begin(), others.end());
  return Mark(some);
}

/// The reduction of what all sent, in the order of the ranks, so that it is the same everywhere.
template <class Headers>
void reduce_all(char* out, const Headers& headers, size_t offset, size_t bytes, size_t n,
                ReduceFunction function) {
  copy(out, headers[0].data.substr(offset, bytes));
  for (size_t r = 1; r < headers.size(); ++r)
    function(out, out, headers[r].data.data() + offset, n);
}

}  // namespace

WorkPtr HostBackend::broadcast(const Tensor& tensor, int root, const CallOptions& options) {
  check_tensor("broadcast", tensor);
  check_root("broadcast", root);
  Call call{.what = "broadcast", .begun = Mark({tensor})};
  call.header.text = concat("broadcast from rank ", root, " of ", describe(tensor));
  const bool small = is_small(tensor.nbytes());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=, this] {
    *dense = std::make_unique<Dense>(tensor, rank() == root);
    return small && rank() == root ? (*dense)->view() : std::string_view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    if (small) {
      if (rank() != root) copy((*dense)->data(), peers.headers[root].data);
    } else {
      engine().broadcast((*dense)->data(), (*dense)->bytes(), root, deadline);
    }
    if (rank() != root) (*dense)->write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::all_reduce(const Tensor& tensor, ReduceOp op, const CallOptions& options) {
  check_tensor("all_reduce", tensor);
  const ReduceFunction function = reduce_function(op, tensor.scalar_type(), "all_reduce");
  Call call{.what = "all_reduce", .begun = Mark({tensor})};
  call.header.text = concat("all_reduce(", to_string(op), ") of ", describe(tensor));
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(tensor);
    return (*dense)->view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense& d = **dense;
    const auto n = static_cast<size_t>(tensor.numel());
    if (peers.all_inline()) {
      reduce_all(d.data(), peers.headers, 0, d.bytes(), n, function);
    } else {
      engine().all_reduce(d.data(), n, tensor.scalar_type(), op, deadline);
    }
    if (op == ReduceOp::AVG) divide(d.data(), n, tensor.scalar_type(), size());
    d.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::reduce(const Tensor& tensor, int root, ReduceOp op,
                            const CallOptions& options) {
  check_tensor("reduce", tensor);
  check_root("reduce", root);
  const ReduceFunction function = reduce_function(op, tensor.scalar_type(), "reduce");
  Call call{.what = "reduce", .begun = Mark({tensor})};
  call.header.text = concat("reduce(", to_string(op), ") to rank ", root, " of ", describe(tensor));
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(tensor);
    return (*dense)->view();
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense& d = **dense;
    const auto n = static_cast<size_t>(tensor.numel());
    if (peers.all_inline()) {
      if (rank() != root) return;
      reduce_all(d.data(), peers.headers, 0, d.bytes(), n, function);
    } else {
      // As all_reduce, and only one rank keeps the result.
      std::vector<char> copy_of_it;
      char* data = d.data();
      if (rank() != root) {
        copy_of_it.assign(data, data + d.bytes());
        data = copy_of_it.data();
      }
      engine().all_reduce(data, n, tensor.scalar_type(), op, deadline);
      if (rank() != root) return;
    }
    if (op == ReduceOp::AVG) divide(d.data(), n, tensor.scalar_type(), size());
    d.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                                const CallOptions& options) {
  check_tensor("all_gather", input);
  check_count("all_gather", "outputs", outputs.size());
  check_tensors("all_gather", outputs, input);
  Call call{.what = "all_gather", .begun = begun(outputs, {input})};
  call.header.text = concat("all_gather of ", input.scalar_type());
  call.header.sizes = counts(outputs);
  call.header.sizes.push_back(input.numel());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(input);
    return (*dense)->view();
  };
  call.check = [text = call.header.text](const Peers& peers) {
    const int n = static_cast<int>(peers.headers.size());
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        const int64_t gives = peers.headers[from].sizes[n], takes = peers.headers[to].sizes[from];
        if (gives != takes) raise_unequal("all_gather", text, from, gives, to, takes);
      }
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block block(outputs, false);
    if (peers.all_inline()) {
      char* to = block.data();
      for (const Header& header : peers.headers) {
        copy(to, header.data);
        to += header.data.size();
      }
    } else {
      const auto& sizes = peers.headers[rank()].sizes;
      engine().all_gather((*dense)->data(), block.data(),
                          bytes_of(sizes.data(), outputs.size(), input.element_size()), deadline);
    }
    block.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                            const CallOptions& options) {
  check_tensor("gather", input);
  check_root("gather", root);
  if (rank() == root) check_count("gather", "outputs", outputs.size());
  TENON_CHECK_VALUE(rank() == root || outputs.empty(), "[gather] outputs are rank ", root,
                    "'s alone, got ", outputs.size(), " on rank ", rank());
  check_tensors("gather", outputs, input);
  Call call{.what = "gather", .begun = begun(outputs, {input})};
  call.header.text = concat("gather to rank ", root, " of ", input.scalar_type());
  call.header.sizes = counts(outputs);
  call.header.sizes.insert(call.header.sizes.begin(), input.numel());
  const auto dense = std::make_shared<std::unique_ptr<Dense>>();
  call.small_data = [=] {
    *dense = std::make_unique<Dense>(input);
    return (*dense)->view();
  };
  call.check = [root, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      const int64_t gives = peers.headers[r].sizes[0], takes = peers.headers[root].sizes[r + 1];
      if (gives != takes) raise_unequal("gather", text, static_cast<int>(r), gives, root, takes);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block block(outputs, false);
    if (peers.all_inline()) {
      char* to = block.data();
      for (size_t r = 0; rank() == root && r < peers.headers.size(); ++r) {
        copy(to, peers.headers[r].data);
        to += peers.headers[r].data.size();
      }
    } else {
      std::vector<size_t> in(static_cast<size_t>(size())), out(in.size());
      in[root] = (*dense)->bytes();
      for (size_t r = 0; r < outputs.size(); ++r) out[r] = outputs[r].nbytes();
      engine().all_to_all((*dense)->data(), in, block.data(), out, deadline);
    }
    block.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                             const CallOptions& options) {
  check_tensor("scatter", output);
  check_root("scatter", root);
  if (rank() == root) check_count("scatter", "inputs", inputs.size());
  TENON_CHECK_VALUE(rank() == root || inputs.empty(), "[scatter] inputs are rank ", root,
                    "'s alone, got ", inputs.size(), " on rank ", rank());
  check_tensors("scatter", inputs, output);
  Call call{.what = "scatter", .begun = begun(inputs, {output})};
  call.header.text = concat("scatter from rank ", root, " of ", output.scalar_type());
  call.header.sizes = counts(inputs);
  call.header.sizes.insert(call.header.sizes.begin(), output.numel());
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [root, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      const int64_t gives = peers.headers[root].sizes[r + 1], takes = peers.headers[r].sizes[0];
      if (gives != takes) raise_unequal("scatter", text, root, gives, static_cast<int>(r), takes);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense dense(output, false);
    const auto& counts = peers.headers[root].sizes;
    const auto sizes =
        bytes_of(counts.data() + 1, static_cast<size_t>(size()), output.element_size());
    if (peers.all_inline()) {
      copy(dense.data(), peers.headers[root].data.substr(sum(sizes, rank()), dense.bytes()));
    } else {
      std::vector<size_t> in(sizes.size()), out(sizes.size());
      if (rank() == root) in = sizes;
      out[root] = dense.bytes();
      engine().all_to_all((*block)->data(), in, dense.data(), out, deadline);
    }
    dense.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                    ReduceOp op, const CallOptions& options) {
  check_tensor("reduce_scatter", output);
  check_count("reduce_scatter", "inputs", inputs.size());
  check_tensors("reduce_scatter", inputs, output);
  const ReduceFunction function = reduce_function(op, output.scalar_type(), "reduce_scatter");
  Call call{.what = "reduce_scatter", .begun = begun(inputs, {output})};
  std::vector<int64_t> numbers = counts(inputs);
  call.header.text = concat("reduce_scatter(", to_string(op), ") of ", output.scalar_type(), " ",
                            IntArrayRef(numbers));
  call.header.sizes = {output.numel()};
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [numbers, text = call.header.text](const Peers& peers) {
    for (size_t r = 0; r < peers.headers.size(); ++r) {
      TENON_CHECK_AS(DistBackendError, peers.headers[r].sizes[0] == numbers[r], "[reduce_scatter] ",
                     text, ": rank ", r, " expects ", peers.headers[r].sizes[0], " elements, gets ",
                     numbers[r]);
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Dense dense(output, false);
    const auto sizes = bytes_of(numbers.data(), numbers.size(), output.element_size());
    const auto n = static_cast<size_t>(output.numel());
    if (peers.all_inline()) {
      reduce_all(dense.data(), peers.headers, sum(sizes, rank()), dense.bytes(), n, function);
    } else {
      const std::vector<size_t> out(sizes.size(), dense.bytes());
      const std::unique_ptr<char[]> parts(new char[dense.bytes() * sizes.size()]);
      engine().all_to_all((*block)->data(), sizes, parts.get(), out, deadline);
      copy(dense.data(), {parts.get(), dense.bytes()});
      for (size_t r = 1; r < sizes.size(); ++r)
        function(dense.data(), dense.data(), parts.get() + r * dense.bytes(), n);
    }
    if (op == ReduceOp::AVG) divide(dense.data(), n, output.scalar_type(), size());
    dense.write_back();
  };
  return submit(std::move(call), options);
}

WorkPtr HostBackend::all_to_all(const std::vector<Tensor>& outputs,
                                const std::vector<Tensor>& inputs, const CallOptions& options) {
  check_count("all_to_all", "inputs", inputs.size());
  check_count("all_to_all", "outputs", outputs.size());
  check_tensor("all_to_all", inputs[0]);
  check_tensors("all_to_all", inputs, inputs[0]);
  check_tensors("all_to_all", outputs, inputs[0]);
  Call call{.what = "all_to_all", .begun = begun(inputs, outputs)};
  call.header.text = concat("all_to_all of ", inputs[0].scalar_type());
  const std::vector<int64_t> in = counts(inputs), out = counts(outputs);
  call.header.sizes = in;
  call.header.sizes.insert(call.header.sizes.end(), out.begin(), out.end());
  const auto block = std::make_shared<std::unique_ptr<Block>>();
  call.small_data = [=] {
    *block = std::make_unique<Block>(inputs, true);
    return (*block)->view();
  };
  call.check = [text = call.header.text](const Peers& peers) {
    const size_t n = peers.headers.size();
    for (size_t from = 0; from < n; ++from) {
      for (size_t to = 0; to < n; ++to) {
        const int64_t gives = peers.headers[from].sizes[to];
        const int64_t takes = peers.headers[to].sizes[n + from];
        if (gives != takes)
          raise_unequal("all_to_all", text, static_cast<int>(from), gives, static_cast<int>(to),
                        takes);
      }
    }
  };
  call.run = [=, this](const Peers& peers, Deadline deadline) {
    const Block to(outputs, false);
    const size_t element = inputs[0].element_size();
    const auto out_sizes = bytes_of(out.data(), out.size(), element);
    if (peers.all_inline()) {
      char* at = to.data();
      for (size_t r = 0; r < out_sizes.size(); at += out_sizes[r++]) {
        const auto sent = bytes_of(peers.headers[r].sizes.data(), out.size(), element);
        copy(at, peers.headers[r].data.substr(sum(sent, rank()), out_sizes[r]));
      }
    } else {
      engine().all_to_all((*block)->data(), bytes_of(in.data(), in.size(), element), to.data(),
                          out_sizes, deadline);
    }
    to.write_back();
  };
  return submit(std::move(call), options);
}

}  // namespace tenon::distributed::detail
