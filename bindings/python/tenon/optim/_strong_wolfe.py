"""A line search for LBFGS. A point is (t, loss, gradient, slope)."""

_DECREASE, _CURVATURE, _SMALLEST_MOVE = 1e-4, 0.9, 1e-9


def strong_wolfe(evaluate, start, t, largest, max_iterations):
    """(a point that fulfils the strong Wolfe conditions, how many were evaluated): first an interval that holds one is looked for, then it
    is made smaller by cubic interpolation (Nocedal and Wright, Numerical optimization, algorithms 3.5 and 3.6). The best point found after
    max_iterations of both, or when the interval moves no parameter by 1e-9."""
    low, high, left, evaluations = _interval(evaluate, start, t, max_iterations)
    stuck = False
    while high is not None and left > 0 and not abs(high[0] - low[0]) * largest < _SMALLEST_MOVE:
        t, stuck = _next(low, high, stuck)
        now = evaluate(t)
        evaluations, left = evaluations + 1, left - 1
        if _is_too_high(now, start) or now[1] >= low[1]:
            low, high = _ordered(low, now)
        elif _is_flat(now, start):
            return now, evaluations
        else:
            high = low if now[3] * (high[0] - low[0]) >= 0 else high
            low = now
    return low, evaluations


def _interval(evaluate, start, t, left):
    """(the lower end, the upper end or None if the first is the point wanted, iterations left, evaluations)."""
    before, now = start, evaluate(t)
    evaluations = step = 1
    while left > 0:
        if _is_too_high(now, start) or (step > 2 and now[1] >= before[1]):
            return *_ordered(before, now), left, evaluations
        if _is_flat(now, start):
            return now, None, left, evaluations
        if now[3] >= 0:
            return *_ordered(before, now), left, evaluations
        t = _least_of_cubic(before, now, now[0] + 0.01 * (now[0] - before[0]), 10 * now[0])
        before, now = now, evaluate(t)
        evaluations, step, left = evaluations + 1, step + 1, left - 1
    return *_ordered(start, now), left, evaluations


def _ordered(a, b):
    return (a, b) if a[1] <= b[1] else (b, a)


def _is_too_high(point, start):
    return point[1] > start[1] + _DECREASE * point[0] * start[3]


def _is_flat(point, start):
    return abs(point[3]) <= -_CURVATURE * start[3]


def _least_of_cubic(a, b, low, high):
    """Where the cubic through both points with their slopes is least, within [low, high]; the middle if it has no minimum."""
    left, right = (a, b) if a[0] <= b[0] else (b, a)
    mean = left[3] + right[3] - 3 * (a[1] - b[1]) / (a[0] - b[0])
    square = mean * mean - left[3] * right[3]
    if not square >= 0:
        return (low + high) / 2
    root = square**0.5
    least = right[0] - (right[0] - left[0]) * ((right[3] + root - mean) / (right[3] - left[3] + 2 * root))
    return min(max(least, low), high)


def _next(a, b, stuck):
    """(t, whether it is close to an end): of the cubic, but not twice in a row, and never at all, close to an end of the interval."""
    low, high = min(a[0], b[0]), max(a[0], b[0])
    t, margin = _least_of_cubic(a, b, low, high), 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if not stuck and low < t < high:
        return t, True
    return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
