"""Ranks as a grid of named dimensions, with a group for each line of it. Names and texts are those of torch.distributed."""

import math

import tenon
from tenon.distributed import distributed_c10d as dist

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """A grid of ranks. Along each dimension a rank has a group: those that differ from it in that coordinate alone.

    device_type: "cpu". mesh: the ranks, a tensor or nested lists. All ranks of the run make the same meshes in the
    same order, as groups are made. `mesh["name"]` is the rank's part of it with that dimension; a tuple of names,
    with these.
    """

    def __init__(
        self, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None, preserve_rank_order=False
    ):
        if mesh is None:
            raise TypeError("DeviceMesh: mesh is required, a tensor or nested lists of ranks")
        if backend_override is not None or preserve_rank_order:
            raise NotImplementedError("DeviceMesh: backend_override and preserve_rank_order")
        self.device_type = device_type
        self.mesh = mesh.to(tenon.int) if isinstance(mesh, tenon.Tensor) else tenon.tensor(mesh, dtype=tenon.int)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        if not dist.is_initialized():
            dist.init_process_group()
        world = dist.get_world_size()
        if self.mesh.numel() > world:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {world}, but found {self.mesh.numel()} ranks!"
            )
        self._groups = [self._group_of(dim) for dim in range(self.mesh.dim())]

    def _group_of(self, dim):
        """This rank's group along the dimension. Every rank makes all of them."""
        if self.mesh.dim() == 1 and self.mesh.numel() == dist.get_world_size():
            return dist.group.WORLD
        own, name = None, self.mesh_dim_names[dim] if self.mesh_dim_names else None
        for ranks in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.size(dim)).tolist():
            made = dist.new_group(ranks, group_desc=name and f"mesh_{name}")
            if dist.get_rank() in ranks:
                own = made
        return own

    @classmethod
    def _of_groups(cls, device_type, mesh, names, groups):
        made = cls.__new__(cls)
        made.device_type, made.mesh, made.mesh_dim_names, made._groups = device_type, mesh, names, groups
        return made

    @classmethod
    def from_group(cls, group, device_type, mesh=None, *, mesh_dim_names=None):
        """A mesh of groups that are there: one of one dimension from a group, one of several from a list and `mesh`."""
        groups = list(group) if isinstance(group, (list, tuple)) else [group]
        if mesh is None:
            if len(groups) != 1:
                raise ValueError("Must pass mesh if passing multiple ProcessGroups")
            mesh = dist.get_process_group_ranks(groups[0])
        mesh = tenon.tensor(mesh, dtype=tenon.int) if not isinstance(mesh, tenon.Tensor) else mesh.to(tenon.int)
        if mesh.dim() != len(groups):
            raise ValueError(
                f"Expects mesh with ndim equal to number of ProcessGroups but got mesh {mesh.tolist()} and "
                f"{len(groups)} ProcessGroups"
            )
        return cls._of_groups(device_type, mesh, tuple(mesh_dim_names) if mesh_dim_names else None, groups)

    @property
    def ndim(self):
        return self.mesh.dim()

    @property
    def shape(self):
        return tuple(self.mesh.shape)

    def size(self, mesh_dim=None):
        """How many ranks it has, altogether or along a dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(self._dim(mesh_dim))

    def get_rank(self):
        """The rank in the run."""
        return dist.get_rank()

    def get_coordinate(self):
        """The rank's place in the mesh; None if it is not in it."""
        found = (self.mesh == dist.get_rank()).nonzero().tolist()
        return tuple(found[0]) if found else None

    def get_local_rank(self, mesh_dim=None):
        """The rank's place along a dimension, which may be left out if there is one."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
            )
        place = self.get_coordinate()
        if place is None:
            raise AssertionError(f"rank {dist.get_rank()} is not in {self!r}")
        return place[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_group(self, mesh_dim=None):
        """The rank's group along a dimension, which may be left out if there is one."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        return self._groups[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_all_groups(self):
        """The rank's groups, one for each dimension."""
        return list(self._groups)

    def _dim(self, dim):
        if isinstance(dim, int):
            return dim
        if not self.mesh_dim_names or dim not in self.mesh_dim_names:
            names = list(self.mesh_dim_names or ())
            raise KeyError(f"Invalid mesh_dim_names {(dim,)} specified. Valid mesh_dim_names are {names}.")
        return self.mesh_dim_names.index(dim)

    def __getitem__(self, names):
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        if names == self.mesh_dim_names:
            return self
        dims = [self._dim(name) for name in names]
        place = self.get_coordinate() or (0,) * self.ndim
        index = tuple(slice(None) if dim in dims else place[dim] for dim in range(self.ndim))
        part = self.mesh[index].permute([sorted(dims).index(dim) for dim in dims])
        return self._of_groups(self.device_type, part, names, [self._groups[dim] for dim in dims])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __eq__(self, other):
        if not isinstance(other, DeviceMesh):
            return NotImplemented
        return (
            self.device_type == other.device_type
            and self.mesh_dim_names == other.mesh_dim_names
            and self.mesh.shape == other.mesh.shape
            and self.mesh.equal(other.mesh)
        )

    def __hash__(self):
        return hash((self.device_type, self.mesh_dim_names, self.shape, tuple(self.mesh.flatten().tolist())))

    def __repr__(self):
        if self.mesh_dim_names:
            shape = ", ".join(f"{name}={size}" for name, size in zip(self.mesh_dim_names, self.shape))
        else:
            shape = ", ".join(map(str, self.shape))
        return f"DeviceMesh(({shape}), '{self.device_type}', stride={self.mesh.stride()})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """The mesh of ranks 0, 1, ... in row-major order. Joins the run first if the program has not (init_process_group)."""
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! "
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    ranks = tenon.arange(math.prod(mesh_shape), dtype=tenon.int).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, backend_override=backend_override)
