"""Each line with a remark is a mistake that mypy and pyright must find; the others are none."""

import tenon

x = tenon.ones(2)
x.relu(3)  # mistake
x.no_such_method()  # mistake
tenon.add(x)  # mistake
tenon.no_such_function(x)  # mistake
count: int = x.sum()  # mistake
x.requires_grad = "yes"  # mistake
name: str = x.shape[0]  # mistake
size: int = x.shape[0]
