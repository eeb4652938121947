"""A loss with a distance of the user's."""

from tenon.nn import functional as F
from tenon.nn.modules._bases import _Loss


class TripletMarginWithDistanceLoss(_Loss):
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d the distance function, by default pairwise_distance()."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = F.pairwise_distance if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
