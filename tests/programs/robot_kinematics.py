"""roma's rotations and pytorch_kinematics' chains."""

import pytorch_kinematics as pk
import roma
import torch

torch.manual_seed(0)
quaternions = roma.quat_normalize(torch.randn(4, 4))
matrices = roma.unitquat_to_rotmat(quaternions)
print("matrices", roma.is_rotation_matrix(matrices, 1e-5), roma.rotmat_to_rotvec(matrices).tolist())
noisy = (matrices + 0.1 * torch.randn(4, 3, 3)).requires_grad_()
projected = roma.special_procrustes(noisy)
projected[:, 0].sum().backward()
print("procrustes", torch.det(projected).tolist(), noisy.grad.norm().item())
print("slerp", roma.unitquat_slerp(quaternions[0], quaternions[1], torch.tensor([0.0, 0.5, 1.0])).tolist())
print("euler", roma.rotmat_to_euler("xyz", matrices, degrees=True).tolist())
print(
    "distance",
    roma.rotmat_geodesic_distance(matrices[:2], matrices[2:]).tolist(),
    roma.rotmat_cosine_angle(matrices).tolist(),
)
points = torch.randn(10, 3)
rotation, translation = roma.rigid_points_registration(points, points @ matrices[0].T + 1.0)
print("registration", (rotation - matrices[0]).abs().max().item() < 1e-4, translation.tolist())
rigid = roma.Rigid(matrices, torch.randn(4, 3))
print("rigid", (rigid @ rigid.inverse()).translation.abs().max().item() < 1e-5, rigid.to_homogeneous().shape)
print("six", roma.special_gramschmidt(torch.randn(2, 3, 2)).det().tolist())

URDF = """<robot name="arm"><link name="base"/><link name="upper"/><link name="lower"/><link name="hand"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<origin xyz="0 0 0.1" rpy="0 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
<origin xyz="0.5 0 0" rpy="0 0 0.2"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="slide" type="prismatic"><parent link="lower"/><child link="hand"/><axis xyz="1 0 0"/>
<origin xyz="0.4 0 0" rpy="0 0.1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""
chain = pk.build_serial_chain_from_urdf(URDF, "hand")
joints = torch.tensor([[0.3, -0.4, 0.2], [0.0, 0.5, 0.1]], requires_grad=True)
pose = chain.forward_kinematics(joints).get_matrix()
pose[:, :3, 3].sum().backward()
print("pose", pose[0].tolist(), joints.grad.tolist())
print("jacobian", chain.jacobian(joints.detach()).tolist())
print("chain", chain.get_joint_parameter_names(), chain.get_joint_limits())
transform = pk.Transform3d(
    rot=pk.euler_angles_to_matrix(torch.tensor([0.1, 0.2, 0.3]), "XYZ"), pos=torch.tensor([1.0, 2.0, 3.0])
)
print(
    "transform",
    transform.compose(transform.inverse()).get_matrix().tolist(),
    transform.transform_points(points[:2]).tolist(),
)
inverse = pk.PseudoInverseIK(
    chain, max_iterations=20, num_retries=2, joint_limits=torch.tensor(chain.get_joint_limits()).T, regularlization=1e-2, early_stopping_any_converged=True,
    retry_configs=torch.tensor([[0.1, 0.1, 0.1], [0.0, 0.2, 0.3]]), lr=0.5,
)  # fmt: skip
solution = inverse.solve(pk.Transform3d(matrix=pose.detach()[:1]))
print("inverse", solution.solutions.shape, solution.err_pos.min().item() < 0.1)
