"""Values, dtypes and errors of calls at the edges: what PyTorch 2.15 gives on a CPU, written down.

A case is an expression, where statements before the last `;;` come first, and the results' dtypes and values, or the error's type.
"""

import math
import warnings

import pytest
import tenon as T
from operator_cases import F, check, evaluate, inf, nan, zeros

TRAPEZOIDS = [
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(4.).view(1,4))", ("float32", [4.5, 16.5, 28.5])),
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(3.).view(3,1), dim=0)", ("float32", [8.0, 10.0, 12.0, 14.0])),
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(3.), dim=0)", ("float32", [8.0, 10.0, 12.0, 14.0])),
    ("T.trapezoid(t([1,5,3],dtype=T.uint8), t([0,1,3],dtype=T.uint8))", ("float32", 11.0)),
    ("T.trapezoid(t([1,5,3],dtype=T.uint8), t([3,1,0],dtype=T.uint8))", ("float32", 246.0)),
    ("T.trapezoid(t([200,255,3],dtype=T.uint8))", ("float32", 356.5)),
    ("T.trapezoid(t([200,255,3],dtype=T.uint8), dx=2)", ("float32", 713.0)),
    ("T.trapezoid(t([200,255,3],dtype=T.uint8), dx=2.5)", ("float32", 891.25)),
    ("T.trapezoid(t([100,120,3],dtype=T.int8))", ("float32", 171.5)),
    ("T.cumulative_trapezoid(t([200,255,3],dtype=T.uint8))", ("float32", [99.5, 100.5])),
    ("T.cumulative_trapezoid(t([200,255,3],dtype=T.uint8), t([3,1,0],dtype=T.uint8))", ("float32", [57.0, 184.0])),
    ("T.cumulative_trapezoid(t([100,120,3],dtype=T.int8))", ("float32", [-18.0, 43.5])),
    ("T.trapezoid(T.ones(1))", ("float32", 0.0)),
    ("T.trapezoid(T.ones(1), dx=2)", ("float32", 0.0)),
    ("T.trapezoid(T.ones(1), T.ones(1))", ("float32", 0.0)),
    ("T.trapezoid(T.ones(0))", ("float32", 0.0)),
    ("T.trapezoid(T.ones(0), T.ones(0))", ("float32", 0.0)),
    ("T.trapezoid(T.ones(0), T.ones(3))", ("float32", 0.0)),
    ("T.trapezoid(T.ones(0, dtype=T.int32))", ("int32", 0)),
    ("T.trapezoid(T.ones(2,0))", ("float32", [0.0, 0.0])),
    (
        "T.trapezoid(T.ones(0,2))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.trapezoid(T.ones(2,0), dim=0)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.trapezoid(T.ones(2,1), dim=1)", ("float32", [0.0, 0.0])),
    ("T.trapezoid(T.ones(2,1), T.ones(1), dim=1)", ("float32", [0.0, 0.0])),
    ("T.trapezoid(T.ones(2,1), T.ones(2,1), dim=1)", ("float32", [0.0, 0.0])),
    ("T.trapezoid(T.ones(2,0,dtype=T.int64))", ("int64", [0, 0])),
    ("T.trapezoid(T.ones(2,0,dtype=T.bool))", ("bool", [False, False])),
    (
        "T.cumulative_trapezoid(T.ones(1))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.cumulative_trapezoid(T.ones(1), T.ones(1))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.cumulative_trapezoid(T.ones(0))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.cumulative_trapezoid(T.ones(2,0))", ("float32", [[], []])),
    ("T.cumulative_trapezoid(T.ones(2,0), T.ones(2,0))", ("float32", [[], []])),
    ("T.cumulative_trapezoid(T.ones(0,2))", ("float32", zeros(0, 1))),
    ("T.cumulative_trapezoid(T.ones(0,2), dim=0)", ("float32", zeros(0, 2))),
    (
        "T.cumulative_trapezoid(T.ones(0, dtype=T.int32))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.cumulative_trapezoid(T.ones(1, dtype=T.int32))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.trapezoid(T.arange(4, dtype=T.float16), dx=.1)", ("float16", 0.4499512)),
    ("T.trapezoid(T.arange(4, dtype=T.bfloat16), T.arange(4, dtype=T.bfloat16)/3)", ("bfloat16", 1.492188)),
    ("T.trapz(T.ones(0), T.ones(0))", ("float32", 0.0)),
]

UNIQUE = [
    (
        "T.unique_consecutive(T.ones(0), return_inverse=True, return_counts=True)",
        [
            (
                "float32",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    (
        "T.unique_consecutive(T.ones(0))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.unique_consecutive(T.ones(2,0), return_inverse=True, return_counts=True)",
        [
            (
                "float32",
                zeros(
                    0,
                ),
            ),
            ("int64", [[], []]),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    (
        "T.unique_consecutive(T.ones(2,0), return_inverse=True, return_counts=True, dim=1)",
        [
            ("float32", [[], []]),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    (
        "T.unique_consecutive(T.ones(0), return_inverse=True, return_counts=True, dim=0)",
        [
            (
                "float32",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    (
        "T.unique_consecutive(t(3.), return_inverse=True, return_counts=True)",
        [("float32", [3.0]), ("int64", 0), ("int64", [1])],
    ),
    ("T.unique_consecutive(t(3.))", ("float32", [3.0])),
    (
        "T.unique_consecutive(T.ones(1), return_inverse=True, return_counts=True)",
        [("float32", [1.0]), ("int64", [0]), ("int64", [1])],
    ),
    (
        "T.unique_consecutive(T.ones(1,1), return_inverse=True, return_counts=True)",
        [("float32", [1.0]), ("int64", [[0]]), ("int64", [1])],
    ),
    (
        "T.unique_consecutive(T.ones(0,3), return_inverse=True, return_counts=True, dim=0)",
        [
            ("float32", zeros(0, 3)),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
]

DEVIATIONS = [
    ("T.var(t([1e30,-1e30]))", ("float32", inf)),
    ("T.std(t([1e30,-1e30]))", ("float32", 1.414214e30)),
    ("T.std(t([1e30,-1e30,2e30]), unbiased=False)", ("float32", 1.247219e30)),
    ("T.std_mean(t([1e30,-1e30]))", [("float32", 1.414214e30), ("float32", 0.0)]),
    ("T.var_mean(t([1e30,-1e30]))", [("float32", inf), ("float32", 0.0)]),
    ("T.std(t([[1e30,-1e30],[1,2]]), 1)", ("float32", [1.414214e30, 0.7071068])),
    ("T.std(t([[1e30,-1e30],[1,2]]), 0)", ("float32", [7.071068e29, 7.071068e29])),
    ("T.var(t([[1e30,-1e30],[1,2]]), 1)", ("float32", [inf, 0.5])),
    ("T.std_mean(t([[1e30,-1e30],[1,2]]), 0)", [("float32", [7.071068e29, 7.071068e29]), ("float32", [5e29, -5e29])]),
    ("T.std(t([3e38,-3e38]))", ("float32", inf)),
    ("T.std_mean(t([3e38,-3e38]))", [("float32", inf), ("float32", 0.0)]),
    ("T.std(t([1e-30,-1e-30]))", ("float32", 1.414214e-30)),
    ("T.std(t([1e-30,-1e-30]), 0)", ("float32", 1.414214e-30)),
    ("T.std_mean(t([1e-30,-1e-30]), 0)", [("float32", 1.414214e-30), ("float32", 0.0)]),
    ("T.std(t([1e30,inf]))", ("float32", nan)),
    ("T.std(t([1e30,-1e30],dtype=T.bfloat16))", ("bfloat16", 1.416203e30)),
    ("T.var(t([1e18,-1e18]))", ("float32", 2e36)),
    ("T.std(t([1e25,-1e25,3e24,0.]))", ("float32", 8.301606e24)),
]

SELECTED = [
    ("T.kthvalue(t([2,1,2,1,2,1]),2)", [("int64", 1), ("int64", 3)]),
    ("T.kthvalue(t([2,1,2,1,2,1]),1)", [("int64", 1), ("int64", 5)]),
    ("T.kthvalue(t([2,1,2,1,2,1]),3)", [("int64", 1), ("int64", 1)]),
    ("T.kthvalue(t([2,1,2,1,2,1]),4)", [("int64", 2), ("int64", 0)]),
    ("T.kthvalue(t([2,1,2,1,2,1]),6)", [("int64", 2), ("int64", 2)]),
    ("T.kthvalue(t([1,1,1]),1)", [("int64", 1), ("int64", 1)]),
    ("T.kthvalue(t([1,1,1]),2)", [("int64", 1), ("int64", 0)]),
    ("T.kthvalue(t([1,1,1]),3)", [("int64", 1), ("int64", 2)]),
    ("T.kthvalue(t([nan,1,nan,2.]),3)", [("float32", nan), ("int64", 2)]),
    ("T.kthvalue(t([nan,1,nan,2.]),4)", [("float32", nan), ("int64", 0)]),
    ("T.kthvalue(t([[3,3,1,1,2,2,3,3]]),5)", [("int64", [3]), ("int64", [6])]),
    ("T.median(t([2,1,2,1,2,1]),0)", [("int64", 1), ("int64", 5)]),
    ("T.median(t([1,1,1]),0)", [("int64", 1), ("int64", 1)]),
    ("T.median(t([1,1,1,1]),0)", [("int64", 1), ("int64", 1)]),
    ("T.median(t([3,1,2,2,2,5,2]),0)", [("int64", 2), ("int64", 4)]),
    ("T.median(t([nan,1,nan,2.]),0)", [("float32", nan), ("int64", 0)]),
    ("T.median(t([1,nan,2.,nan]),0)", [("float32", nan), ("int64", 1)]),
    ("T.nanmedian(t([nan,1,nan,2.]),0)", [("float32", 1.0), ("int64", 1)]),
    ("T.nanmedian(t([nan,nan]),0)", [("float32", nan), ("int64", 0)]),
    ("T.nanmedian(t([nan,1,1,nan,2,2,1]),0)", [("float32", 1.0), ("int64", 6)]),
    ("T.median(t([[1,2],[1,2],[1,2]]),0)", [("int64", [1, 2]), ("int64", [1, 1])]),
    ("T.median(t([[1,2],[1,2],[1,2]]),1)", [("int64", [1, 1, 1]), ("int64", [0, 0, 0])]),
    ("T.median(t([3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3,2,3,8,4,6]),0)", [("int64", 5), ("int64", 4)]),
    ("T.kthvalue(t([3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3,2,3,8,4,6]),8)", [("int64", 3), ("int64", 17)]),
    ("T.median(T.zeros(100).long(),0)", [("int64", 0), ("int64", 49)]),
    ("T.kthvalue(T.zeros(100).long(),7)", [("int64", 0), ("int64", 73)]),
    ("T.median(t([]))", ("float32", nan)),
    ("T.median(t([],dtype=T.int64))", ("int64", -9223372036854775808)),
    ("T.median(t([],dtype=T.bool))", ("bool", True)),
    ("T.nanmedian(t([],dtype=T.int64))", ("int64", -9223372036854775808)),
    ("T.median(T.ones(0,3,dtype=T.int32))", ("int32", -2147483648)),
    (
        "T.median(T.ones(0,3),1)",
        [
            (
                "float32",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    ("T.median(t(3.))", ("float32", 3.0)),
    ("T.median(t(3.),0)", [("float32", 3.0), ("int64", 0)]),
    (
        "T.kthvalue(T.ones(0,3),1,1)",
        [
            (
                "float32",
                zeros(
                    0,
                ),
            ),
            (
                "int64",
                zeros(
                    0,
                ),
            ),
        ],
    ),
    ("T.kthvalue(t(3.),1)", [("float32", 3.0), ("int64", 0)]),
]

COUNTS = [
    (
        "T.bincount(T.ones(0,dtype=T.int64),T.ones(0))",
        (
            "int64",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.bincount(T.ones(0,dtype=T.int64),T.ones(0,dtype=T.float64))",
        (
            "int64",
            zeros(
                0,
            ),
        ),
    ),
    ("T.bincount(T.ones(0,dtype=T.int64),T.ones(0),minlength=3)", ("int64", [0, 0, 0])),
    ("T.bincount(T.ones(0,dtype=T.int64),T.ones(0,dtype=T.int32),minlength=3)", ("int64", [0, 0, 0])),
    ("T.bincount(T.ones(0,dtype=T.int64),minlength=3)", ("int64", [0, 0, 0])),
    (
        "T.bincount(T.ones(0,dtype=T.int64))",
        (
            "int64",
            zeros(
                0,
            ),
        ),
    ),
    ("T.bincount(t([1,1]),t([1,2]))", ("float64", [0.0, 3.0])),
    ("T.bincount(t([1,1]),t([1.,2],dtype=T.float16))", ("float64", [0.0, 3.0])),
    ("T.bincount(t([1,1],dtype=T.uint8),t([1.,2]))", ("float32", [0.0, 3.0])),
    (
        "T.bincount(T.ones(0,dtype=T.int64),T.ones(1))",
        (
            "int64",
            zeros(
                0,
            ),
        ),
    ),
    ("T.bincount(t([1,1]),t([True,True]))", ("float64", [0.0, 2.0])),
    ("T.histc(t([1.,2,3,4],dtype=T.float16),4)", ("float16", [1.0, 1.0, 1.0, 1.0])),
    ("T.histc(t([1.,2,3,4],dtype=T.bfloat16),4)", ("bfloat16", [1.0, 1.0, 1.0, 1.0])),
    ("T.histc(t([1.,2,3,4],dtype=T.float16),4,0,4)", ("float16", [0.0, 1.0, 1.0, 2.0])),
    ("T.histc(t([1.,2,3,nan]),4,0,3)", ("float32", [0.0, 1.0, 1.0, 1.0])),
    ("T.histc(t([]),4)", ("float32", [0.0, 0.0, 0.0, 0.0])),
    ("T.histc(t([2.,2,2]),4)", ("float32", [0.0, 0.0, 3.0, 0.0])),
    ("T.histc(t(2.),4)", ("float32", [0.0, 0.0, 1.0, 0.0])),
    ("T.histc(t([.1,.2,.3,.7,.9]),10,0,1)", ("float32", [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0])),
    ("T.histc(T.arange(3000,dtype=T.float32)/1000,3)", ("float32", [1000.0, 1000.0, 1000.0])),
]

LOSSES = [
    ("F.poisson_nll_loss(t([1,2]),t([1,2]))", ("float32", 2.553669)),
    ("F.poisson_nll_loss(t([1,2]),t([1.,2]))", ("float32", 2.553669)),
    ("F.poisson_nll_loss(t([1.,2]),t([1,2]))", ("float32", 2.553669)),
    ("F.poisson_nll_loss(t([1.,2]),t([1.,2],dtype=T.float64))", ("float64", 2.553669)),
    ("F.poisson_nll_loss(t([1.,2],dtype=T.float64),t([1.,2]))", ("float64", 2.553669)),
    ("F.poisson_nll_loss(t([1.,2],dtype=T.float16),t([1.,2],dtype=T.float16))", ("float16", 2.554688)),
    ("F.poisson_nll_loss(t([1.,2],dtype=T.float16),t([1.,2],dtype=T.float16),full=True)", ("float16", 2.880859)),
    ("F.poisson_nll_loss(t([1.,2],dtype=T.float16),t([1.,2]),full=True)", ("float32", 2.880591)),
    ("F.poisson_nll_loss(t([1.,2]),t([1,2]),full=True)", ("float32", 2.879572)),
    ("F.poisson_nll_loss(t([1.,2]),t([1,3]),full=True)", ("float32", 2.43571)),
    ("F.poisson_nll_loss(t([1.,2]),t([1.,3.],dtype=T.float64),full=True)", ("float64", 2.43571)),
    ("F.poisson_nll_loss(t([1,2]),t([1,3]),full=True)", ("float32", 2.43571)),
    ("F.poisson_nll_loss(t([1,2]),t([1,3]),log_input=False)", ("float32", 0.4602792)),
    ("F.poisson_nll_loss(t([1,2]),t([1,3]),log_input=False,full=True)", ("float32", 1.34232)),
    ("F.poisson_nll_loss(t([1.,2]),t([1,3]),log_input=False,full=True)", ("float32", 1.34232)),
    ("F.poisson_nll_loss(t([1.,2]),t([1.,3]),reduction='none')", ("float32", [1.718282, 1.389056])),
    (
        "F.poisson_nll_loss(t([1.,2]),t([1.,3],dtype=T.float64),reduction='none',full=True)",
        ("float64", [1.718282, 3.153138]),
    ),
    ("F.poisson_nll_loss(t([1.,2]),t([[1.,3]]))", ("float32", 1.553669)),
    (
        "F.poisson_nll_loss(t([1.,2],dtype=T.float16),t([1.,3]),reduction='none',full=True)",
        ("float32", [1.71875, 3.154706]),
    ),
    ("F.poisson_nll_loss(t([True,False]),t([1.,3]))", ("float32", 1.359141)),
    ("F.poisson_nll_loss(t([1.,3]),t([True,False]))", ("float32", 10.90191)),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0],dtype=T.float64))", ("float64", 1.220095)),
    ("F.binary_cross_entropy_with_logits(t([1.,2],dtype=T.float64),t([1.,0]))", ("float32", 1.220095)),
    ("F.binary_cross_entropy_with_logits(t([1.,2],dtype=T.float16),t([1.,0]))", ("float32", 1.220093)),
    ("F.binary_cross_entropy_with_logits(t([1.,2],dtype=T.float16),t([1.,0],dtype=T.float16))", ("float16", 1.219727)),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),weight=t([1.,2],dtype=T.float64))", ("float32", 2.283559)),
    (
        "F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),pos_weight=t([1.,2],dtype=T.float64))",
        ("float32", 1.220095),
    ),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),pos_weight=t([1,2]))", ("float32", 1.220095)),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),weight=t([1,2]))", ("float32", 2.283559)),
    (
        "F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0],dtype=T.float64),reduction='none')",
        ("float64", [0.3132617, 2.126928]),
    ),
    (
        "F.binary_cross_entropy_with_logits(t([inf,-inf,nan]),t([1.,0,0]),reduction='none')",
        ("float32", [nan, nan, nan]),
    ),
    (
        "F.binary_cross_entropy_with_logits(t([inf,-inf,200.,-200]),t([1.,0,0,1]),reduction='none')",
        ("float32", [nan, nan, 200.0, 200.0]),
    ),
    ("F.huber_loss(t([1.,2]),t([1,3]))", ("float32", 0.25)),
    ("F.huber_loss(t([1.,2]),t([1.,3],dtype=T.float64))", ("float32", 0.25)),
    ("F.hinge_embedding_loss(t([1.,2]),t([1,-1]))", ("float32", 0.5)),
    ("F.hinge_embedding_loss(t([1.,2]),t([1.,-1],dtype=T.float64))", ("float32", 0.5)),
    ("F.hinge_embedding_loss(t([1,2]),t([1,-1]),reduction='none')", ("int64", [1, 0])),
    ("F.hinge_embedding_loss(t([1.,2]),t([0,3]),reduction='none')", ("float32", [1.0, 2.0])),
    ("F.soft_margin_loss(t([1.,2]),t([1,-1]))", ("float32", 1.220095)),
    ("F.soft_margin_loss(t([1.,2]),t([1.,-1],dtype=T.float64))", ("float32", 1.220095)),
    ("F.soft_margin_loss(t([100.,2]),t([-1.,-1]),reduction='none')", ("float32", [inf, 2.126928])),
    (
        "F.soft_margin_loss(t([100.,2],dtype=T.float16),t([-1.,-1],dtype=T.float16),reduction='none')",
        ("float16", [inf, 2.126953]),
    ),
]

OLDER_REDUCTIONS = [
    ("F.l1_loss(t([1.,2]),t([1.,3]),size_average=0)", ("float32", 1.0)),
    ("F.l1_loss(t([1.,2]),t([1.,3]),size_average=False)", ("float32", 1.0)),
    ("F.l1_loss(t([1.,2]),t([1.,3]),size_average=True)", ("float32", 0.5)),
    ("F.l1_loss(t([1.,2]),t([1.,3]),size_average=1)", ("float32", 0.5)),
    ("F.l1_loss(t([1.,2]),t([1.,3]),reduce=0)", ("float32", [0.0, 1.0])),
    ("F.l1_loss(t([1.,2]),t([1.,3]),reduce=False)", ("float32", [0.0, 1.0])),
    ("F.mse_loss(t([1.,2]),t([1.,3]),size_average=0)", ("float32", 1.0)),
    ("F.mse_loss(t([1.,2]),t([1.,3]),reduce=0)", ("float32", [0.0, 1.0])),
    ("F.nll_loss(t([[1.,2],[3,4]]),t([1,0]),size_average=0)", ("float32", -5.0)),
    ("F.cross_entropy(t([[1.,2],[3,4]]),t([1,0]),size_average=0)", ("float32", 1.626523)),
    ("F.kl_div(t([1.,2]),t([1.,3]),size_average=0)", ("float32", -3.704163)),
    ("F.smooth_l1_loss(t([1.,2]),t([1.,3]),size_average=0)", ("float32", 0.5)),
    ("F.soft_margin_loss(t([1.,2]),t([1.,3]),size_average=0)", ("float32", 0.3157374)),
    ("F.binary_cross_entropy(t([.1,.2]),t([1.,0]),size_average=0)", ("float32", 2.525729)),
    ("F.binary_cross_entropy_with_logits(t([.1,.2]),t([1.,0]),size_average=0)", ("float32", 1.442536)),
    ("F.poisson_nll_loss(t([.1,.2]),t([1.,0]),size_average=0)", ("float32", 2.226574)),
    ("F.hinge_embedding_loss(t([.1,.2]),t([1.,-1]),size_average=0)", ("float32", 0.9)),
    ("F.margin_ranking_loss(t([.1,.2]),t([1.,-1]),t([1,1]),size_average=0)", ("float32", 0.9)),
    ("F.triplet_margin_loss(t([[1.,2],[3,4]]),t([[1.,3],[5,6]]),t([[1.,4],[8,9]]),size_average=0)", ("float32", 0.0)),
    ("F.cosine_embedding_loss(t([[1.,2],[2,1]]),t([[1.,3],[3,1]]),t([1,1]),size_average=0)", ("float32", 0.02010107)),
    ("F.multi_margin_loss(t([[1.,2],[2,1]]),t([1,1]),size_average=0)", ("float32", 1.0)),
    ("F.multilabel_soft_margin_loss(t([[1.,2],[2,1]]),t([[1.,0],[0,1]]),size_average=0)", ("float32", 2.44019)),
    ("T.nn.L1Loss(size_average=0)(t([1.,2]),t([1.,3]))", ("float32", 1.0)),
    ("T.nn.L1Loss(reduce=0)(t([1.,2]),t([1.,3]))", ("float32", [0.0, 1.0])),
    ("T.nn.MSELoss(0)(t([1.,2]),t([1.,3]))", ("float32", 1.0)),
    ("T.nn.MSELoss(0,1)(t([1.,2]),t([1.,3]))", ("float32", 1.0)),
    ('F.l1_loss(t([1.,2]),t([1.,3]),size_average="")', ("float32", 1.0)),
]

PLACED = [
    ("T.zeros(4).put(t([1,1,2]),t([1.,2,3]))", ("float32", [0.0, 2.0, 3.0, 0.0])),
    ("T.zeros(4).put(t([1,1,1]),t([1.,2,3]))", ("float32", [0.0, 3.0, 0.0, 0.0])),
    ("T.zeros(4).put(t([1,-3,1]),t([1.,2,3]),True)", ("float32", [0.0, 6.0, 0.0, 0.0])),
    ("T.zeros(4).put_(t([1,1,1]),t([1.,2,3]))", ("float32", [0.0, 3.0, 0.0, 0.0])),
    ("T.zeros(4).put(t([[1,1],[1,1]]),t([1.,2,3,4]))", ("float32", [0.0, 4.0, 0.0, 0.0])),
    ("T.zeros(2,2).t().put(t([1,1,1]),t([1.,2,3]))", ("float32", [[0.0, 3.0], [0.0, 0.0]])),
    ("T.zeros(4).put(t([],dtype=T.int64),t([]))", ("float32", [0.0, 0.0, 0.0, 0.0])),
    ("t(1.).put(t([0,0]),t([1.,2]))", ("float32", 2.0)),
    ("t(1.).put(t(0),t(2.))", ("float32", 2.0)),
    ("T.zeros(100).put(T.zeros(50,dtype=T.int64),T.arange(50.))[0]", ("float32", 49.0)),
]

WITHOUT_PRODUCT = [
    ("T.addmm(T.ones(2,2),T.full((2,2),nan),T.ones(2,2),alpha=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    ("T.addmv(T.ones(2),T.full((2,2),nan),T.ones(2),alpha=0)", ("float32", [1.0, 1.0])),
    ("T.addbmm(T.ones(2,2),T.full((2,2,2),nan),T.ones(2,2,2),alpha=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    ("T.addmm(T.ones(2),T.full((2,2),nan),T.ones(2,2),alpha=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    ("T.addmm(T.ones(2),T.full((2,2),nan),T.ones(2,2),alpha=0,beta=2)", ("float32", [[2.0, 2.0], [2.0, 2.0]])),
    ("T.addmm(T.full((2,2),nan),T.full((2,2),nan),T.ones(2,2),alpha=0,beta=0)", ("float32", [[0.0, 0.0], [0.0, 0.0]])),
    (
        "T.addmm(T.ones(2,2,dtype=T.float64),T.full((2,2),nan,dtype=T.float64),T.ones(2,2,dtype=T.float64),alpha=0)",
        ("float64", [[1.0, 1.0], [1.0, 1.0]]),
    ),
    (
        "T.addmm(T.ones(2,2,dtype=T.complex64),T.full((2,2),nan,dtype=T.complex64),T.ones(2,2,dtype=T.complex64),alpha=0)",
        ("complex64", [[complex(1.0, 0.0), complex(1.0, 0.0)], [complex(1.0, 0.0), complex(1.0, 0.0)]]),
    ),
    (
        "T.addmv(T.ones(2,dtype=T.float64),T.full((2,2),nan,dtype=T.float64),T.ones(2,dtype=T.float64),alpha=0)",
        ("float64", [1.0, 1.0]),
    ),
    ("T.addmv(T.full((2,),nan),T.full((2,2),nan),T.ones(2),alpha=0,beta=0)", ("float32", [0.0, 0.0])),
    (
        "T.addbmm(T.ones(2,2,dtype=T.float64),T.full((2,2,2),nan,dtype=T.float64),T.ones(2,2,2,dtype=T.float64),alpha=0)",
        ("float64", [[1.0, 1.0], [1.0, 1.0]]),
    ),
    ("T.addmm(T.ones(64,64),T.full((64,64),nan),T.ones(64,64),alpha=0)[0,0]", ("float32", 1.0)),
    ("T.addmm(T.ones(64,64),T.full((64,64),nan),T.ones(64,64).t(),alpha=0)[0,0]", ("float32", 1.0)),
    ("T.addmm(T.ones(2,2),T.ones(2,0),T.ones(0,2),alpha=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    ("T.ones(2,2).addmm_(T.full((2,2),nan),T.ones(2,2),alpha=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
]

DRAWN = [
    ("T.multinomial(t([.1,.2,.3,.4]),1,True)", ("int64", [2])),
    ("T.multinomial(t([.1,.2,.3,.4]),1)", ("int64", [2])),
    ("T.multinomial(t([.1,.2,.3,.4]),3)", ("int64", [2, 1, 3])),
    ("T.multinomial(t([.1,.2,.3,.4]),8,True)", ("int64", [3, 3, 2, 3, 3, 3, 1, 2])),
    ("T.multinomial(t([[.1,.2,.3,.4],[4,3,2,1]]),1,True)", ("int64", [[2], [2]])),
    ("T.multinomial(t([[.1,.2,.3,.4],[4,3,2,1]]),1)", ("int64", [[2], [2]])),
    ("T.multinomial(t([[.1,.2,.3,.4],[4,3,2,1]]),3,True)", ("int64", [[3, 3, 2], [3, 1, 2]])),
    ("T.multinomial(t([[.1,.2,.3,.4],[4,3,2,1]]),3)", ("int64", [[2, 1, 3], [2, 0, 3]])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.float64),8,True)", ("int64", [3, 3, 2, 3, 3, 3, 1, 2])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.float64),1,True)", ("int64", [2])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.float64),3)", ("int64", [2, 1, 3])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.float16),8,True)", ("int64", [3, 3, 2, 3, 3, 3, 1, 2])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.bfloat16),8,True)", ("int64", [3, 3, 2, 3, 3, 3, 1, 2])),
    ("T.multinomial(t([.1,.2,.3,.4],dtype=T.float16),1)", ("int64", [2])),
    (
        "T.multinomial(T.ones(40),20,True)",
        ("int64", [38, 28, 18, 36, 25, 31, 7, 14, 23, 11, 18, 7, 14, 24, 19, 17, 16, 8, 26, 31]),
    ),
    ("T.multinomial(T.ones(3,40),1,True)", ("int64", [[22], [18], [13]])),
    ("T.multinomial(T.ones(3,40),1)", ("int64", [[22], [18], [13]])),
    ("T.multinomial(t([0.,1,0]),2,True)", ("int64", [1, 1])),
    ("T.multinomial(t([0.,1,0]),2)", ("int64", [1, 0])),
    (
        "F.gumbel_softmax(T.zeros(2,3))",
        ("float32", [[0.1046508, 0.2984018, 0.5969475], [0.1973773, 0.4831247, 0.3194979]]),
    ),
    ("F.gumbel_softmax(T.zeros(2,3),hard=True)", ("float32", [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])),
    (
        "F.gumbel_softmax(T.zeros(2,3,dtype=T.float64))",
        ("float64", [[0.1046508, 0.2984018, 0.5969475], [0.1973773, 0.4831248, 0.3194979]]),
    ),
    ("T.empty(3).exponential_()", ("float32", [3.508326, 1.230385, 0.6150441])),
    (
        "T.empty(20).exponential_(2.)",
        (
            "float32",
            [
                1.754163,
                0.6151924,
                0.3075221,
                1.267559,
                0.5178527,
                0.7830644,
                0.0983763,
                0.2162442,
                0.4353492,
                0.1700044,
                0.3015334,
                0.09727776,
                0.2194593,
                0.4863052,
                0.3287437,
                0.2906245,
                0.2615179,
                0.1149825,
                0.5468693,
                0.7682655,
            ],
        ),
    ),
    ("T.empty(3,dtype=T.float64).exponential_()", ("float64", [3.508326, 1.230385, 0.6150441])),
]


@pytest.mark.parametrize(
    "text, want",
    TRAPEZOIDS + UNIQUE + DEVIATIONS + SELECTED + COUNTS + LOSSES + OLDER_REDUCTIONS + PLACED + WITHOUT_PRODUCT + DRAWN,
)
def test_values(text, want):
    check(evaluate(text), want)


def test_no_gradient_passes_a_factor_of_zero():
    mat = T.full((2, 2), 2.0, requires_grad=True)
    for result in (T.addmm(T.ones(2, 2), mat, T.ones(2, 2), alpha=0), T.addmv(T.ones(2), mat, T.ones(2), alpha=0)):
        (grad,) = T.autograd.grad(result.sum(), mat)
        assert grad.tolist() == [[0, 0], [0, 0]]


def test_deviations_of_very_large_and_small_numbers_have_gradients():
    for scale in (1e30, 1.0, 1e-25):
        x = T.tensor([1.0, -1.0, 2.5], dtype=T.float32) * scale
        x.requires_grad_()
        std, mean = T.std_mean(x)
        (grad,) = T.autograd.grad(std, x)
        # (x - mean) / ((n - 1) std)
        want = [(v - 0.8333333) / (2 * 1.7559423) for v in (1.0, -1.0, 2.5)]
        assert grad.tolist() == pytest.approx(want, rel=1e-5)


def test_gradient_of_sinc():
    for x in (0.0, 1e-4, 0.1, 0.159, 0.161, 0.7, 3.2):
        a = T.tensor(x, dtype=T.float64, requires_grad=True)
        (grad,) = T.autograd.grad(T.sinc(a), a)
        want = 0.0 if x == 0 else (math.cos(math.pi * x) - math.sin(math.pi * x) / (math.pi * x)) / x
        if x == 1e-4:
            want = -(math.pi**2) * x / 3
        assert grad.item() == pytest.approx(want, rel=1e-7, abs=1e-12)
    z = T.tensor([0.3 + 0.2j, 0.05 - 0.02j, 1.5 + 1j], dtype=T.complex128, requires_grad=True)
    assert T.autograd.gradcheck(T.sinc, (z,))


def test_warnings():
    with pytest.warns(UserWarning, match="required to pass the indexing argument"):
        T.meshgrid(T.ones(2), T.ones(3))
    with pytest.warns(UserWarning, match="mT is deprecated on 0-D"):
        T.tensor(1.0).mT
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        F.l1_loss(T.ones(2), T.zeros(2), size_average=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T.meshgrid(T.ones(2), T.ones(3), indexing="ij")


def test_wrong_masks():
    attention, x = T.nn.MultiheadAttention(4, 2, batch_first=True), T.ones(2, 3, 4)
    for error, text, masks in [
        (RuntimeError, r"2D attn_mask is .*\[2, 2\].*, but should be \(3, 3\)", {"attn_mask": T.ones(2, 2)}),
        (RuntimeError, r"but should be \(4, 3, 3\)", {"attn_mask": T.ones(3, 3, 3)}),
        (AssertionError, "`None`, 2-D or 3-D but found 1-D", {"attn_mask": T.ones(3)}),
        (
            AssertionError,
            "only bool and floating types of attn_mask are supported",
            {"attn_mask": T.ones(3, 3, dtype=T.int64)},
        ),
        (
            AssertionError,
            r"key_padded_mask.shape\[1\] to be 3, but got 2",
            {"key_padding_mask": T.ones(2, 2, dtype=T.bool)},
        ),
        (
            AssertionError,
            r"key_padded_mask.shape\[0\] to be 2, but got 3",
            {"key_padding_mask": T.ones(3, 3, dtype=T.bool)},
        ),
        (
            AssertionError,
            "only bool and floating types of key_padding_mask",
            {"key_padding_mask": T.ones(2, 3, dtype=T.int64)},
        ),
        (AssertionError, "`None` or 2-D but found 1-D", {"key_padding_mask": T.zeros(3, dtype=T.bool)}),
    ]:
        with pytest.raises(error, match=text):
            attention(x, x, x, **masks)
