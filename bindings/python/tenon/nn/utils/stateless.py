"""A module called with other tensors in the place of its parameters and buffers."""

import contextlib

__all__ = ["functional_call"]


def _owner(module, name):
    path, _, last = name.rpartition(".")
    for step in path.split(".") if path else ():
        module = getattr(module, step)
    return module, last


@contextlib.contextmanager
def _with_tensors(module, tensors, tie_weights):
    tables = []
    names = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    given = {name: value for name, value in tensors.items() if name in names}
    if tie_weights:
        by_id = {id(names[name]): value for name, value in given.items()}
        given |= {name: by_id[id(own)] for name, own in names.items() if name not in given and id(own) in by_id}
    try:
        for name, value in given.items():
            owner, last = _owner(module, name)
            table = owner._parameters if last in owner._parameters else owner._buffers
            tables.append((table, last, table[last]))
            table[last] = value
        yield
    finally:
        for table, last, before in reversed(tables):
            table[last] = before


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors, by their names in the state dict, in the place of the module's own.

    tie_weights: a tensor that the module has under several names is replaced under all of them.
    strict: RuntimeError unless there is a tensor for every name, and no other.
    """
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    if strict:
        names = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        names |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
        missing, unexpected = sorted(names - set(parameters_and_buffers)), sorted(set(parameters_and_buffers) - names)
        if missing or unexpected:
            texts = [f"Unexpected key(s): {', '.join(unexpected)}."] if unexpected else []
            texts += [f"Missing key(s): {', '.join(missing)}."] if missing else []
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(texts))
    with _with_tensors(module, parameters_and_buffers, tie_weights):
        return module(*args, **(kwargs or {}))
