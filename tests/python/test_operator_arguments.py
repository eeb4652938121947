"""Calls with complex and half tensors, with nothing, and with arguments of many kinds: what PyTorch 2.15 gives on a CPU, written down.

A case is as in operator_cases.py, or an expression and the error's type.
"""

import pytest
from operator_cases import check, evaluate, inf, nan, zeros

COMPLEX_AND_HALF = [
    (
        "T.corrcoef(t([[1+1j,2,3],[2,1j,3]]))",
        (
            "complex64",
            [
                [complex(1.0, 0.0), complex(0.1767767, 0.08838834)],
                [complex(0.1767767, -0.08838835), complex(0.9999999, 0.0)],
            ],
        ),
    ),
    ("T.corrcoef(t([1+1j,2,3]))", ("complex64", complex(1.0, 0.0))),
    ("T.corrcoef(t([1.,2,3]))", ("float32", 1.0)),
    ("T.corrcoef(t([[1,2,3],[3,2,2]]))", ("float32", [[1.0, -0.8660254], [-0.8660254, 1.0]])),
    ("T.corrcoef(T.ones(0))", ("float32", nan)),
    ("T.corrcoef(T.ones(2,0))", ("float32", [[nan, nan], [nan, nan]])),
    (
        "T.logcumsumexp(t([1+1j,2,3j]),0)",
        ("complex64", [complex(1.0, 1.0), complex(2.21357, 0.2527114), complex(2.108274, 0.2993842)]),
    ),
    (
        "T.logcumsumexp(t([1+1j,2,3j],dtype=T.complex128),0)",
        ("complex128", [complex(1.0, 1.0), complex(2.21357, 0.2527114), complex(2.108274, 0.2993842)]),
    ),
    (
        "T.logcumsumexp(t([complex(-inf,0),2,3j]),0)",
        ("complex64", [complex(-inf, 0.0), complex(2.0, 0.0), complex(1.856395, 0.02204965)]),
    ),
    (
        "T.logcumsumexp(t([complex(inf,0),2,3j]),0)",
        ("complex64", [complex(inf, 0.0), complex(inf, 0.0), complex(inf, 0.0)]),
    ),
    (
        "T.logcumsumexp(t([complex(nan,0),2,3j]),0)",
        ("complex64", [complex(nan, nan), complex(nan, nan), complex(nan, nan)]),
    ),
    (
        "T.logcumsumexp(t([2,complex(0,nan),3j]),0)",
        ("complex64", [complex(2.0, 0.0), complex(nan, nan), complex(nan, nan)]),
    ),
    (
        "T.logcumsumexp(t([2,complex(inf,1),3j]),0)",
        ("complex64", [complex(2.0, 0.0), complex(inf, 1.0), complex(inf, 1.0)]),
    ),
    (
        "T.logcumsumexp(t([2,complex(-inf,1),3j]),0)",
        ("complex64", [complex(2.0, 0.0), complex(2.0, 0.0), complex(1.856395, 0.02204965)]),
    ),
    ("T.logcumsumexp(t([inf,-inf,1.]),0)", ("float32", [inf, inf, inf])),
    (
        "T.nan_to_num(t([complex(nan,1),complex(1,inf),complex(-inf,nan)]))",
        ("complex64", [complex(0.0, 1.0), complex(1.0, 3.402823e38), complex(-3.402823e38, 0.0)]),
    ),
    (
        "T.nan_to_num(t([complex(nan,1),complex(1,inf),complex(-inf,nan)]),1.,2.,3.)",
        ("complex64", [complex(1.0, 1.0), complex(1.0, 2.0), complex(3.0, 1.0)]),
    ),
    (
        "t([complex(nan,1),complex(1,inf),complex(-inf,nan)]).nan_to_num_()",
        ("complex64", [complex(0.0, 1.0), complex(1.0, 3.402823e38), complex(-3.402823e38, 0.0)]),
    ),
    (
        "T.nan_to_num(t([complex(nan,1),complex(1,inf)],dtype=T.complex128))",
        ("complex128", [complex(0.0, 1.0), complex(1.0, 1.797693e308)]),
    ),
    ("T.nan_to_num(t([nan,inf,-inf],dtype=T.float16))", ("float16", [0.0, 65504.0, -65504.0])),
    ("T.nan_to_num(t([nan,inf,-inf],dtype=T.bfloat16))", ("bfloat16", [0.0, 3.389531e38, -3.389531e38])),
    ("T.nan_to_num(t([nan,inf,-inf]),nan=nan)", ("float32", [nan, 3.402823e38, -3.402823e38])),
    ("T.nan_to_num(t([nan,inf,-inf]),posinf=nan)", ("float32", [0.0, nan, -3.402823e38])),
    ("T.nan_to_num(t([nan,inf,-inf],dtype=T.float16),posinf=1e6)", ("float16", [0.0, inf, -65504.0])),
    ("T.nan_to_num(t([1,2]))", ("int64", [1, 2])),
    ("T.nan_to_num(t([True]))", ("bool", [True])),
    (
        "T.sinc(t([1+1j,0,.5,1e-4,.1j]))",
        (
            "complex64",
            [
                complex(-1.838039, -1.838039),
                complex(1.0, 0.0),
                complex(0.6366197, -0.0),
                complex(1.0, 0.0),
                complex(1.016531, 0.0),
            ],
        ),
    ),
    (
        "T.sinc(t([1+1j,0,.5],dtype=T.complex128))",
        ("complex128", [complex(-1.838039, -1.838039), complex(1.0, 0.0), complex(0.6366198, 0.0)]),
    ),
    ("T.special.sinc(t([1+1j]))", ("complex64", [complex(-1.838039, -1.838039)])),
    ("T.sinc(t([1,0]))", ("float32", [-2.782753e-08, 1.0])),
    (
        "T.cummax(T.ones(0,dtype=T.complex64),0)",
        [
            (
                "complex64",
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
        "T.cummin(T.ones(0,dtype=T.complex64),0)",
        [
            (
                "complex64",
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
    ("T.cummax(T.ones(0,2,dtype=T.complex64),0)", [("complex64", zeros(0, 2)), ("int64", zeros(0, 2))]),
    ("T.cummax(T.ones(0,2),1)", [("float32", zeros(0, 2)), ("int64", zeros(0, 2))]),
    ("T.nextafter(t([1.],dtype=T.float16),t([2.],dtype=T.float16))", ("float16", [1.000977])),
    (
        "T.nextafter(t([1.,0,0,-1,65504,inf,nan,1],dtype=T.float16),t([2.,1,-1,0,inf,0,1,1],dtype=T.float16))",
        ("float16", [1.000977, 5.960464e-08, -5.960464e-08, -0.9995117, inf, 65504.0, nan, 1.0]),
    ),
    (
        "T.nextafter(t([1.,0,0,-1,65504,inf,nan,1],dtype=T.bfloat16),t([2.,1,-1,0,inf,0,1,1],dtype=T.bfloat16))",
        ("bfloat16", [1.007812, 9.18355e-41, -9.18355e-41, -0.9960938, 66048.0, 3.389531e38, nan, 1.0]),
    ),
    (
        "T.nextafter(t([1.,0,0,-1,1],dtype=T.bfloat16),t([-2.,1,-1,-3,nan],dtype=T.bfloat16))",
        ("bfloat16", [0.9960938, 9.18355e-41, -9.18355e-41, -1.007812, nan]),
    ),
    ("T.nextafter(t([1.],dtype=T.bfloat16),t([2.],dtype=T.float16))", ("float32", [1.0])),
    ("T.nextafter(t([0.,-0.],dtype=T.bfloat16),t([-0.,0.],dtype=T.bfloat16)).signbit()", ("bool", [True, False])),
]

NOTHING = [
    ("t(1+1j).mH", ("complex64", complex(1.0, -1.0))),
    ("t(1+1j).adjoint()", ("complex64", complex(1.0, -1.0))),
    (
        "T.cat([T.empty(0),T.empty(0)],1)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.cat([T.empty(0),T.empty(0)],5)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.cat([T.empty(0)],1)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.cat([T.empty(0),T.ones(2,2)],1)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    (
        "T.cat([T.empty(0),T.empty(0)],-1)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.hstack([T.empty(0),T.empty(0)])",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("t(1.).mT", ("float32", 1.0)),
    ("T.roll(T.arange(4),1,dims=None)", ("int64", [3, 0, 1, 2])),
    ("T.roll(T.arange(4),1,None)", ("int64", [3, 0, 1, 2])),
    ("T.roll(T.arange(4),(1,),None)", ("int64", [3, 0, 1, 2])),
    ("T.arange(4).roll(1,None)", ("int64", [3, 0, 1, 2])),
    ("T.roll(T.arange(4).view(2,2),1,dims=None)", ("int64", [[3, 0], [1, 2]])),
    ("T.roll(T.arange(4),(1,2),(0,0))", ("int64", [1, 2, 3, 0])),
    (
        "T.softmax(T.ones(0,dtype=T.int64),0)",
        (
            "int64",
            zeros(
                0,
            ),
        ),
    ),
    ("T.softmax(T.ones(0,3,dtype=T.int64),0)", ("int64", zeros(0, 3))),
    (
        "T.log_softmax(T.ones(0,dtype=T.int32),0)",
        (
            "int32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.softmax(T.ones(0,dtype=T.bool),0)",
        (
            "bool",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.softmax(T.ones(0),0)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("F.softmax(T.ones(0,2,dtype=T.int64),-1)", ("int64", zeros(0, 2))),
    (
        "T.take_along_dim(T.ones(0),T.ones(0,dtype=T.int64),0)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.take_along_dim(T.ones(0,3),T.ones(0,3,dtype=T.int64),0)", ("float32", zeros(0, 3))),
    ("T.take_along_dim(T.ones(0,3),T.ones(0,3,dtype=T.int64),1)", ("float32", zeros(0, 3))),
    ("T.take_along_dim(T.ones(0,3),T.ones(1,3,dtype=T.int64),1)", ("float32", zeros(0, 3))),
    ("T.take_along_dim(T.ones(2,3),T.ones(0,3,dtype=T.int64),0)", ("float32", zeros(0, 3))),
    ("T.take_along_dim(T.ones(2,3),T.ones(2,0,dtype=T.int64),1)", ("float32", [[], []])),
    ("T.take_along_dim(T.ones(2,3),T.ones(1,0,dtype=T.int64),1)", ("float32", [[], []])),
    ("T.take_along_dim(T.ones(0,3),T.ones(0,1,dtype=T.int64),0)", ("float32", zeros(0, 3))),
    ("T.take_along_dim(T.ones(2,0),T.ones(1,0,dtype=T.int64),0)", ("float32", [[]])),
    ("T.take_along_dim(T.ones(2,0),T.ones(2,1,dtype=T.int64),0)", ("float32", [[], []])),
    (
        "T.take_along_dim(T.ones(0),T.ones(0,dtype=T.int64))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    (
        "T.take_along_dim(T.ones(2,1,3),T.zeros(1,4,3,dtype=T.int64),2)",
        (
            "float32",
            [
                [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
                [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
            ],
        ),
    ),
    ("T.view_copy(T.arange(6.).view(2,3).t(),(6,))", ("float32", [0.0, 3.0, 1.0, 4.0, 2.0, 5.0])),
    ("T.view_copy(T.arange(6.).view(2,3).t(),(2,3))", ("float32", [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]])),
    ("T.view_copy(T.arange(6.).view(2,3),(3,2))", ("float32", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])),
]

ALLOWED = [
    ("T.addr(T.ones(2,2),T.full((2,),nan),T.ones(2),alpha=0)", ("float32", [[nan, nan], [nan, nan]])),
    ("T.all(t([True]),out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.all(t([1],dtype=T.uint8),out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.all(t([1],dtype=T.uint8),out=T.empty((),dtype=T.bool))", ("bool", True)),
    ("T.all(t([1]),out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.any(t([1]),out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.any(t([1],dtype=T.uint8),0,out=T.empty((),dtype=T.bool))", ("bool", True)),
    ("T.any(t([1.]),0,out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.all(t([[True]]),(0,1),out=T.empty((),dtype=T.uint8))", ("uint8", 1)),
    ("T.cumsum(t([1.,2]),0,dtype=T.float64,out=T.empty(2,dtype=T.float64))", ("float64", [1.0, 3.0])),
    ("T.nanmean(t([1.,2]),0,out=T.empty((),dtype=T.float64))", ("float64", 1.5)),
    ("T.addr(T.ones(2,2),T.ones(2),T.ones(2),out=T.empty(2,2,dtype=T.float64))", ("float64", [[2.0, 2.0], [2.0, 2.0]])),
    ("T.diff(T.ones(2),out=T.empty(1,dtype=T.float64))", ("float64", [0.0])),
    (
        "T.addr(T.ones(2,2,dtype=T.int64),T.ones(2,dtype=T.int64),T.ones(2,dtype=T.int64),beta=2)",
        ("int64", [[3, 3], [3, 3]]),
    ),
    (
        "T.addr(T.ones(2,2,dtype=T.int64),T.ones(2),T.ones(2,dtype=T.int64),beta=2.)",
        ("float32", [[3.0, 3.0], [3.0, 3.0]]),
    ),
    ("T.addr(T.ones(2,2,dtype=T.int64),T.ones(2),T.ones(2,dtype=T.int64))", ("float32", [[2.0, 2.0], [2.0, 2.0]])),
    (
        "T.addr(T.ones(2,2,dtype=T.bool),T.ones(2,dtype=T.bool),T.ones(2,dtype=T.bool))",
        ("bool", [[True, True], [True, True]]),
    ),
    (
        "T.addr(T.ones(2,2,dtype=T.bool),T.ones(2,dtype=T.bool),T.ones(2,dtype=T.bool),beta=2)",
        ("bool", [[True, True], [True, True]]),
    ),
    (
        "T.addr(T.ones(2,2,dtype=T.bool),T.ones(2,dtype=T.bool),T.ones(2,dtype=T.bool),beta=False)",
        ("bool", [[True, True], [True, True]]),
    ),
    ("T.addr(T.ones(2,2),T.ones(2,dtype=T.float64),T.ones(2))", ("float64", [[2.0, 2.0], [2.0, 2.0]])),
    ("T.addr(T.full((2,2),nan),T.ones(2),T.ones(2),beta=0)", ("float32", [[1.0, 1.0], [1.0, 1.0]])),
    ("T.ones(2,dtype=T.int64).index_fill(0,t([0]),1.5)", ("int64", [1, 1])),
    ("T.ones(2,dtype=T.complex64).index_fill(0,t([0]),1j)", ("complex64", [complex(0.0, 1.0), complex(1.0, 0.0)])),
    ("T.ones(2,dtype=T.int64).index_fill(0,t([0]),t(1.5))", ("int64", [1, 1])),
    ("T.ones(2).index_fill(0,t(0),1.)", ("float32", [1.0, 1.0])),
    ("F.cosine_similarity(T.ones(2,2,dtype=T.int64),T.ones(2,2))", ("float32", [0.9999999, 0.9999999])),
    ("F.cosine_similarity(T.ones(2,2,dtype=T.bool),T.ones(2,2))", ("float32", [0.9999999, 0.9999999])),
    ("F.cosine_similarity(T.ones(2,2),T.ones(2,2,dtype=T.float64))", ("float64", [1.0, 1.0])),
    ("F.cosine_similarity(T.ones(2),T.ones(2),dim=0)", ("float32", 0.9999999)),
    ("F.cosine_similarity(t(1.),t(2.),dim=0)", ("float32", 1.0)),
    (
        "F.cosine_similarity(T.ones(0,2),T.ones(0,2))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("F.cosine_similarity(T.ones(2,0),T.ones(2,0))", ("float32", [0.0, 0.0])),
    ("T.cross(T.ones(3,dtype=T.uint8),T.arange(3,dtype=T.uint8))", ("uint8", [1, 254, 1])),
    ("T.linalg.cross(T.ones(2,3),T.ones(1,3))", ("float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])),
    ("T.cross(T.ones(0,3),T.ones(0,3))", ("float32", zeros(0, 3))),
    ("T.cross(T.ones(3,0),T.ones(3,0))", ("float32", [[], [], []])),
    ("T.cross(T.ones(3,3),T.ones(3,3))", ("float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])),
    (
        "F.pad(T.ones(3),(-2,-1))",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("F.pad(T.ones(3,2),(-2,0,-3,0))", ("float32", zeros(0, 0))),
    ("F.pad(T.ones(0),(1,1))", ("float32", [0.0, 0.0])),
    ("T.constant_pad_nd(T.ones(3),(-3,4),2.)", ("float32", [2.0, 2.0, 2.0, 2.0])),
    ("T.diff(T.ones(3),prepend=T.ones(2,dtype=T.float64))", ("float64", [0.0, 0.0, 0.0, 0.0])),
    ("T.diff(T.ones(3),prepend=T.ones(1,dtype=T.int64))", ("float32", [0.0, 0.0, 0.0])),
    ("T.diff(T.ones(2,3),prepend=T.ones(2,2))", ("float32", [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])),
    ("T.diff(T.ones(2,3),n=0,prepend=T.ones(2,1))", ("float32", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])),
    ("T.diff(T.ones(2,3),n=0)", ("float32", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])),
    ("T.diff(T.ones(3),append=T.ones(0))", ("float32", [0.0, 0.0])),
    (
        "T.diff(T.ones(1),n=3)",
        (
            "float32",
            zeros(
                0,
            ),
        ),
    ),
    ("T.diff(t([1,5],dtype=T.uint8))", ("uint8", [4])),
    ("T.diff(t([5,1],dtype=T.uint8))", ("uint8", [252])),
    ("T.diff(t([True,False]))", ("bool", [True])),
    ("T.isin(t([1,2]),t([1.,5]))", ("bool", [True, False])),
    ("T.isin(t([1,2]),1.)", ("bool", [True, False])),
    ("T.isin(t([1,2]),t([]))", ("bool", [False, False])),
    ("T.isin(t([1.,nan]),t([nan]))", ("bool", [False, False])),
    ("T.isin(1,t([1,2]))", ("bool", True)),
    ("T.isin(t(1),t([1,2]))", ("bool", True)),
    ("T.isin(t([1.],dtype=T.float16),t([1.]))", ("bool", [True])),
    ("T.isin(t([1.],dtype=T.bfloat16),t([1.],dtype=T.bfloat16))", ("bool", [True])),
    ("T.norm(T.ones(2),dtype=T.float64)", ("float64", 1.414214)),
    ("T.norm(T.ones(2,dtype=T.complex64),dtype=T.complex64)", ("float32", 1.414214)),
    ("T.norm(T.ones(2,dtype=T.complex64),dtype=T.complex128)", ("float64", 1.414214)),
    ("T.linalg.vector_norm(T.ones(2),dtype=T.float64)", ("float64", 1.414214)),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.complex64),dtype=T.complex128)", ("float64", 1.414214)),
    ("T.norm(T.ones(2,2),'nuc',dtype=T.float64)", ("float64", 2.0)),
    ("T.pow(t([2],dtype=T.uint8),255)", ("uint8", [0])),
    ("T.pow(t([2],dtype=T.int8),127)", ("int8", [0])),
    ("T.pow(t([2],dtype=T.int8),300.)", ("float32", [inf])),
    ("T.pow(t([2],dtype=T.int8),2.)", ("float32", [4.0])),
    ("T.pow(t([2.]),1e300)", ("float32", [inf])),
    ("T.nanmean(t([1.,nan]))", ("float32", 1.0)),
    ("T.nanmean(t([]))", ("float32", nan)),
    ("T.nanmean(t([1.,nan],dtype=T.float16))", ("float16", 1.0)),
]

REFUSED = [
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(3.).view(3,1))", RuntimeError),
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(4.), dim=0)", RuntimeError),
    ("T.trapezoid(T.arange(12.).view(3,4), T.arange(1.))", RuntimeError),
    ("T.trapezoid(T.arange(4.), T.arange(12.).view(3,4))", RuntimeError),
    ("T.trapezoid(T.arange(4.), T.arange(12.).view(3,4), dim=0)", RuntimeError),
    ("T.trapezoid(t(1.))", IndexError),
    ("T.unique_consecutive(T.ones(2,0), return_inverse=True, return_counts=True, dim=0)", RuntimeError),
    ("T.unique_consecutive(t(3.), return_inverse=True, return_counts=True, dim=0)", IndexError),
    ("T.unique_consecutive(T.ones(0,3), return_inverse=True, return_counts=True, dim=1)", RuntimeError),
    ("T.unique_consecutive(T.ones(0,0), return_inverse=True, return_counts=True, dim=1)", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1,0]))", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1,2]),t([1,0]))", NotImplementedError),
    ("F.binary_cross_entropy_with_logits(t([1,2]),t([1.,0]))", NotImplementedError),
    ("F.binary_cross_entropy_with_logits(t([1.,2],dtype=T.float16),t([1,0]))", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([True,False]))", NotImplementedError),
    ("F.binary_cross_entropy_with_logits(t([True,False]),t([1.,2]))", NotImplementedError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),weight=t([[1.,2],[3,4]]))", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),weight=t([[1.,2]]))", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([1.,0]),pos_weight=t([[1.,2],[3,4]]))", RuntimeError),
    ("F.binary_cross_entropy_with_logits(t([1.,2]),t([[1.,0]]))", ValueError),
    ("F.binary_cross_entropy_with_logits(t([1.+1j,2]),t([1.,0]))", NotImplementedError),
    ("T.all(t([True]),out=T.empty((),dtype=T.float32))", RuntimeError),
    ("T.all(t([True]),out=T.empty((),dtype=T.int64))", RuntimeError),
    ("T.any(t([1]),out=T.empty((),dtype=T.int32))", RuntimeError),
    ("T.any(t([True]),0,out=T.empty((),dtype=T.float32))", RuntimeError),
    ("T.any(t([True]),(0,),out=T.empty((),dtype=T.float32))", RuntimeError),
    ("T.nonzero(t([1.,2]),out=T.empty(0,dtype=T.float32))", RuntimeError),
    ("T.nonzero(t([1.,2]),out=T.empty(0,dtype=T.int32))", RuntimeError),
    ("T.norm(t([1.,2]),2,0,out=T.empty((),dtype=T.float64))", RuntimeError),
    ("T.isin(T.ones(2),T.ones(2),out=T.empty(2))", RuntimeError),
    ("T.addr(T.ones(2,2,dtype=T.int64),T.ones(2,dtype=T.int64),T.ones(2,dtype=T.int64),beta=2.)", RuntimeError),
    ("T.addr(T.ones(2,2,dtype=T.int64),T.ones(2,dtype=T.int64),T.ones(2,dtype=T.int64),alpha=2.)", RuntimeError),
    ("T.addr(T.ones(2,2,dtype=T.bool),T.ones(2,dtype=T.bool),T.ones(2,dtype=T.bool),alpha=0.)", RuntimeError),
    ("T.addr(T.ones(2,2),T.ones(2),T.ones(2),beta=1j)", RuntimeError),
    ("T.ones(2,dtype=T.bool).index_fill(0,t([0]),1j)", RuntimeError),
    ("T.ones(2).index_fill(0,t([0]),1j)", RuntimeError),
    ("T.ones(2).index_fill(0,t([0]),t(1j))", RuntimeError),
    ("T.ones(2,dtype=T.bool).index_fill(0,t([0]),t(1j))", RuntimeError),
    ("T.ones(2).index_fill(0,t([0],dtype=T.int32),1.)", IndexError),
    ("T.ones(2).index_fill(0,t([0],dtype=T.int32),t(1.))", IndexError),
    ("T.ones(2).index_fill_(0,t([0],dtype=T.int32),1.)", IndexError),
    ("T.ones(2).index_fill(0,t([0],dtype=T.uint8),1.)", IndexError),
    ("T.ones(2).index_fill(0,t([True]),1.)", IndexError),
    ("T.ones(2).index_fill(0,t([0.]),1.)", IndexError),
    ("T.ones(2).index_fill(0,t([[0]]),1.)", RuntimeError),
    ("T.ones(2).index_fill(0,t([5]),1.)", IndexError),
    ("x=T.ones(3);;x.index_add_(0,t([0,1,2]),x)", RuntimeError),
    ("x=T.ones(3);;x.index_add_(0,t([0,1]),x[1:])", RuntimeError),
    ("x=T.ones(3);;x.scatter_add_(0,t([0,1,2]),x)", RuntimeError),
    ("x=T.ones(3);;x.scatter_(0,t([0,1,2]),x)", RuntimeError),
    ("x=T.arange(3);;x.index_add_(0,x,T.ones(3,dtype=T.int64))", RuntimeError),
    ("x=T.arange(3);;x.index_fill_(0,x,7)", RuntimeError),
    ("x=T.arange(3);;x.scatter_(0,x,7)", RuntimeError),
    ("F.cosine_similarity(T.ones(2,2,dtype=T.complex64),T.ones(2,2,dtype=T.complex64))", RuntimeError),
    ("F.cosine_similarity(T.ones(2,2),T.ones(2,2,dtype=T.complex64))", RuntimeError),
    ("F.cosine_similarity(T.ones(2,2,dtype=T.int64),T.ones(2,2,dtype=T.int64))", RuntimeError),
    ("F.cosine_similarity(T.ones(2,2),T.ones(2,2),dim=2)", IndexError),
    ("T.cross(T.ones(3),T.ones(3,dtype=T.float64))", RuntimeError),
    ("T.cross(T.ones(3),T.ones(3,dtype=T.int64))", RuntimeError),
    ("T.linalg.cross(T.ones(3),T.ones(3,dtype=T.float64))", RuntimeError),
    ("T.cross(T.ones(3,dtype=T.bool),T.ones(3,dtype=T.bool))", NotImplementedError),
    ("T.cross(T.ones(2,3),T.ones(3))", RuntimeError),
    ("T.cross(t(1.),t(1.))", RuntimeError),
    ("T.cross(T.ones(2,3),T.ones(2,3),out=T.empty(2,3,dtype=T.float64))", RuntimeError),
    ("F.pad(T.ones(3),(-2,-2))", RuntimeError),
    ("F.pad(T.ones(3),(-4,1))", RuntimeError),
    ("F.pad(T.ones(3),(-4,2))", RuntimeError),
    ("F.pad(T.ones(3),(-4,4))", RuntimeError),
    ("F.pad(T.ones(3),(4,-5))", RuntimeError),
    ("F.pad(T.ones(3),(1,-4))", RuntimeError),
    ("F.pad(T.ones(3,2),(-3,1))", RuntimeError),
    ("F.pad(T.ones(0),(-1,2))", RuntimeError),
    ("T.constant_pad_nd(T.ones(3),(-4,4),2.)", RuntimeError),
    ("T.constant_pad_nd(T.ones(3),(4,-4),2.)", RuntimeError),
    ("T.diff(T.ones(3),prepend=T.ones(1,1))", RuntimeError),
    ("T.diff(T.ones(2,3),prepend=T.ones(1,1))", RuntimeError),
    ("T.diff(T.ones(2,3),prepend=T.ones(3,1))", RuntimeError),
    ("T.diff(T.ones(2,3),prepend=T.ones(0))", RuntimeError),
    ("T.diff(T.ones(2,3),n=0,prepend=T.ones(3,1))", RuntimeError),
    ("T.diff(T.ones(3),prepend=t(1.))", RuntimeError),
    ("T.diff(T.ones(3),append=t(1.))", RuntimeError),
    ("T.diff(t(1.))", RuntimeError),
    ("T.isin(t([True,False]),t([True]))", NotImplementedError),
    ("T.isin(t([True,False]),True)", NotImplementedError),
    ("T.isin(True,t([True]))", NotImplementedError),
    ("T.isin(t([1,0]),t([True]))", NotImplementedError),
    ("T.isin(t([True]),t([1,0]))", NotImplementedError),
    ("T.isin(t([1.]),True)", NotImplementedError),
    ("T.isin(t([True]),T.ones(0,dtype=T.bool))", NotImplementedError),
    ("T.isin(t([1+1j]),t([1+1j]))", NotImplementedError),
    ("T.isin(1,2)", TypeError),
    ("T.norm(T.ones(2,dtype=T.float64),dtype=T.float32)", RuntimeError),
    ("T.norm(T.ones(2),dtype=T.float16)", RuntimeError),
    ("T.norm(T.ones(2),2,0,dtype=T.float16)", RuntimeError),
    ("T.norm(T.ones(2),dtype=T.int64)", RuntimeError),
    ("T.norm(T.ones(2,dtype=T.complex64),dtype=T.float32)", RuntimeError),
    ("T.norm(T.ones(2),dtype=T.complex64)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.float64),dtype=T.float32)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2),dtype=T.complex64)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.complex64),dtype=T.float32)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.complex128),dtype=T.complex64)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2),dtype=T.bfloat16)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.float16),dtype=T.bfloat16)", RuntimeError),
    ("T.linalg.vector_norm(T.ones(2,dtype=T.int64),dtype=T.float32)", NotImplementedError),
    ("T.linalg.norm(T.ones(2,dtype=T.float64),dtype=T.float32)", RuntimeError),
    ("T.linalg.norm(T.ones(2,2,dtype=T.float64),dtype=T.float32)", RuntimeError),
    ("T.linalg.norm(T.ones(2,2),1,dtype=T.float16)", RuntimeError),
    ("T.linalg.matrix_norm(T.ones(2,2),dtype=T.float16)", RuntimeError),
    ("T.linalg.matrix_norm(T.ones(2,2),1,dtype=T.float16)", RuntimeError),
    ("T.norm(T.ones(2,2),'fro',dtype=T.float16)", RuntimeError),
    ("T.norm(T.ones(2,dtype=T.int64))", NotImplementedError),
    ("T.norm(T.ones(2,dtype=T.int64),dtype=T.float32)", NotImplementedError),
    ("T.pow(t([2],dtype=T.int8),300)", RuntimeError),
    ("T.pow(t([2],dtype=T.uint8),300)", RuntimeError),
    ("T.pow(t([2],dtype=T.int8),128)", RuntimeError),
    ("T.pow(t([2],dtype=T.int8),-1)", RuntimeError),
    ("T.pow(t([2],dtype=T.int16),40000)", RuntimeError),
    ("T.pow(t([2],dtype=T.int32),2**40)", RuntimeError),
    ("T.pow(t([2.],dtype=T.float16),100000)", RuntimeError),
    ("T.pow(t([1.],dtype=T.float16),1e6)", RuntimeError),
    ("T.nanmean(t([1,2]))", NotImplementedError),
    ("T.nanmean(t([True]))", NotImplementedError),
    ("T.nanmean(t([1,2]),dtype=T.float32)", NotImplementedError),
    ("T.nanmean(t([1+1j]))", NotImplementedError),
    ("T.nanmean(t([1.,nan]),dtype=T.int64)", RuntimeError),
    ("T.cumsum(t([1.,2]),0,dtype=T.float64,out=T.empty(2))", RuntimeError),
    ("T.cumprod(t([1.,2]),0,dtype=T.float64,out=T.empty(2))", RuntimeError),
    ("T.sum(t([1.,2]),0,dtype=T.float64,out=T.empty(()))", RuntimeError),
    ("T.mean(t([1.,2]),0,dtype=T.float64,out=T.empty(()))", RuntimeError),
    ("T.prod(t([1.,2]),0,dtype=T.float64,out=T.empty(()))", RuntimeError),
    ("T.softmax(t([1.,2]),0,dtype=T.float64,out=T.empty(2))", RuntimeError),
    ("T.argmax(t([1.,2]),0,out=T.empty((),dtype=T.int32))", RuntimeError),
    ("T.max(t([1.,2]),0,out=(T.empty(()),T.empty((),dtype=T.int32)))", RuntimeError),
    ("T.max(t([1.,2]),0,out=(T.empty((),dtype=T.float64),T.empty((),dtype=T.int64)))", RuntimeError),
    ("T.sort(t([1.,2]),0,out=(T.empty(2),T.empty(2,dtype=T.int32)))", RuntimeError),
    ("T.median(t([1.,2]),0,out=(T.empty((),dtype=T.float64),T.empty((),dtype=T.int64)))", RuntimeError),
    ("T.cummax(t([1.,2]),0,out=(T.empty(2),T.empty(2,dtype=T.int32)))", RuntimeError),
]


@pytest.mark.parametrize("text, want", COMPLEX_AND_HALF + NOTHING + ALLOWED)
def test_values(text, want):
    check(evaluate(text), want)


@pytest.mark.parametrize("text, error", REFUSED)
def test_errors(text, error):
    with pytest.raises(error):
        evaluate(text)
