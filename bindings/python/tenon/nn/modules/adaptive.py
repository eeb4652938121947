"""A softmax over many classes, of which few are frequent."""

from collections import namedtuple

import tenon
from tenon.nn import functional as F
from tenon.nn.modules.container import ModuleList, Sequential
from tenon.nn.modules.linear import Linear
from tenon.nn.modules.module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes in the order of their frequency: those before the first of `cutoffs`, and a cluster for each later part, are the head's
    outputs; a cluster's classes are outputs of a tail, whose inner size is in_features / div_value^i.

    forward(input [N, in_features], target [N]) -> (log p(target) [N], the mean of their negatives)
    """

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
        *,
        tail_bias=False,
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ascend = all(a < b for a, b in zip(cutoffs, cutoffs[1:]))
        if not ascend or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between "
                "1 and n_classes-1"
            )
        options = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner, outer = int(in_features // (div_value ** (i + 1))), self.cutoffs[i + 1] - self.cutoffs[i]
            first = Linear(in_features, inner, bias=tail_bias, **options)
            self.tail.append(Sequential(first, Linear(inner, outer, bias=tail_bias, **options)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        if target_.dim() not in (0, 1) or input_.dim() != target_.dim() + 1:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension."
                if target_.dim() == 1
                else "0D or 1D target tensor expected, multi-target not supported"
            )
        input, target, is_batched = input_, target_, target_.dim() == 1
        if not is_batched:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if ((target < 0) | (target >= self.n_classes)).any():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        # The head's output of each target: its class, or its cluster.
        cluster = tenon.bucketize(target, tenon.tensor(self.cutoffs[:-1], device=target.device), right=True)
        output = head.gather(
            1, tenon.where(cluster == 0, target, self.shortlist_size + cluster - 1).unsqueeze(1)
        ).squeeze(1)
        for i in range(self.n_clusters):
            rows = (cluster == i + 1).nonzero().squeeze(1)
            if rows.numel():
                within = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
                classes = (target.index_select(0, rows) - self.cutoffs[i]).unsqueeze(1)
                output = output.index_add(0, rows, within.gather(1, classes).squeeze(1))
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            within = F.log_softmax(self.tail[i](input), dim=1)
            parts.append(within + head[:, self.shortlist_size + i].unsqueeze(1))
        return tenon.cat(parts, 1)

    def log_prob(self, input):
        """The logarithms of all probabilities: [N, n_classes]"""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The most probable class of each row: [N]"""
        return self.log_prob(input).argmax(1)
