"""Parameters given as probabilities or as logits: one is kept, the other is computed when it is first needed."""

import tenon
from tenon.distributions.utils import broadcast_all, is_only_numbers, lazy_property, logits_to_probs, probs_to_logits


class BinaryProbability:
    """Of distributions with the attributes probs, one probability, and logits, log(p / (1 - p))."""

    def _take_probability(self, probs, logits, *others):
        """Keeps what is given, broadcast with the other parameters. Returns the batch shape and the others."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        self._param, *others = broadcast_all(given, *others)
        if probs is None:
            self.logits = self._param
        else:
            self.probs = self._param
        shape = tenon.Size() if is_only_numbers(given, *others) else self._param.size()
        return shape, others

    def _expand_probability(self, cls, batch_shape, _instance, **event_dims):
        new = self._expand_parameters(cls, batch_shape, _instance, probs=0, logits=0, **event_dims)
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]
        return new

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        return self._param.size()
