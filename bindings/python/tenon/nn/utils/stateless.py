"""A module called with other tensors in the place of its parameters and buffers."""

import contextlib

__all__ = ["functional_call"]


def _places(module):
    """{name: (the dict of its module that holds it, its key there)} of parameters and buffers."""
    places = {}
    for path, part in module.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        for table in (part._parameters, part._buffers):
            for key, value in table.items():
                if value is not None:
                    places[prefix + key] = table, key
    return places


@contextlib.contextmanager
def _with_tensors(module, tensors, tie_weights):
    places = _places(module)
    given = {name: value for name, value in tensors.items() if name in places}
    if tie_weights and len(given) < len(places):
        own = {name: table[key] for name, (table, key) in places.items()}
        by_id = {id(own[name]): value for name, value in given.items()}
        given |= {name: by_id[id(value)] for name, value in own.items() if name not in given and id(value) in by_id}
    before = []
    try:
        for name, value in given.items():
            table, key = places[name]
            before.append((name, table, key, table[key]))
            table[key] = value
        yield
    finally:
        for name, table, key, value in reversed(before):
            if name in tensors and table.get(key) is not tensors[name] and table.get(key) is not None:
                tensors[name] = table[key]  # forward assigned another
            table[key] = value


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
