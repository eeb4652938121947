"""Overloads as objects: names, identity, schemas."""

import copy

import torch

op = torch.ops.aten.add.Tensor
print(
    repr(op),
    str(op),
    op.__name__,
    op.name(),
    op.__module__,
    op.namespace,
    op.overloadpacket,
    op._overloadname,
    op._opname,
)
print(op is torch.ops.aten.add.Tensor, op.overloadpacket is torch.ops.aten.add, {op: 1}[torch.ops.aten.add.Tensor])
print(
    repr(torch.ops.aten.add),
    str(torch.ops.aten.add),
    torch.ops.aten.add.__name__,
    torch.ops.aten.add._qualified_op_name,
)
print(
    torch.ops.aten.mm.default.name(),
    torch.ops.aten.mm.default._schema,
    repr(torch.ops.aten.mm.default._schema.overload_name),
)
print([(a.name, str(a.type), a.kwarg_only, a.default_value, a.has_default_value()) for a in op._schema.arguments])
written = torch.ops.aten.add_.Tensor._schema
print([(a.alias_info.is_write, a.alias_info.before_set) for a in written.arguments if a.alias_info], written.is_mutable)
print(op(torch.ones(2), 1), op(torch.ones(2), torch.ones(2), alpha=3), torch.ops.aten.add(torch.ones(2), 1))
print(
    torch.ops.aten.view.default.is_view,
    op.is_view,
    isinstance(op, torch._ops.OpOverload),
    type(torch.ops.aten.add).__name__,
)
print(copy.deepcopy(op) is op, op.decompose(torch.ones(1), torch.ones(1)))
for name in ("Foo",):
    try:
        getattr(torch.ops.aten.add, name)
    except AttributeError as error:
        print(error)
try:
    torch.ops.nonsense.foo
except AttributeError as error:
    print(error)
print(torch.ops.aten.sum.dim_IntList(torch.ones(2, 2), [1], True), torch.ops.aten.split.Tensor(torch.ones(3), 2))
print(torch.overrides.resolve_name(op), torch.overrides.resolve_name(torch.ops.aten.add))
