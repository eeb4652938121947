"""Special functions, by PyTorch's names: ``special.expit(x)``."""

from tenon._C import _special

for _name in dir(_special):
    if _name.startswith("special_"):
        globals()[_name.removeprefix("special_")] = getattr(_special, _name)
