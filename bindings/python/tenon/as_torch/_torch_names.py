"""The modules of PyTorch 2.15.0 and the names in them, written by bindings/python/torch_names.py.

A module's name begins a line. Below it are the names that it defines, and after `module:` those that it has from there.
A name of a value, which is neither a class nor a function, ends with `=`.
"""

# Packages whose names are not listed.
OPAQUE = """
torch._C._acc torch._C._aoti torch._C._autograd torch._C._cpu torch._C._cudart torch._C._cudnn torch._C._cusparselt
torch._C._distributed torch._C._distributed_autograd torch._C._distributed_c10d torch._C._distributed_rpc
torch._C._dynamo torch._C._dynamo.autograd_compiler torch._C._dynamo.eval_frame torch._C._dynamo.guards
torch._C._dynamo.utils torch._C._export torch._C._export.pt2_archive_constants torch._C._fft
torch._C._functionalization torch._C._functorch torch._C._instruction_counter torch._C._itt torch._C._jit
torch._C._jit_tree_views torch._C._lazy torch._C._lazy_ts_backend torch._C._linalg torch._C._monitor
torch._C._nativert torch._C._nested torch._C._nn torch._C._nvtx torch._C._onnx torch._C._profiler
torch._C._profiler._cuspy torch._C._return_types torch._C._sparse torch._C._special torch._C._te torch._C._verbose
torch._C.cpp torch._C.cpp.nn torch.__config__ torch.__future__ torch._appdirs torch._awaits torch._compile
torch._custom_class_base torch._custom_op torch._custom_ops torch._decomp torch._dispatch torch._dynamo
torch._environment torch._export torch._functorch torch._guards torch._higher_order_ops torch._inductor
torch._jit_internal torch._lazy torch._library torch._linalg_utils torch._lobpcg torch._logging torch._lowrank
torch._meta_registrations torch._native torch._numpy torch._opaque_base torch._precompile torch._precompile_driver
torch._prims torch._prims_common torch._python_dispatcher torch._refs torch._size_docs torch._sources
torch._streambase torch._strobelight torch._subclasses torch._tensor_docs torch._tensor_iterator
torch._thread_safe_fork torch._torch_docs torch._utils_internal torch._vendor torch._vmap_internals
torch._weights_only_unpickler torch.accelerator._utils torch.ao torch.ao.nn torch.ao.ns torch.ao.pruning
torch.ao.quantization torch.autograd._functions torch.backends._coreml torch.backends._nnapi torch.compiler._cache
torch.compiler._precompile_types torch.contrib torch.contrib._tensorboard_vis torch.cpu.amp
torch.cpu.amp.autocast_mode torch.cpu.amp.grad_scaler torch.cuda._device_limits torch.cuda._gpu_trace
torch.cuda._graph_annotations torch.cuda._graph_node_callbacks torch.cuda._memory_viz torch.cuda._pin_memory_utils
torch.cuda._sanitizer torch.cuda._utils torch.cuda.tunable torch.distributed._checkpointable
torch.distributed._composable torch.distributed._composable_state torch.distributed._functional_collectives
torch.distributed._functional_collectives_impl torch.distributed._local_tensor torch.distributed._mesh_layout
torch.distributed._meta_registrations torch.distributed._nccl4py torch.distributed._ops torch.distributed._pycute
torch.distributed._serialization torch.distributed._shard torch.distributed._sharded_tensor
torch.distributed._sharding_spec torch.distributed._state_dict_utils torch.distributed._symmetric_memory
torch.distributed._tensor torch.distributed._token_switch torch.distributed._tools torch.distributed._transport
torch.distributed._watchdog torch.distributed.algorithms._checkpoint torch.distributed.algorithms._comm_hooks
torch.distributed.algorithms._optimizer_overlap torch.distributed.algorithms._quantization torch.distributed.autograd
torch.distributed.checkpoint torch.distributed.checkpoint._async_executor
torch.distributed.checkpoint._async_process_executor torch.distributed.checkpoint._async_thread_executor
torch.distributed.checkpoint._checkpointer torch.distributed.checkpoint._consolidate_hf_safetensors
torch.distributed.checkpoint._dedup_save_plans torch.distributed.checkpoint._dedup_tensors
torch.distributed.checkpoint._experimental torch.distributed.checkpoint._extension
torch.distributed.checkpoint._fsspec_filesystem torch.distributed.checkpoint._hf_utils
torch.distributed.checkpoint._nested_dict torch.distributed.checkpoint._pg_transport
torch.distributed.checkpoint._sharded_tensor_utils torch.distributed.checkpoint._state_dict_stager
torch.distributed.checkpoint._storage_utils torch.distributed.checkpoint._traverse
torch.distributed.checkpoint._version torch.distributed.checkpoint.api torch.distributed.checkpoint.default_planner
torch.distributed.checkpoint.filesystem torch.distributed.checkpoint.format_utils
torch.distributed.checkpoint.fsspec_filesystem torch.distributed.checkpoint.hf_storage
torch.distributed.checkpoint.logger torch.distributed.checkpoint.logging_handlers
torch.distributed.checkpoint.metadata torch.distributed.checkpoint.optimizer torch.distributed.checkpoint.planner
torch.distributed.checkpoint.planner_helpers torch.distributed.checkpoint.protocol
torch.distributed.checkpoint.quantized_hf_storage torch.distributed.checkpoint.resharding
torch.distributed.checkpoint.staging torch.distributed.checkpoint.state_dict
torch.distributed.checkpoint.state_dict_loader torch.distributed.checkpoint.state_dict_saver
torch.distributed.checkpoint.stateful torch.distributed.checkpoint.storage torch.distributed.checkpoint.utils
torch.distributed.debug torch.distributed.debug._debug_handlers torch.distributed.debug._frontend
torch.distributed.debug._handlers torch.distributed.debug._store torch.distributed.elastic
torch.distributed.elastic.agent torch.distributed.elastic.control_plane torch.distributed.elastic.events
torch.distributed.elastic.metrics torch.distributed.elastic.multiprocessing torch.distributed.elastic.rendezvous
torch.distributed.elastic.timer torch.distributed.elastic.utils torch.distributed.flight_recorder
torch.distributed.flight_recorder.components torch.distributed.flight_recorder.fr_trace torch.distributed.fsdp
torch.distributed.fsdp._common_utils torch.distributed.fsdp._debug_utils torch.distributed.fsdp._dynamo_utils
torch.distributed.fsdp._exec_order_utils torch.distributed.fsdp._flat_param torch.distributed.fsdp._fsdp_extensions
torch.distributed.fsdp._fully_shard torch.distributed.fsdp._init_utils torch.distributed.fsdp._limiter_utils
torch.distributed.fsdp._optim_utils torch.distributed.fsdp._runtime_utils torch.distributed.fsdp._shard_utils
torch.distributed.fsdp._state_dict_utils torch.distributed.fsdp._trace_utils torch.distributed.fsdp._traversal_utils
torch.distributed.fsdp._unshard_param_utils torch.distributed.fsdp._wrap_utils torch.distributed.fsdp.api
torch.distributed.fsdp.fully_sharded_data_parallel torch.distributed.fsdp.sharded_grad_scaler
torch.distributed.fsdp.wrap torch.distributed.launcher torch.distributed.launcher.api torch.distributed.nn
torch.distributed.nn.api torch.distributed.nn.functional torch.distributed.nn.jit torch.distributed.optim
torch.distributed.optim._deprecation_warning torch.distributed.optim.apply_optimizer_in_backward
torch.distributed.optim.functional_adadelta torch.distributed.optim.functional_adagrad
torch.distributed.optim.functional_adam torch.distributed.optim.functional_adamax
torch.distributed.optim.functional_adamw torch.distributed.optim.functional_rmsprop
torch.distributed.optim.functional_rprop torch.distributed.optim.functional_sgd
torch.distributed.optim.named_optimizer torch.distributed.optim.optimizer
torch.distributed.optim.post_localSGD_optimizer torch.distributed.optim.utils
torch.distributed.optim.zero_redundancy_optimizer torch.distributed.pipelining torch.distributed.pipelining._IR
torch.distributed.pipelining._backward torch.distributed.pipelining._debug torch.distributed.pipelining._p2p
torch.distributed.pipelining._recv_buffers torch.distributed.pipelining._schedule_visualizer
torch.distributed.pipelining._unflatten torch.distributed.pipelining._utils torch.distributed.pipelining.microbatch
torch.distributed.pipelining.schedules torch.distributed.pipelining.stage torch.distributed.rpc
torch.distributed.rpc._testing torch.distributed.rpc._utils torch.distributed.rpc.api
torch.distributed.rpc.backend_registry torch.distributed.rpc.constants torch.distributed.rpc.functions
torch.distributed.rpc.internal torch.distributed.rpc.options torch.distributed.rpc.rref_proxy
torch.distributed.rpc.server_process_global_profiler torch.distributed.tensor torch.distributed.tensor._api
torch.distributed.tensor._collective_utils torch.distributed.tensor._decompositions torch.distributed.tensor._dispatch
torch.distributed.tensor._dtensor_spec torch.distributed.tensor._nonlinear_redux torch.distributed.tensor._op_schema
torch.distributed.tensor._ops torch.distributed.tensor._random torch.distributed.tensor._redistribute
torch.distributed.tensor._sharding_prop torch.distributed.tensor._shards_wrapper torch.distributed.tensor._tp_conv
torch.distributed.tensor._utils torch.distributed.tensor.debug torch.distributed.tensor.device_mesh
torch.distributed.tensor.experimental torch.distributed.tensor.parallel torch.distributed.tensor.placement_types
torch.export torch.export._draft_export torch.export._leakage_detection_utils torch.export._patches
torch.export._remove_auto_functionalized_pass torch.export._remove_effect_tokens_pass torch.export._safeguard
torch.export._state_dict_utils torch.export._swap torch.export._trace torch.export._tree_utils torch.export._unlift
torch.export._wrapper_utils torch.export.custom_obj torch.export.custom_ops torch.export.decomp_utils
torch.export.dynamic_shapes torch.export.experimental torch.export.exported_program torch.export.graph_signature
torch.export.passes torch.export.pt2_archive torch.export.unflatten torch.func._random torch.fx._graph_pickler
torch.fx._lazy_graph_module torch.fx._utils torch.fx.annotate torch.fx.config torch.fx.experimental
torch.fx.experimental._backward_state torch.fx.experimental._config torch.fx.experimental._constant_symnode
torch.fx.experimental._dynamism torch.fx.experimental._size_hinting torch.fx.experimental._spec_binding
torch.fx.experimental.accelerator_partitioner torch.fx.experimental.const_fold torch.fx.experimental.debug
torch.fx.experimental.dynamic_spec torch.fx.experimental.graph_gradual_typechecker torch.fx.experimental.merge_matmul
torch.fx.experimental.meta_tracer torch.fx.experimental.migrate_gradual_types torch.fx.experimental.normalize
torch.fx.experimental.optimization torch.fx.experimental.partitioner_utils torch.fx.experimental.proxy_tensor
torch.fx.experimental.recording torch.fx.experimental.refinement_types torch.fx.experimental.rewriter
torch.fx.experimental.schema_type_annotation torch.fx.experimental.sym_node torch.fx.experimental.symbolic_shapes
torch.fx.experimental.unification torch.fx.experimental.unify_refinements torch.fx.experimental.validator
torch.fx.passes torch.fx.passes._tensorify_python_scalars torch.fx.passes.annotate_getitem_nodes
torch.fx.passes.backends torch.fx.passes.canonicalize torch.fx.passes.dialect torch.fx.passes.fake_tensor_prop
torch.fx.passes.graph_drawer torch.fx.passes.graph_manipulation torch.fx.passes.graph_transform_observer
torch.fx.passes.infra torch.fx.passes.net_min_base torch.fx.passes.operator_support torch.fx.passes.param_fetch
torch.fx.passes.pass_manager torch.fx.passes.regional_inductor torch.fx.passes.regional_inductor_invoke_subgraph
torch.fx.passes.reinplace torch.fx.passes.runtime_assert torch.fx.passes.shape_prop torch.fx.passes.split_module
torch.fx.passes.split_utils torch.fx.passes.splitter_base torch.fx.passes.tests torch.fx.passes.tools_common
torch.fx.passes.utils torch.jit._async torch.jit._await torch.jit._builtins torch.jit._check
torch.jit._dataclass_impls torch.jit._decomposition_utils torch.jit._decompositions torch.jit._freeze torch.jit._fuser
torch.jit._ir_utils torch.jit._logging torch.jit._monkeytype_config torch.jit._passes torch.jit._pickle
torch.jit._recursive torch.jit._script torch.jit._serialization torch.jit._shape_functions torch.jit._state
torch.jit._trace torch.jit.mobile torch.masked._docs torch.masked._ops torch.masked.maskedtensor
torch.masked.maskedtensor._ops_refs torch.masked.maskedtensor.binary torch.masked.maskedtensor.core
torch.masked.maskedtensor.creation torch.masked.maskedtensor.passthrough torch.masked.maskedtensor.reductions
torch.masked.maskedtensor.unary torch.monitor torch.mtia torch.mtia._utils torch.mtia.memory torch.mtia.mtia_graph
torch.multiprocessing._atfork torch.nativert torch.nativert.backends torch.nested torch.nested._internal
torch.nn.attention._fa3 torch.nn.attention._fa4 torch.nn.attention._registry torch.nn.attention._utils
torch.nn.attention.experimental torch.nn.attention.experimental._paged_attention
torch.nn.attention.experimental._scaled_dot_product_attention_quantized torch.nn.intrinsic torch.nn.intrinsic.modules
torch.nn.intrinsic.qat torch.nn.intrinsic.quantized torch.nn.modules._functions torch.nn.qat torch.nn.qat.dynamic
torch.nn.qat.modules torch.nn.quantizable torch.nn.quantizable.modules torch.nn.quantized
torch.nn.quantized._reference torch.nn.quantized.dynamic torch.nn.quantized.functional torch.nn.quantized.modules
torch.nn.utils._deprecation_utils torch.nn.utils._expanded_weights torch.nn.utils._named_member_accessor
torch.nn.utils._per_sample_grad torch.numa torch.numa.binding torch.onnx torch.onnx._constants torch.onnx._flags
torch.onnx._internal torch.onnx.errors torch.onnx.operators torch.onnx.ops torch.onnx.symbolic_helper
torch.onnx.symbolic_opset10 torch.onnx.symbolic_opset11 torch.onnx.symbolic_opset12 torch.onnx.symbolic_opset13
torch.onnx.symbolic_opset14 torch.onnx.symbolic_opset15 torch.onnx.symbolic_opset16 torch.onnx.symbolic_opset17
torch.onnx.symbolic_opset18 torch.onnx.symbolic_opset19 torch.onnx.symbolic_opset20 torch.onnx.symbolic_opset7
torch.onnx.symbolic_opset8 torch.onnx.symbolic_opset9 torch.onnx.testing torch.onnx.utils torch.onnx.verification
torch.optim._adafactor torch.optim._functional torch.optim._multi_tensor torch.optim._muon torch.optim._stateless
torch.package torch.package._digraph torch.package._directory_reader torch.package._importlib torch.package._mangling
torch.package._mock torch.package._package_pickler torch.package._package_unpickler torch.package._stdlib
torch.package.analyze torch.package.file_structure_representation torch.package.find_file_dependencies
torch.package.glob_group torch.package.importer torch.package.package_exporter torch.package.package_importer
torch.profiler._chrome_trace_export torch.profiler._cuspy torch.profiler._memory_profiler
torch.profiler._trace_validator torch.profiler._utils torch.profiler.python_tracer torch.quantization
torch.quantization._numeric_suite torch.quantization._numeric_suite_fx torch.quantization._quantized_conversions
torch.quantization.fake_quantize torch.quantization.fuse_modules torch.quantization.fuser_method_mappings
torch.quantization.fx torch.quantization.observer torch.quantization.qconfig torch.quantization.quant_type
torch.quantization.quantization_mappings torch.quantization.quantize torch.quantization.quantize_fx
torch.quantization.quantize_jit torch.quantization.stubs torch.quantization.utils torch.sparse
torch.sparse._semi_structured_conversions torch.sparse._semi_structured_ops torch.sparse._triton_ops
torch.sparse._triton_ops_meta torch.sparse.semi_structured torch.testing._comparison torch.testing._creation
torch.testing._internal torch.testing._utils torch.utils._appending_byte_serializer torch.utils._config_module
torch.utils._content_store torch.utils._contextlib torch.utils._cpp_embed_headers torch.utils._cpp_extension_versioner
torch.utils._cuda_debug torch.utils._cxx_pytree torch.utils._debug_mode torch.utils._device torch.utils._dtype_abbrs
torch.utils._exposed_in torch.utils._filelock torch.utils._functools torch.utils._get_clean_triton torch.utils._helion
torch.utils._import_utils torch.utils._indented_buffer torch.utils._inspect torch.utils._mode_utils
torch.utils._ordered_set torch.utils._pallas torch.utils._runtime_estimation torch.utils._stats
torch.utils._strobelight torch.utils._sympy torch.utils._thunk torch.utils._traceback torch.utils._triton
torch.utils._typing_utils torch.utils._zip torch.utils.backcompat torch.utils.benchmark torch.utils.benchmark.examples
torch.utils.benchmark.op_fuzzers torch.utils.benchmark.utils torch.utils.data.datapipes
torch.utils.data.datapipes._decorator torch.utils.data.datapipes._hook_iterator torch.utils.data.datapipes._typing
torch.utils.data.datapipes.dataframe torch.utils.data.datapipes.datapipe torch.utils.data.datapipes.gen_pyi
torch.utils.data.datapipes.iter torch.utils.data.datapipes.map torch.utils.data.datapipes.utils torch.utils.data.graph
torch.utils.data.graph_settings torch.utils.hipify torch.utils.hipify.constants
torch.utils.hipify.cuda_to_hip_mappings torch.utils.hipify.hipify_python torch.utils.hipify.version torch.utils.jit
torch.utils.jit.log_extract torch.utils.model_dump torch.utils.model_dump.__main__ torch.utils.serialization
torch.utils.serialization.config torch.utils.tensorboard torch.utils.tensorboard._convert_np
torch.utils.tensorboard._embedding torch.utils.tensorboard._onnx_graph torch.utils.tensorboard._proto_graph
torch.utils.tensorboard._pytorch_graph torch.utils.tensorboard._utils torch.utils.tensorboard.summary
torch.utils.tensorboard.writer torch.utils.viz torch.utils.viz._cycles torch.xpu torch.xpu._gpu_trace torch.xpu._utils
torch.xpu.graphs torch.xpu.memory torch.xpu.random torch.xpu.streams
"""

# The builtin classes that exceptions and warnings derive from.
EXCEPTIONS = """
AssertionError: SpeculationLogDivergence UnsupportedNNModuleError
BaseException: CheckpointException
Exception: AccuracyError ArgMappingException BypassAOTAutogradCache BypassDynamoCacheEntry BypassFxGraphCache
  CacheError CannotStaticallyLaunchKernel CantSplit ChildFailedError CompanionMismatch DeferredCudaCallError
  DeferredMtiaCallError EmptyMatchError Error ErrorMeta ExportError FXGraphCacheMiss FailOnRecompileLimitHit
  FatalError FrontendError FrontendTypeError FxNetMinimizerBadModuleError FxNetMinimizerResultMismatchError
  FxNetMinimizerRunFuncError FxNetSplitterInternalError GuardInstallException IgnoreException InconsistentMetadata
  IntelGPUError InternalError LinAlgError NodeHashException NonzeroWorkspaceNotSupportedError NotEqualError
  NotSupportedError ObjMismatchError ObjNotFoundError OpCheckError PackagingError ProcessException
  ProcessExitedException ProcessRaisedException ReluCompileError RendezvousClosedError RendezvousConnectionError
  RendezvousError RendezvousGracefulExitError RendezvousStateError RendezvousTimeoutError ReturnValueOp
  SignalException SpecViolationError StrobelightCLIProfilerError SubprocException TestingOnlyCompileError
  TracingCheckError UnsupportedInputs UnsupportedNodeError Yield YieldValueOp _BypassDispatchCache
  _GuardSourceLookupError _StopRecomputationError
NameError: _ModuleNotInstalledAsSubmoduleError
NotImplementedError: AsPythonConstantNotImplementedError ClosureConversionError MDNotImplementedError
  UnhandledDescriptorError
RuntimeError: AcceleratorError AutogradGradRestartAnalysis BackendCompilerFailed CUDACompileError CantChunk
  CheckpointError CompileCollectiveRestartAnalysis CompileOnOneRankUnsupported CondOpArgsMismatchError
  ConstraintViolationError CppCompileError CppWrapperCodegenError CudaError DataDependentOutputException
  DistBackendError DistError DistNetworkError DistStoreError DynamicOutputShapeException ErrorFromChoice
  ExportPassBaseError FailedMatch FakeTensorDeviceMismatchError FakeTensorObservedException FileLockTimeoutError
  GPUTooOldForTriton GradcheckError GuardOnDataDependentSymNode InductorError InfiniteGeneratorError
  InternalTorchDynamoError InvalidBackend InvalidCxxCompiler LockTimeoutError LoweringException MetadataMismatchError
  MinifierSanityCheckFailed MissingOpProfile MissingOperatorWithDecomp MissingOperatorWithoutDecomp
  NoRunnableInductorModuleError NoTritonConfigsError NoValidChoicesError ObservedAttributeError ObservedException
  ObservedGeneratorExit ObservedIndexError ObservedKeyError ObservedLookupError ObservedNotImplementedError
  ObservedRuntimeError ObservedTypeError ObservedUserStopIteration OnnxExporterError OperatorIssue OutOfMemoryError
  PackageError PendingUnbackedSymbolNotFound PipeliningMetadataError PrecompileError QueueEmptyError RecompileError
  RequiresGradRestartAnalysis ResetRequired RestartAnalysis ResumePrologueTracingError SerializeError ShortenTraceback
  SkipFrame SpeculationRestartAnalysis StepUnsupported SubgraphLoweringException SymbolicValueError SystemError
  TensorifyScalarRestartAnalysis TestException TorchDynamoException TorchRuntimeError TritonMissing
  TritonUnavailableError UncapturedHigherOrderOpError UnknownPropertiesDuringBackwardTrace UnsafeScriptObjectError
  UnspecializeRestartAnalysis Unsupported UnsupportedAliasMutationException UnsupportedFakeTensorException
  UnsupportedMutationAliasingException UnsupportedOperatorError UnsupportedOperatorException ValueRangeError
  XPUCompileError _LinAlgError _SerializedException _ShapeEnvGuardError
TypeError: BindArgsTypeError KeyEncodingError UFuncTypeError UserError ValueDecodingError ValueEncodingError
UserWarning: OnnxExporterWarning
ValueError: AxisError InvalidVersion ReservedWorkflowIdUserError TraceError _StridedShardNotDecodableError
Warning: AmbiguityWarning ScriptWarning SourceChangeWarning TracerWarning
"""

NAMES = """
torch
 AVG= AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType BFloat16Storage BFloat16Tensor
  BenchmarkConfig BenchmarkExecutionStats Block BoolStorage BoolTensor BoolType BufferDict ByteStorage ByteTensor
  CallStack Capsule CharStorage CharTensor ClassType Code CompleteArgumentSpec ComplexDoubleStorage
  ComplexFloatStorage ComplexType ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable
  DeserializationStorageContext DeviceObjType DictType DisableTorchFunction DisableTorchFunctionSubclass DispatchKey
  DispatchKeySet DoubleStorage DoubleTensor EnumType ErrorReport Event ExcludeDispatchKeyGuard ExecutionPlan
  FatalError FileCheck FloatStorage FloatTensor FloatType FunctionSchema Future FutureType Generator Gradient Graph
  GraphExecutorState HalfStorage HalfTensor IODescriptor InferredType IntStorage IntTensor IntType InterfaceType
  JITException ListType LiteScriptModule LockingLogger LoggerBase LongStorage LongTensor ModuleDict Node NoneType
  NoopLogger NumberType OperatorInfo OptionalType OutOfMemoryError PRIVATE_OPS= ParameterDict PyObjectType
  PyTorchFileReader PyTorchFileWriter QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage
  RRefType SUM= ScriptClass ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptList
  ScriptListIterator ScriptMethod ScriptModule ScriptModuleSerializer ScriptObject ScriptObjectProperty
  SerializationStorageContext ShortStorage ShortTensor Size StaticModule Storage StorageBase Stream StreamObjType
  StringType SymBool SymBoolType SymFloat SymInt SymIntType Tag Tensor TensorType ThroughputBenchmark TracingState
  TupleType Type USE_GLOBAL_DEPS= USE_RTLD_GLOBAL_WITH_LIBTORCH= UnionType Use Value _Any _Callable
  _GLOBAL_DEVICE_CONTEXT= _LikeNumber= _LiteralString _ModuleType _Never _ParamSpec _Self _Sequence _SymTypingMagic
  _SymTypingMagicAlsoBool _SymTypingMagicBitwise _TorchCompileAOTInductorWrapper _TorchCompileInductorWrapper
  _TorchCompileWrapper _TritonLibrary _TypeAlias _TypeGuard _TypeIs _TypeVar _adaptive_avg_pool2d _adaptive_avg_pool3d
  _add_batch_dim _add_relu _add_relu_ _addmm_activation _aminmax _amp_foreach_non_finite_check_and_unscale_
  _amp_update_scale_ _as_tensor_fullprec _assert _assert_async _assert_scalar _assert_tensor_metadata
  _batch_norm_impl_index _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short
  _check _check_index _check_is_size _check_not_implemented _check_tensor_all _check_tensor_all_with _check_type
  _check_value _check_with _choose_qparams_per_tensor _chunk_cat _coalesce _compute_linear_combination _conj
  _conj_copy _conj_physical _constrain_as_size _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo
  _convert_weight_to_int4pack _convert_weight_to_int4pack_for_cpu _convolution _convolution_mode _copy_from
  _copy_from_and_resize _cslt_compress _cslt_sparse_mm _cslt_sparse_mm_search _ctc_loss
  _cudnn_attention_forward_no_dropout_inplace _cudnn_ctc_loss _cudnn_init_dropout_state _cudnn_rnn
  _cudnn_rnn_flatten_weight _cufft_clear_plan_cache _cufft_get_plan_cache_max_size _cufft_get_plan_cache_size
  _cufft_set_plan_cache_max_size _cummax_helper _cummin_helper _debug_has_internal_overlap _deprecated
  _deprecated_attrs= _dim_arange _dirichlet_grad _disable_functionalization _dyn_quant_matmul_4bit
  _dyn_quant_pack_4bit_weight _efficientzerotensor _embedding_bag _embedding_bag_forward_only _empty_affine_quantized
  _empty_per_channel_affine_quantized _enable_functionalization _euclidean_dist
  _fake_quantize_learnable_per_channel_affine _fake_quantize_learnable_per_tensor_affine
  _fake_quantize_per_tensor_affine_cachemask_tensor_qparams _fft_c2c _fft_c2r _fft_r2c _fill_mem_eff_dropout_mask_
  _flash_attention_forward_no_dropout_inplace _foobar _foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_
  _foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin
  _foreach_asin_ _foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_
  _foreach_clamp_min _foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh
  _foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ _foreach_exp
  _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_
  _foreach_lerp _foreach_lerp_ _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_
  _foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum
  _foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul _foreach_mul_ _foreach_neg
  _foreach_neg_ _foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum _foreach_reciprocal _foreach_reciprocal_
  _foreach_round _foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign
  _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt _foreach_sqrt_ _foreach_sub
  _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_
  _freeze_functional_tensor _from_blob _from_functional_tensor _functional_assert_async _functional_assert_scalar
  _functional_sym_constrain_range _functional_sym_constrain_range_for_size
  _functionalize_are_all_mutations_hidden_from_autograd
  _functionalize_are_all_mutations_under_no_grad_or_inference_mode _functionalize_commit_update
  _functionalize_enable_reapply_views _functionalize_get_storage_size _functionalize_has_data_mutation
  _functionalize_has_metadata_mutation _functionalize_inductor_storage_resized_counter
  _functionalize_is_multi_output_view _functionalize_is_symbolic _functionalize_mark_mutation_hidden_from_autograd
  _functionalize_mark_storage_changed _functionalize_mutation_counter _functionalize_replace
  _functionalize_storage_changed_counter _functionalize_sync _functionalize_unsafe_set
  _functionalize_was_inductor_storage_resized _functionalize_was_shallow_copy_data _functionalize_was_storage_changed
  _fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_dropout _fused_moving_avg_obs_fq_helper _fused_rms_norm
  _fused_sdp_choice _fused_sgd_ _fw_primal_copy _get_cuda_dep_paths _get_origin _grid_sampler_2d_cpu_fallback
  _grouped_mm _has_compatible_shallow_copy_type _histogramdd_bin_edges _histogramdd_from_bin_cts
  _histogramdd_from_bin_tensors _import_device_backends _index_put_impl_ _indices_copy _initExtension _int_mm
  _is_all_true _is_any_true _is_device_backend_autoload_enabled _is_functional_tensor _is_functional_tensor_base
  _is_zerotensor _lazy_clone _lazy_modules= _linalg_check_errors _linalg_det _linalg_eigh _linalg_slogdet
  _linalg_solve_ex _linalg_svd _load_global_deps _log_softmax _log_softmax_backward_data _logcumsumexp _lstm_mps
  _lu_with_info _make_dep_token _make_dual _make_dual_copy _make_per_channel_quantized_tensor
  _make_per_tensor_quantized_tensor _masked_scale _masked_softmax _mirror_autograd_meta_to _mixed_dtypes_linear
  _mkldnn= _mkldnn_reshape _mkldnn_transpose _mkldnn_transpose_ _mps_convolution _mps_convolution_transpose
  _native_batch_norm_legit _native_batch_norm_legit_no_training _native_multi_head_attention _neg_view _neg_view_copy
  _nested_compute_contiguous_strides_offsets _nested_from_padded _nested_from_padded_and_nested_example
  _nested_from_padded_tensor _nested_get_jagged_dummy _nested_get_lengths _nested_get_max_seqlen
  _nested_get_min_seqlen _nested_get_offsets _nested_get_ragged_idx _nested_get_values _nested_get_values_copy
  _nested_tensor_from_mask _nested_tensor_from_mask_left_aligned _nested_tensor_from_tensor_list
  _nested_tensor_softmax_with_shape _nested_view_from_buffer _nested_view_from_buffer_copy _nested_view_from_jagged
  _nested_view_from_jagged_copy _nnpack_available _nnpack_spatial_convolution _overload _pack_padded_sequence
  _pad_packed_sequence _philox_key_fold_in _philox_key_split _philox_normal_ _philox_randint_ _philox_uniform_
  _pin_memory _preload_cuda_deps _preload_cuda_lib _prelu_kernel _print _propagate_xla_data _register_device_module
  _remove_batch_dim _reshape_alias_copy _reshape_from_tensor _resize_output_ _rowwise_prune _running_with_deploy
  _safe_softmax _sample_dirichlet _saturate_weight_to_fp16 _scaled_addmm _scaled_addmm_
  _scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps _scaled_dot_product_cudnn_attention
  _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
  _scaled_dot_product_flash_attention_for_cpu _scaled_grouped_mm _scaled_grouped_mm_v2 _scaled_mm _scaled_mm_v2
  _segment_reduce _shape_as_tensor _sobol_engine_draw _sobol_engine_ff_ _sobol_engine_initialize_state_
  _sobol_engine_scramble_ _softmax _softmax_backward_data _sparse_broadcast_to _sparse_broadcast_to_copy
  _sparse_csr_prod _sparse_csr_sum _sparse_log_softmax_backward_data _sparse_semi_structured_addmm
  _sparse_semi_structured_apply _sparse_semi_structured_apply_dense _sparse_semi_structured_linear
  _sparse_semi_structured_mm _sparse_semi_structured_tile _sparse_softmax_backward_data _sparse_sparse_matmul
  _sparse_sum _stack _standard_gamma _standard_gamma_grad _storage_classes= _sym_acos _sym_asin _sym_atan _sym_cos
  _sym_cosh _sym_log2 _sym_sin _sym_sinh _sym_sqrt _sym_tan _sym_tanh _sync _tensor_classes=
  _test_autograd_multiple_dispatch _test_autograd_multiple_dispatch_view _test_autograd_multiple_dispatch_view_copy
  _test_check_tensor _test_functorch_fallback _test_parallel_materialize _test_serialization_subcmul _to_cpu
  _to_functional_tensor _to_sparse_semi_structured _transform_bias_rescale_qkv _transformer_encoder_layer_fwd
  _trilinear _triton_multi_head_attention _triton_scaled_dot_attention _unique _unique2 _unpack_dual _unsafe_index
  _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate _use_cudnn_ctc_loss
  _use_cudnn_rnn_flatten_weight _use_miopen_ctc_loss _validate_compressed_sparse_indices
  _validate_sparse_bsc_tensor_args _validate_sparse_bsr_tensor_args _validate_sparse_compressed_tensor_args
  _validate_sparse_coo_tensor_args _validate_sparse_csc_tensor_args _validate_sparse_csr_tensor_args _values_copy
  _weight_int4pack_mm _weight_int4pack_mm_for_cpu _weight_int4pack_mm_with_scales_and_zeros _weight_int8pack_mm
  _weight_norm _weight_norm_interface _wrapped_linear_prepack _wrapped_quantized_linear_prepacked abs abs_ absolute
  acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul addmm addmv addmv_ addr
  adjoint affine_grid_generator alias_copy all allclose alpha_dropout alpha_dropout_ amax amin aminmax angle any
  arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_ arctanh arctanh_
  are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided as_strided_ as_strided_copy
  as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_
  autocast_decrement_nesting autocast_increment_nesting avg_pool1d baddbmm bartlett_window batch_norm
  batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
  batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats bcomplex32= bernoulli bfloat16=
  bilinear binary_cross_entropy_with_logits bincount binomial bit= bits16= bits1x8= bits2x4= bits4x2= bits8=
  bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window bmm bool=
  broadcast_to bucketize can_cast cat ccol_indices_copy cdouble= ceil ceil_ celu celu_ cfloat= chalf= channel_shuffle
  channels_last= channels_last_3d= cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_
  clamp_max clamp_max_ clamp_min clamp_min_ clear_autocast_cache clip clip_ clone col_indices_copy column_stack
  combinations compile compiled_with_cxx11_abi complex complex128= complex32= complex64= concat concatenate cond conj
  conj_physical conj_physical_ constant_pad_nd contiguous_format= conv1d conv2d conv3d conv_tbc conv_transpose1d
  conv_transpose2d conv_transpose3d convolution copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss
  cosine_similarity count_nonzero cov cross crow_indices_copy ctc_loss cudnn_affine_grid_generator cudnn_batch_norm
  cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
  cudnn_is_acceptable cummax cummin cumprod cumsum cumulative_trapezoid default_generator= deg2rad deg2rad_ dequantize
  det detach detach_ detach_copy device diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma
  dist div divide dot double= dropout dropout_ dsmm dsplit dstack dtype e= embedding embedding_bag embedding_renorm_
  empty empty_like empty_permuted empty_quantized empty_strided eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_
  exp_ expand_copy expm1 expm1_ eye fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
  fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
  fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
  fbgemm_pack_quantized_matrix feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill
  fill_ finfo fix fix_ flatten flip fliplr flipud float16= float32= float4_e2m1fn_x2= float64= float8_e4m3fn=
  float8_e4m3fnuz= float8_e5m2= float8_e5m2fnuz= float8_e8m0fnu= float= float_power floor floor_ floor_divide fmax
  fmin fmod fork frac frac_ frexp frobenius_norm from_file from_numpy frombuffer full full_like
  fused_moving_avg_obs_fake_quant gather gcd gcd_ ge geqrf ger get_autocast_cpu_dtype get_autocast_dtype
  get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device get_default_dtype
  get_deterministic_debug_mode get_device get_device_module get_float32_matmul_precision get_num_interop_threads
  get_num_threads gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell
  gt half= hamming_window hann_window hardshrink has_lapack= has_mkl= has_openmp= has_spectral= hash_tensor heaviside
  hinge_embedding_loss histc histogram histogramdd hsmm hsplit hspmm hstack hypot i0 i0_ igamma igammac iinfo imag
  import_ir_module import_ir_module_from_buffer index_add index_copy index_fill index_put index_put_ index_reduce
  index_select indices_copy inf= init_num_threads inner instance_norm int16= int1= int2= int32= int3= int4= int5=
  int64= int6= int7= int8= int= int_repr inverse is_anomaly_check_nan_enabled is_anomaly_enabled
  is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled
  is_autocast_xla_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed
  is_floating_point is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size is_signed
  is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite isin isinf isnan isneginf isposinf
  isreal istft jagged= kaiser_window kl_div kron kthvalue layer_norm layout lcm lcm_ ldexp ldexp_ le
  legacy_contiguous_format= lerp less less_equal lgamma linspace log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax
  logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_ logspace
  logsumexp long= lstm lstm_cell lt lu_solve lu_unpack margin_ranking_loss masked_fill masked_scatter masked_select
  matmul matrix_exp matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool3d maximum mean median
  memory_format merge_type_from_type_comment min minimum miopen_batch_norm miopen_convolution
  miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss
  miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights
  mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer mm mode moveaxis movedim msort mul multinomial multiply mv
  mvlgamma nan= nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy native_batch_norm
  native_channel_shuffle native_dropout native_group_norm native_layer_norm native_norm ne neg neg_ negative negative_
  newaxis= nextafter nonzero nonzero_static norm_except_dim normal not_equal nuclear_norm numel ones ones_like orgqr
  ormqr outer pairwise_distance parse_ir parse_schema parse_type_comment pdist per_channel_affine=
  per_channel_affine_float_qparams= per_channel_symmetric= per_tensor_affine= per_tensor_symmetric= permute
  permute_copy pi= pinverse pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar polygamma positive pow prelu
  preserve_format= prod promote_types put q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
  q_zero_point qint32= qint8= qscheme quantile quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
  quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d
  quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell quint2x4= quint4x2=
  quint8= rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like randperm range ravel real reciprocal
  reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_ resize_as_sparse_ resolve_conj
  resolve_neg result_type rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round round_
  row_indices_copy row_stack rrelu rrelu_ rsqrt rsqrt_ rsub saddmm scalar_tensor scatter scatter_add scatter_reduce
  searchsorted segment_reduce select select_copy select_scatter selu selu_ set_anomaly_enabled
  set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled
  set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
  set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
  set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads set_warn_always sgn short=
  sigmoid sigmoid_ sign signbit sin sin_ sinc sinc_ sinh sinh_ slice_copy slice_inverse slice_scatter slogdet smm
  softmax sort sparse_bsc= sparse_bsc_tensor sparse_bsr= sparse_bsr_tensor sparse_compressed_tensor sparse_coo=
  sparse_coo_tensor sparse_csc= sparse_csc_tensor sparse_csr= sparse_csr_tensor split_copy split_with_sizes
  split_with_sizes_copy spmm sqrt sqrt_ square square_ squeeze squeeze_copy sspaddmm stack std std_mean strided= sub
  subtract sum svd swapaxes swapdims sym_constrain_range sym_constrain_range_for_size sym_float sym_fresh_size sym_int
  sym_ite sym_max sym_min sym_not sym_sqrt sym_sum symeig t t_copy take take_along_dim tan tan_ tanh tanh_ tensor
  tensor_split threshold threshold_ tile to_dlpack topk trace transpose transpose_copy trapezoid trapz
  triangular_solve tril tril_indices triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename uint16=
  uint1= uint2= uint32= uint3= uint4= uint5= uint64= uint6= uint7= uint8= unbind unbind_copy unflatten unfold_copy
  unify_type_list unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy
  use_deterministic_algorithms values_copy vander var var_mean vdot view_as_complex view_as_complex_copy view_as_real
  view_as_real_copy view_copy vsplit vstack wait where xlogy xlogy_ zero_ zeros zeros_like
 torch._compile: _disable_dynamo
 torch._higher_order_ops.while_loop: while_loop
 torch._linalg_utils: cholesky eig lstsq matrix_rank qr solve
 torch._lobpcg: lobpcg
 torch._lowrank: pca_lowrank svd_lowrank
 torch._tensor_str: set_printoptions
 torch._utils: _import_dotted_name classproperty
 torch._utils_internal: get_file_path prepare_multiprocessing_environment
  profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
 torch.amp.autocast_mode: autocast
 torch.amp.grad_scaler: GradScaler
 torch.autograd.grad_mode: enable_grad inference_mode no_grad set_grad_enabled
 torch.func: vmap
 torch.functional: atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist
  chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive unravel_index
 torch.jit: CompilationUnit ScriptFunction
 torch.random: get_rng_state initial_seed manual_seed seed set_rng_state thread_safe_generator
 torch.serialization: load save
 torch.storage: TypedStorage UntypedStorage _warn_typed_storage_removal
 torch.utils.dlpack: from_dlpack
torch._C
 AVG= DisableTorchFunction DisableTorchFunctionSubclass Generator JITException LoggerBase SUM= StorageBase TensorBase
  _AliasInfo _AutoDispatchBelowADInplaceOrView _AutoDispatchBelowAutograd _Await _BatchNormBackend _BlasBackend
  _CUDAGraph _CUDAPluggableAllocator _CUuuid _ConvBackend _CudaDeviceProperties _CudaEventBase _CudaStreamBase
  _DTensor_OpSchema_post_init _DTensor_OpSchema_recompute_comparison_key _DTensor_compute_global_tensor_info
  _DisableAutocast _DisableFuncTorch _DisablePythonDispatcher _DisableTorchDispatch _DispatchModule
  _DispatchOperatorHandle _DistBackendError _DistError _DistNetworkError _DistQueueEmptyError _DistStoreError
  _EnablePreDispatch _EnablePythonDispatcher _EnableTorchFunction _ExcludeDispatchKeyGuard _FastCudaLauncher
  _ForceDispatchKeyGuard _FunctionBase _GLIBCXX_USE_CXX11_ABI= _GeneratorType _ImperativeEngine
  _IncludeDispatchKeyGuard _InferenceMode _LegacyVariableBase _LinAlgError _LinalgBackend _MTIAGraph _MemPool
  _MobileOptimizerType _NodeBase _NodeIter _PreserveDispatchKeyGuard _ROCmFABackend _RestorePythonTLSSnapshot
  _SDPAParams _SDPBackend _SafeKernelFunction _SchemaArgType _SchemaArgument _SchemaInfo _SetExcludeDispatchKeyGuard
  _ShapeComputeGraphMapping _StaticCudaLauncher _SymNode _TensorBase _TensorIterator _TensorIteratorSpec _TensorMeta
  _TorchDispatchModeKey _TorchFunctionState _UpgraderEntry _UpgraderRange _VariableFunctions= _VariableFunctionsClass
  _WeakTensorRef _abort _acceleratorGraph _accelerator_emptyCache _accelerator_emptyHostCache
  _accelerator_exchangeDevice _accelerator_getAccelerator _accelerator_getAllocatorSettings
  _accelerator_getDefaultGenerator _accelerator_getDeviceCapability _accelerator_getDeviceIndex
  _accelerator_getDeviceStats _accelerator_getMemoryInfo _accelerator_getStream _accelerator_hooks_device_count
  _accelerator_hooks_exchange_device _accelerator_hooks_get_current_device _accelerator_hooks_maybe_exchange_device
  _accelerator_hooks_set_current_device _accelerator_isAllocatorInitialized _accelerator_maybeExchangeDevice
  _accelerator_resetAccumulatedStats _accelerator_resetPeakStats _accelerator_setAllocatorSettings
  _accelerator_setDeviceIndex _accelerator_setStream _accelerator_synchronizeDevice _activate_gpu_trace
  _add_cached_tensor _add_docstr _additional_keys_to_prop_for_wrapper_tensors= _after_ADInplaceOrView_keyset=
  _after_autograd_keyset= _any_output_is_alias_to_input_or_output _any_requires_grad _are_functorch_transforms_active
  _autocast_supported_devices _autograd_init _awaitable _awaitable_nowait _awaitable_wait _backport_for_mobile
  _backport_for_mobile_from_buffer _backport_for_mobile_from_buffer_to_buffer _backport_for_mobile_to_buffer
  _broadcast _broadcast_coalesced _broadcast_out _c10d_init _calculate_package_version_based_on_upgraders
  _can_use_cudnn_attention _can_use_flash_attention _can_use_mem_efficient_attention _check_onnx_proto
  _check_schema_allow_fake_script_object _check_sparse_tensor_invariants _clear_DTensor_sharding_propagator_cache
  _clear_storage_data_ptr_access_error_msg _collect_all _commit_update _compile_graph_to_code_table
  _const_dlpack_exchange_api _construct_CUDA_Tensor_From_Storage_And_Metadata _construct_storage_from_data_pointer
  _conv_determine_backend_memory_format _crash_if_aten_asan _crash_if_csrc_asan _crash_if_csrc_ubsan
  _crash_if_debug_asserts_fail _crash_if_vptr_ubsan _create_function_from_graph _create_function_from_trace
  _create_function_from_trace_with_dict _create_graph_by_tracing _create_module_with_type _create_object_with_type
  _cuda_CUDAAllocator _cuda_CUDAAllocator_AllocatorState _cuda_allocationTraceback _cuda_annotateMemory
  _cuda_attach_out_of_memory_observer _cuda_beginAllocateCurrentStreamToPool _cuda_beginAllocateCurrentThreadToPool
  _cuda_beginAllocateToPool _cuda_canDeviceAccessPeer _cuda_changeCurrentAllocator _cuda_checkPoolLiveAllocations
  _cuda_clearCublasWorkspaces _cuda_cudaCachingAllocator_enable _cuda_cudaCachingAllocator_is_enabled
  _cuda_cudaCachingAllocator_raw_alloc _cuda_cudaCachingAllocator_raw_delete _cuda_cudaHostAllocator
  _cuda_customAllocator _cuda_emptyCache _cuda_endAllocateToPool _cuda_exchangeDevice _cuda_getAllocator
  _cuda_getAllocatorBackend _cuda_getArchFlags _cuda_getCheckpointState _cuda_getCompiledVersion
  _cuda_getCublasLtWorkspaceSize _cuda_getCublasWorkspaceSize _cuda_getCurrentBlasHandle _cuda_getCurrentRawStream
  _cuda_getCurrentSolverHandle _cuda_getCurrentStream _cuda_getDefaultStream _cuda_getDevice _cuda_getDeviceCount
  _cuda_getHipblasltVersion _cuda_getMemoryFraction _cuda_getMemoryMetadata _cuda_getStreamFromExternal
  _cuda_get_conv_benchmark_empty_cache _cuda_get_cudnn_benchmark_limit _cuda_get_sync_debug_mode
  _cuda_hasPrimaryContext _cuda_hostMemoryStats _cuda_init _cuda_ipc_collect _cuda_isCurrentStreamCapturing
  _cuda_isHistoryEnabled _cuda_isInBadFork _cuda_jiterator_compile_and_launch_kernel _cuda_maybeExchangeDevice
  _cuda_memoryMetadataSupported _cuda_memorySnapshot _cuda_memoryStats _cuda_record_memory_history
  _cuda_record_memory_history_legacy _cuda_record_untuned_enable _cuda_record_untuned_is_enabled _cuda_releasePool
  _cuda_resetAccumulatedHostMemoryStats _cuda_resetAccumulatedMemoryStats _cuda_resetCublasLtWorkspaceSize
  _cuda_resetCublasWorkspaceSize _cuda_resetPeakHostMemoryStats _cuda_resetPeakMemoryStats
  _cuda_setCheckpointPoolState _cuda_setCublasLtWorkspaceSize _cuda_setCublasWorkspaceSize _cuda_setDevice
  _cuda_setMemoryFraction _cuda_setMemoryMetadata _cuda_setStream _cuda_set_cudnn_benchmark_limit
  _cuda_set_sync_debug_mode _cuda_sleep _cuda_synchronize _cuda_tunableop_clear_all _cuda_tunableop_enable
  _cuda_tunableop_get_cublaslt_requested_algo_count _cuda_tunableop_get_filename
  _cuda_tunableop_get_max_tuning_duration _cuda_tunableop_get_max_tuning_iterations _cuda_tunableop_get_results
  _cuda_tunableop_get_rotating_buffer_size _cuda_tunableop_get_validators _cuda_tunableop_is_enabled
  _cuda_tunableop_pop_dynamic_dims_mask _cuda_tunableop_push_dynamic_dims_mask _cuda_tunableop_read_file
  _cuda_tunableop_set_cublaslt_requested_algo_count _cuda_tunableop_set_filename
  _cuda_tunableop_set_max_tuning_duration _cuda_tunableop_set_max_tuning_iterations
  _cuda_tunableop_set_numerical_check_tolerances _cuda_tunableop_set_rotating_buffer_size
  _cuda_tunableop_tuning_enable _cuda_tunableop_tuning_is_enabled _cuda_tunableop_wildcard_fallback_enable
  _cuda_tunableop_wildcard_fallback_is_enabled _cudnn_clear_dropout_state _cudnn_set_conv_benchmark_empty_cache
  _current_autograd_node _current_graph_task_execution_order _current_graph_task_id _cxx_flags _data_address
  _debug_get_fusion_group_inlining _debug_only_are_vmap_fallback_warnings_enabled
  _debug_only_display_vmap_fallback_warnings _debug_set_autodiff_subgraph_inlining _debug_set_fusion_group_inlining
  _demangle _disabled_torch_dispatch_impl _disabled_torch_function_impl _dispatch_autogradother_backends=
  _dispatch_call_boxed _dispatch_check_all_invariants _dispatch_check_invariants
  _dispatch_clear_leaked_python_filenames _dispatch_dump _dispatch_dump_table _dispatch_find_dangling_impls
  _dispatch_find_schema_or_throw _dispatch_get_all_op_names _dispatch_get_backend_keyset_from_autograd
  _dispatch_get_computed_kernel_for_dispatch_key _dispatch_get_registrations_for_dispatch_key
  _dispatch_has_backend_fallback _dispatch_has_computed_kernel_for_dispatch_key _dispatch_has_kernel
  _dispatch_has_kernel_for_any_dispatch_key _dispatch_has_kernel_for_dispatch_key _dispatch_isTensorSubclassLike
  _dispatch_is_alias_key _dispatch_is_included_in_alias _dispatch_kernel_for_dispatch_key_is_fallthrough
  _dispatch_key_for_device _dispatch_key_name _dispatch_key_parse _dispatch_key_set _dispatch_keys
  _dispatch_keyset_full _dispatch_keyset_full_after _dispatch_keyset_to_string _dispatch_library
  _dispatch_make_pyobj_dispatch_fns _dispatch_num_backends _dispatch_print_registrations_for_dispatch_key
  _dispatch_pystub _dispatch_set_report_error_callback _dispatch_tls_is_dispatch_key_excluded
  _dispatch_tls_is_dispatch_key_included _dispatch_tls_local_exclude_set _dispatch_tls_local_include_set
  _dispatch_tls_set_dispatch_key_excluded _dispatch_tls_set_dispatch_key_included _dist_autograd_init
  _dlpack_exchange_api _dump_local_tls_set _dump_upgraders_map _dynamo_restore_local_dispatch_key_set
  _dynamo_save_local_dispatch_key_set _enable_mobile_interface_call_export _ensureCUDADeviceGuardSet _enter_dual_level
  _error_if_any_worker_fails _exit_dual_level _export_operator_list _export_opnames _fake_dispatch_deregister_op_impl
  _fake_dispatch_register_decomp _fake_dispatch_register_meta _fake_dispatch_register_op_impl
  _fake_dispatch_register_prim_meta _faulty_agent_init _free_And_Remove_DeleterFn _freeze_module _from_dlpack
  _functionality_to_backend_keys _functionalization_reapply_views_tls _fuse_to_static_module _fx_map_aggregate
  _fx_map_arg _gather _gather_out _gds_deregister_buffer _gds_deregister_handle _gds_load_storage _gds_register_buffer
  _gds_register_handle _gds_save_storage _generate_upgraders_graph _get_DTensor_sharding_propagator_cache_stats
  _get_accelerator _get_all_dtypes _get_autograd_fallback_mode _get_backcompat_broadcast_warn
  _get_backcompat_keepdim_warn _get_blas_default_backend _get_blas_preferred_backend
  _get_caught_jit_exception_class_name _get_caught_jit_exception_original_msg _get_constant_bool_symnode
  _get_cpp_backtrace _get_cpu_allow_fp16_reduced_precision_reduction _get_cpu_capability
  _get_cublas_allow_bf16_reduced_precision_reduction _get_cublas_allow_fp16_accumulation
  _get_cublas_allow_fp16_reduced_precision_reduction _get_cublas_allow_tf32 _get_cublaslt_prefer_grouped_gemm
  _get_cudnn_allow_tf32 _get_cudnn_batch_norm_reserve_space_size _get_cudnn_benchmark _get_cudnn_depthwise_kernel
  _get_cudnn_deterministic _get_cudnn_enabled _get_cudnn_sdp_enabled _get_custom_class_python_wrapper
  _get_default_device _get_deterministic_algorithms _get_deterministic_algorithms_warn_only
  _get_deterministic_fill_uninitialized_memory _get_dispatch_mode _get_dispatch_stack_at
  _get_dtensor_allow_implicit_replication _get_fa3_sdp_enabled _get_fa4_sdp_enabled _get_fake_constant
  _get_file_format _get_flash_sdp_enabled _get_float32_matmul_precision _get_fp32_precision_getter
  _get_function_stack_at _get_graph_exec_group _get_graph_executor_optimize _get_linalg_preferred_backend
  _get_math_sdp_allow_fp16_bf16_reduction _get_math_sdp_enabled _get_max_operator_version
  _get_mem_efficient_sdp_enabled _get_miopen_immediate _get_mkldnn_deterministic _get_mkldnn_enabled
  _get_mobile_model_contained_types _get_mobile_model_contained_types_from_buffer _get_model_bytecode_version
  _get_model_bytecode_version_from_buffer _get_model_extra_files _get_model_extra_files_from_buffer
  _get_model_ops_and_info _get_model_ops_and_info_from_buffer _get_module_info_from_flatbuffer _get_native_aot_enabled
  _get_native_aot_unconditional_masked _get_nested_int _get_nnpack_enabled _get_obj_in_tls _get_onednn_allow_tf32
  _get_operation_overload _get_operator_version_map _get_overrideable_sdp_enabled _get_privateuse1_backend_name
  _get_qengine _get_rocm_fa_preferred_backend _get_schema _get_sdp_priority_order _get_sm_carveout_experimental
  _get_symbolize_mode _get_tensor_metadata _get_thread_name _get_torch_function_state _get_tracing_state
  _get_upgrader_ranges _get_upgraders_entry_map _get_upgraders_map_size _get_value_trace _get_version_calculator_flag
  _get_warnAlways _getenv _graph_pool_handle _group_tensors_by_device_and_dtype
  _hack_do_not_use_clone_module_with_class _has_Standard_Deleter _has_cuda= _has_cudnn= _has_cusparselt=
  _has_distributed _has_eigen_sparse= _has_gds= _has_kleidiai= _has_magma= _has_mkldnn= _has_mkldnn_acl= _has_mps=
  _has_storage _has_tensorexpr_cpp_tests _has_torch_function _has_torch_function_unary _has_torch_function_variadic
  _has_xpu= _host_emptyCache _import_ir_module_from_package _increment_version _infer_size _initCrashHandler
  _initExtension _init_names _is_alias_of _is_any_autocast_enabled _is_autocast_available _is_cached_tensor
  _is_ck_sdpa_available _is_cow_tensor _is_cudnn_attention_decode_disabled _is_default_mobile_cpu_allocator_set
  _is_fake_tensor _is_flash_attention_available _is_fwd_grad_enabled _is_grad_layout_enforcement_enabled
  _is_key_in_tls _is_multithreading_enabled _is_opaque_type_registered _is_pybind11_type
  _is_torch_function_all_disabled _is_torch_function_enabled _is_torch_function_mode_enabled _is_tracing
  _is_view_replay_enabled _is_xnnpack_enabled _ivalue_debug_python_object _ivalue_tags_match _jit_assert_is_instance
  _jit_can_fuse_on_cpu _jit_can_fuse_on_cpu_legacy _jit_can_fuse_on_gpu _jit_cat_wo_conditionals
  _jit_check_alias_annotation _jit_clear_class_registry _jit_debug_fuser_num_cached_kernel_specs
  _jit_debug_module_iterators _jit_decay_packed_param_input_types _jit_decomposition_graph_for_node _jit_differentiate
  _jit_erase_non_input_shape_information _jit_flatten _jit_fuser_get_fused_kernel_code _jit_get_all_schemas
  _jit_get_custom_class_schemas _jit_get_emit_hooks _jit_get_inline_everything_mode _jit_get_logging_option
  _jit_get_num_profiled_runs _jit_get_operation _jit_get_schemas_for_operator _jit_get_te_cuda_pointwise_block_count
  _jit_get_te_cuda_pointwise_block_size _jit_get_te_cuda_pointwise_loop_levels _jit_get_te_generate_block_code
  _jit_get_te_must_use_llvm_cpu _jit_get_tracer_state_warn _jit_has_cpp_tests _jit_init _jit_interpret_graph
  _jit_is_onnx_log_enabled _jit_is_script_object _jit_llga_enabled _jit_nvfuser_can_be_enabled
  _jit_nvfuser_clear_comparison_callback _jit_nvfuser_enabled _jit_nvfuser_horizontal_mode
  _jit_nvfuser_set_comparison_callback _jit_nvfuser_single_node_mode _jit_object_is_non_holding
  _jit_onnx_convert_pattern_from_subblock _jit_onnx_create_full_scope_name _jit_onnx_list_model_parameters
  _jit_onnx_log _jit_opt_conditionals _jit_override_can_fuse_on_cpu _jit_override_can_fuse_on_cpu_legacy
  _jit_override_can_fuse_on_gpu _jit_pass_autocast _jit_pass_batch_mm _jit_pass_canonicalize
  _jit_pass_canonicalize_graph_fuser_ops _jit_pass_complete_shape_analysis _jit_pass_concat_frozen_linear
  _jit_pass_constant_loop_unrolling _jit_pass_constant_pooling _jit_pass_constant_propagation
  _jit_pass_constant_propagation_immutable_types _jit_pass_convert_frozen_ops_to_mkldnn
  _jit_pass_create_autodiff_subgraphs _jit_pass_create_functional_graphs _jit_pass_cse
  _jit_pass_custom_pattern_based_rewrite _jit_pass_custom_pattern_based_rewrite_graph
  _jit_pass_dbr_quant_remove_redundant_aliases _jit_pass_dce _jit_pass_dce_allow_deleting_nodes_with_side_effects
  _jit_pass_dce_graph _jit_pass_decompose_ops _jit_pass_dedup_module_uses _jit_pass_erase_number_types
  _jit_pass_erase_shape_information _jit_pass_filter_non_tensor_arguments _jit_pass_fixup_onnx_controlflow_node
  _jit_pass_fold_convbn _jit_pass_fold_frozen_conv_add_or_sub _jit_pass_fold_frozen_conv_bn
  _jit_pass_fold_frozen_conv_mul_or_div _jit_pass_fold_frozen_linear_bn _jit_pass_fold_prepacking_ops
  _jit_pass_functional_to_inplace_activation _jit_pass_fuse _jit_pass_fuse_add_relu _jit_pass_fuse_addmm
  _jit_pass_fuse_clamp_w_prepacked_linear_conv _jit_pass_fuse_frozen_conv_add_relu _jit_pass_fuse_linear
  _jit_pass_fuse_quantized_add_relu _jit_pass_fuse_tensorexprs _jit_pass_inline _jit_pass_inline_fork_wait
  _jit_pass_inline_functional_graphs _jit_pass_inplace_to_functional_activation
  _jit_pass_insert_observer_method_for_ondevice_ptq _jit_pass_insert_observers _jit_pass_insert_prepack_unpack
  _jit_pass_insert_prepacked_ops _jit_pass_insert_quant_dequant _jit_pass_insert_quant_dequant_for_ondevice_ptq
  _jit_pass_integer_value_refinement _jit_pass_lint _jit_pass_loop_unrolling _jit_pass_lower_all_tuples
  _jit_pass_lower_graph _jit_pass_metal_fold_prepacking_ops _jit_pass_metal_fuse_clamp_w_prepacked_conv
  _jit_pass_metal_insert_prepacked_ops _jit_pass_metal_optimize_for_mobile _jit_pass_onnx
  _jit_pass_onnx_assign_output_shape _jit_pass_onnx_assign_scoped_names_for_node_and_value
  _jit_pass_onnx_autograd_function_process _jit_pass_onnx_block _jit_pass_onnx_cast_all_constant_to_floating
  _jit_pass_onnx_clear_scope_records _jit_pass_onnx_constant_fold _jit_pass_onnx_deduplicate_initializers
  _jit_pass_onnx_eliminate_unused_items _jit_pass_onnx_eval_peephole _jit_pass_onnx_function_extraction
  _jit_pass_onnx_function_substitution _jit_pass_onnx_graph_shape_type_inference _jit_pass_onnx_lint
  _jit_pass_onnx_node_shape_type_inference _jit_pass_onnx_peephole _jit_pass_onnx_preprocess
  _jit_pass_onnx_preprocess_caffe2 _jit_pass_onnx_quantization_insert_permutes
  _jit_pass_onnx_remove_inplace_ops_for_onnx _jit_pass_onnx_remove_print _jit_pass_onnx_scalar_type_analysis
  _jit_pass_onnx_set_dynamic_input_shape _jit_pass_onnx_track_scope_attributes _jit_pass_onnx_unpack_quantized_weights
  _jit_pass_optimize_for_inference _jit_pass_optimize_for_mobile _jit_pass_optimize_frozen_graph
  _jit_pass_pattern_based_rewrite _jit_pass_peephole _jit_pass_peephole_list_idioms
  _jit_pass_prepare_division_for_onnx _jit_pass_propagate_device _jit_pass_propagate_dtype
  _jit_pass_propagate_shapes_on_graph _jit_pass_propagate_shapes_on_graph_and_build_compute _jit_pass_quant_finalize
  _jit_pass_quant_finalize_for_ondevice_ptq _jit_pass_quant_fusion _jit_pass_refine_integer_values
  _jit_pass_refine_tuple_types _jit_pass_remove_dropout _jit_pass_remove_expands _jit_pass_remove_inplace_ops
  _jit_pass_remove_mutation _jit_pass_replace_old_ops_with_upgraders _jit_pass_replicate_dequantize
  _jit_pass_run_decompositions _jit_pass_specialize_autogradzero _jit_pass_swap_functional_linear
  _jit_pass_transform_conv1d_to_conv2d _jit_pass_transpose_frozen_linear _jit_pass_vulkan_fold_prepacking_ops
  _jit_pass_vulkan_fuse_clamp_w_prepacked_conv _jit_pass_vulkan_insert_prepacked_ops
  _jit_pass_vulkan_optimize_for_mobile _jit_register_decomposition_for_schema
  _jit_register_shape_compute_graph_for_node _jit_replace_submodule _jit_resolve_packet _jit_run_cpp_tests
  _jit_script_class_compile _jit_script_compile _jit_script_compile_overload _jit_script_interface_compile
  _jit_set_autocast_mode _jit_set_bailout_depth _jit_set_emit_hooks _jit_set_fusion_strategy
  _jit_set_inline_everything_mode _jit_set_llga_enabled _jit_set_logging_option _jit_set_logging_stream
  _jit_set_num_profiled_runs _jit_set_nvfuser_enabled _jit_set_nvfuser_guard_mode _jit_set_nvfuser_horizontal_mode
  _jit_set_nvfuser_single_node_mode _jit_set_nvfuser_skip_node_kind _jit_set_onnx_log_enabled
  _jit_set_onnx_log_output_stream _jit_set_profiling_executor _jit_set_profiling_mode
  _jit_set_symbolic_shapes_test_mode _jit_set_te_cuda_pointwise_block_count _jit_set_te_cuda_pointwise_block_size
  _jit_set_te_cuda_pointwise_loop_levels _jit_set_te_generate_block_code _jit_set_te_must_use_llvm_cpu
  _jit_set_texpr_dynamic_shape_enabled _jit_set_texpr_fuser_enabled _jit_set_texpr_reductions_enabled
  _jit_set_tracer_state_warn _jit_set_utf8_decoding_ignore _jit_shape_compute_graph_for_node
  _jit_symbolic_shapes_test_mode_enabled _jit_texpr_dynamic_shape_enabled _jit_texpr_fallback_allowed
  _jit_texpr_fuser_enabled _jit_texpr_reductions_enabled _jit_texpr_set_fallback_allowed _jit_to_backend
  _jit_to_backend_selective _jit_to_static_module _jit_trace_graph _jit_trace_module _jit_try_infer_type
  _jit_unflatten _last_executed_optimized_graph _len_torch_dispatch_stack _len_torch_function_stack _llvm_enabled
  _load_for_lite_interpreter _load_for_lite_interpreter_from_buffer _load_jit_module_from_bytes
  _load_jit_module_from_file _load_mobile_module_from_bytes _load_mobile_module_from_file _log_api_usage_metadata
  _log_api_usage_once _logging_set_logger _maybe_call_torch_function_for_op_packet _meta_in_tls_dispatch_include
  _mps_acquireEvent _mps_currentAllocatedMemory _mps_deviceSynchronize _mps_driverAllocatedMemory
  _mps_elapsedTimeOfEvents _mps_emptyCache _mps_get_default_generator _mps_is_available _mps_is_in_bad_fork
  _mps_is_on_macos_or_newer _mps_maxBufferLength _mps_profilerStartTrace _mps_profilerStopTrace _mps_queryEvent
  _mps_recommendedMaxMemory _mps_recordEvent _mps_releaseEvent _mps_setMemoryFraction _mps_synchronizeEvent
  _mps_waitForEvent _mtia_attachOutOfMemoryObserver _mtia_deviceSynchronize _mtia_emptyCache _mtia_exchangeDevice
  _mtia_getCurrentRawStream _mtia_getCurrentStream _mtia_getDefaultStream _mtia_getDevice _mtia_getDeviceCapability
  _mtia_getDeviceCount _mtia_getDeviceProperties _mtia_graphPoolHandle _mtia_init _mtia_isBuilt
  _mtia_isCurrentStreamCapturing _mtia_isInBadFork _mtia_maybeExchangeDevice _mtia_memorySnapshot _mtia_memoryStats
  _mtia_recordMemoryHistory _mtia_resetPeakMemoryStats _mtia_setCurrentStream _mtia_setDevice _mtia_setStream
  _multiprocessing_init _nccl_all_gather _nccl_all_reduce _nccl_broadcast _nccl_init_rank _nccl_reduce
  _nccl_reduce_scatter _nccl_unique_id _nccl_version _nccl_version_suffix _new_symbolic_shape_symbol
  _nn_module_to_mobile _non_sym_sizes _only_lift_cpu_tensors _overlaps _override_stale_capture_stream _parallel_info
  _parse_dispatch_key _parse_source_def _peek_should_skip_torch_function _pickle_load_obj _pickle_save
  _pop_torch_dispatch_stack _pop_torch_function_stack _propagate_and_assign_input_shapes _propagate_shapes
  _propagate_xla_data _push_on_torch_dispatch_stack _push_on_torch_function_stack _quantize_ondevice_ptq_dynamic
  _register_opaque_type _register_py_class_for_device _reinit_DTensor_dispatch_logger _remove_cached_tensor
  _remove_obj_from_tls _remove_worker_pids _rename_privateuse1_backend _replace_ _replace_overloaded_method_decl
  _resolve_type _resolve_type_from_object _rocm_is_backward_pass _rpc_init _run_emit_module_hook _save_jit_module
  _save_jit_module_to_bytes _save_mobile_module _save_mobile_module_to_bytes _save_parameters _scatter _scatter_out
  _select_batch_norm_backend _select_conv_backend _set_autograd_fallback_mode _set_backcompat_broadcast_warn
  _set_backcompat_keepdim_warn _set_blas_preferred_backend _set_cached_tensors_enabled
  _set_check_sparse_tensor_invariants _set_conj _set_cpu_allow_fp16_reduced_precision_reduction
  _set_cublas_allow_bf16_reduced_precision_reduction _set_cublas_allow_fp16_accumulation
  _set_cublas_allow_fp16_reduced_precision_reduction _set_cublas_allow_tf32 _set_cublaslt_prefer_grouped_gemm
  _set_cudnn_allow_tf32 _set_cudnn_benchmark _set_cudnn_depthwise_kernel _set_cudnn_deterministic _set_cudnn_enabled
  _set_default_dtype _set_default_mobile_cpu_allocator _set_default_tensor_type _set_deterministic_algorithms
  _set_deterministic_fill_uninitialized_memory _set_dispatch_mode _set_dtensor_allow_implicit_replication
  _set_fake_constant _set_float32_matmul_precision _set_fp32_precision_setter _set_fwd_grad_enabled
  _set_generator_metaclass _set_grad_enabled _set_grad_layout_enforcement_enabled _set_graph_exec_group
  _set_graph_executor_optimize _set_linalg_preferred_backend _set_math_sdp_allow_fp16_bf16_reduction
  _set_meta_in_tls_dispatch_include _set_miopen_immediate _set_mkldnn_deterministic _set_mkldnn_enabled
  _set_multithreading_enabled _set_native_aot_enabled _set_native_aot_unconditional_masked _set_neg
  _set_nnpack_enabled _set_onednn_allow_tf32 _set_only_lift_cpu_tensors _set_override_stale_capture_stream
  _set_print_stack_traces_on_fatal_signal _set_qengine _set_rocm_fa_preferred_backend _set_sdp_priority_order
  _set_sdp_use_cudnn _set_sdp_use_fa3 _set_sdp_use_fa4 _set_sdp_use_flash _set_sdp_use_math _set_sdp_use_mem_efficient
  _set_sdp_use_overrideable _set_should_use_format_with_string_table _set_skip_next_torch_function
  _set_sm_carveout_experimental _set_storage_access_error_msg _set_storage_data_ptr_access_error_msg
  _set_tensor_metadata _set_thread_name _set_throw_on_mutable_data_ptr _set_torch_function_state _set_tracing_state
  _set_value_trace _set_view_replay_enabled _set_warnAlways _set_warn_deprecated_on_mutable_data_ptr
  _set_warn_on_accumulate_grad_stream_mismatch _set_worker_pids _set_worker_signal_handlers _setenv
  _should_allow_numbers_as_tensors _show_config _skip_one_hop_torch_function _stash_obj_in_tls _storage_Use_Count
  _storage_address _storage_id _storage_throw_on_immutable_data_ptr _storage_throw_on_mutable_data_ptr
  _supported_qengines _swap_tensor_impl _tensor_impl_raw_handle _tensors_data_ptrs_at_indices_equal
  _test_only_add_entry_to_op_version_map _test_only_populate_upgraders _test_only_remove_entry_to_op_version_map
  _test_only_remove_upgraders _to_dlpack _to_dlpack_versioned _to_functionality_key _torchDeviceToDLDevice
  _tracer_set_force_outplace _tracer_set_get_unique_name_fn _tracer_warn_use_python _unregister_opaque_type
  _unsafe_reset_storage _unset_default_mobile_cpu_allocator _unset_dispatch_mode _unsetenv
  _valgrind_supported_platform _valgrind_toggle _valgrind_toggle_and_dump_stats _vmapmode_decrement_nesting
  _vmapmode_increment_nesting _warn _warn_deprecation _warn_on_accumulate_grad_stream_mismatch
  _will_engine_execute_node _wrap_tensor_impl autocast_decrement_nesting autocast_increment_nesting
  clear_autocast_cache default_generator= fork get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
  get_autocast_ipu_dtype get_autocast_xla_dtype get_default_dtype get_num_interop_threads get_num_threads has_lapack=
  has_mkl= has_openmp= has_spectral= import_ir_module import_ir_module_from_buffer init_num_threads
  is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled
  is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled is_grad_enabled is_inference_mode_enabled
  merge_type_from_type_comment parse_ir parse_schema parse_type_comment set_anomaly_enabled set_autocast_cache_enabled
  set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
  set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled set_flush_denormal
  set_num_interop_threads set_num_threads unify_type_list wait
 torch: AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType BenchmarkConfig
  BenchmarkExecutionStats Block BoolType BufferDict CallStack Capsule ClassType Code CompleteArgumentSpec ComplexType
  ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType
  DispatchKey DispatchKeySet EnumType ErrorReport Event ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck
  FloatType FunctionSchema Future FutureType Gradient Graph GraphExecutorState IODescriptor InferredType IntType
  InterfaceType ListType LiteScriptModule LockingLogger ModuleDict Node NoneType NoopLogger NumberType OperatorInfo
  OptionalType OutOfMemoryError ParameterDict PyObjectType PyTorchFileReader PyTorchFileWriter RRefType ScriptClass
  ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptList ScriptListIterator ScriptMethod
  ScriptModule ScriptModuleSerializer ScriptObject ScriptObjectProperty SerializationStorageContext Size StaticModule
  Stream StreamObjType StringType SymBoolType SymIntType Tag TensorType ThroughputBenchmark TracingState TupleType
  Type UnionType Use Value device dtype finfo iinfo layout memory_format qscheme
 torch._utils: _MPSStreamBase _XPUGraph _XPUMemPool _XpuEventBase _XpuStreamBase _xpu_XPUAllocator
  _xpu_beginAllocateCurrentThreadToPool _xpu_endAllocateToPool _xpu_graph_pool_handle _xpu_isCurrentStreamCapturing
  _xpu_releasePool
 torch.jit: CompilationUnit ScriptFunction
 torch.nn.functional: _ScalingType _SwizzleType
torch._VF
 vf=
torch._classes
 _ClassNamespace _Classes
torch._ops
 HigherOrderOperator OpOverload OpOverloadPacket OperatorBase TorchBindOpOverload TransformType
  _HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS= _HigherOrderNamespace _ModeStackStateForPreDispatch _OpNamespace
  _Ops _PyObjectDispatcher _SET_GLOBAL_FLAGS= _call_overload_packet_from_python _compute_keyset
  _contains_fake_script_object _get_current_dispatch_mode_pre_dispatch _get_dispatch_mode_pre_dispatch _get_packet
  _get_tensors _has_script_object_arg _higher_order_ops= _len_torch_dispatch_stack_pre_dispatch
  _mode_stack_state_for_pre_dispatch= _must_dispatch_in_python _pop_mode_from_pre_dispatch _refresh_packet
  _set_mode_pre_dispatch _to_flat_tuple add_cached_op cached_ops= dl_open_guard get_cached_ops is_included_in_alias
  key_extractor mode_stack_state_for_pre_dispatch reset_cached_ops resolve_key unset_mode_pre_dispatch
 torch: DispatchKey DispatchKeySet
 torch._functorch.pyfunctorch: dispatch_functorch
 torch.utils._python_dispatch: TorchDispatchMode
torch._storage_docs
 add_docstr add_docstr_all storage_classes=
torch._tensor
 _convert _dtype_to_typestr _handle_torch_function_and_wrap_type_error_to_not_implemented _rebuild_from_type
  _rebuild_from_type_v2 get_default_nowrap_functions has_torch_function has_torch_function_unary
  has_torch_function_variadic
 torch: Tensor
 torch.overrides: handle_torch_function
torch._tensor_str
 PRINT_OPTS= _Formatter _add_suffixes _functorch_wrapper_str_intern _scalar_str _str _str_intern _tensor_str
  _tensor_str_with_formatter _vector_str get_printoptions get_summarized_data inf= printoptions set_printoptions
  tensor_totype
torch._utils
 CallbackRegistry ExceptionWrapper IMPORT_MAPPING= KeyErrorMessage ModuleType NAME_MAPPING= _Block
  _ClassPropertyDescriptor _Frame _LazySeedTracker _Segment _Snapshot _TraceEntry _augment_frames
  _augment_memory_snapshot_stack_traces _chunk_or_narrow_cat _dummy_type _element_size _flatten_dense_tensors
  _flatten_sparse_tensors _functionalize_sync _get_all_device_indices _get_async_or_non_blocking
  _get_available_device_type _get_current_device_index _get_device_attr _get_device_index _get_device_module
  _get_devices_properties _get_obj_state _get_restore_location _get_sparse_tensors_to_validate _handle_complex
  _import_dotted_name _is_privateuse1_backend_available _maybe_view_chunk_cat _original_os_putenv=
  _original_os_unsetenv= _rebuild_device_tensor_from_cpu_tensor _rebuild_device_tensor_from_numpy
  _rebuild_meta_tensor_no_storage _rebuild_nested_tensor _rebuild_parameter _rebuild_parameter_with_state
  _rebuild_qtensor _rebuild_sparse_tensor _rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3
  _rebuild_wrapper_subclass _rebuild_xla_tensor _reorder_tensors_as _restore_device_fake_mode _set_obj_state
  _take_tensors _to _torch_putenv _torch_unsetenv _type _unflatten_dense_tensors _unflatten_sparse_tensors
  _validate_loaded_sparse_tensors classproperty cpu_count get_current_device_index get_tensor_metadata getenv
  install_os_environ_hook is_compiling remove_os_environ_hook render_call set_tensor_metadata setenv try_import
  unsetenv
torch.accelerator
 Device= current_accelerator current_device_idx current_device_index current_stream device_count device_index
  get_device_capability is_available set_device_idx set_device_index set_stream synchronize
 torch.accelerator._utils: _get_device_index
 torch.accelerator.graphs: Graph
 torch.accelerator.memory: empty_cache empty_host_cache get_memory_info max_memory_allocated max_memory_reserved
  memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats reset_peak_memory_stats
torch.accelerator.graphs
 Graph _acceleratorGraph
torch.accelerator.memory
 Device= _flatten_stats _snapshot empty_cache empty_host_cache get_memory_info max_memory_allocated
  max_memory_reserved memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats
  reset_peak_memory_stats
 torch.accelerator._utils: _get_device_index
torch.accelerator.random
 Device= get_rng_state get_rng_state_all initial_seed
 torch: Tensor
 torch.accelerator._utils: _get_device_index
torch.amp
 torch.amp.autocast_mode: _enter_autocast _exit_autocast autocast custom_bwd custom_fwd is_autocast_available
 torch.amp.grad_scaler: GradScaler
torch.amp.autocast_mode
 HAS_NUMPY= _UnmanagedAutocast _cast _dtype _enter_autocast _exit_autocast autocast autocast_decorator custom_bwd
  custom_fwd is_autocast_available
torch.amp.grad_scaler
 GradScaler OptState _MultiDeviceReplicator _refresh_per_optimizer_state
torch.autograd
 DeviceType ProfilerActivity ProfilerConfig ProfilerEvent ProfilerState SavedTensor _KinetoEvent _OptionalTensor=
  _ProfilerResult _ShapeorNestedShape= _TensorOrOptionalTensors= _TensorOrTensorsOrGradEdge _add_metadata_json
  _calculate_shape _disable_profiler _disable_profiler_legacy _enable_profiler _enable_profiler_legacy
  _enable_record_function _get_sequence_nr _is_checkpoint_valid _is_kineto_stopped _kineto_step _make_grads
  _pop_saved_tensors_default_hooks _prepare_profiler _profiler_enabled _push_saved_tensors_default_hooks
  _record_function_with_args_enter _record_function_with_args_exit _register_py_tensor_class_for_device
  _set_empty_test_observer _size= _supported_activities _tensor_or_tensors_to_tuple _toggle_collection_dynamic
  backward grad has_torch_function is_multithreading_enabled is_view_replay_enabled kineto_available variable
 torch.autograd.anomaly_mode: detect_anomaly set_detect_anomaly
 torch.autograd.function: Function NestedIOFunction
 torch.autograd.grad_mode: _force_original_view_tracking _unsafe_preserve_version_counter enable_grad
  enforce_grad_layout_policy inference_mode no_grad set_grad_enabled set_multithreading_enabled
 torch.autograd.gradcheck: gradcheck gradgradcheck
 torch.autograd.graph: _engine_run_backward
 torch.autograd.variable: Variable
 torch.overrides: handle_torch_function is_tensor_like
torch.autograd.anomaly_mode
 detect_anomaly set_detect_anomaly
torch.autograd.forward_ad
 UnpackedDualTensor _current_level= _is_fwd_grad_enabled _maybe_load_decompositions _set_fwd_grad_enabled dual_level
  enter_dual_level exit_dual_level make_dual unpack_dual
 torch.utils._contextlib: _DecoratorContextManager
torch.autograd.function
 AUTOGRAD_FUNCTION_COUNTER= BackwardCFunction Function FunctionCtx FunctionMeta InplaceFunction NestedIOFunction
  _ContextMethodMixin _HookMixin _SingleLevelFunction _bind_default_args _call_custom_function_call
  _is_setup_context_defined _iter_None_tensors _iter_filter _iter_jit_values _iter_tensors _iter_tensors_permissive
  _jit_unwrap_structured _map_tensor_data _nested_map _unflatten custom_function_call once_differentiable
torch.autograd.functional
 _as_tuple _as_tuple_nocheck _autograd_grad _check_requires_grad _construct_standard_basis_for _fill_in_zeros
  _grad_postprocess _grad_preprocess _jacfwd _tuple_postprocess _validate_v hessian hvp jacobian jvp vhp vjp
 torch._vmap_internals: _vmap
torch.autograd.grad_mode
 _enter_inference_mode _exit_inference_mode _force_original_view_tracking _unsafe_preserve_version_counter enable_grad
  enforce_grad_layout_policy inference_mode no_grad set_grad_enabled set_multithreading_enabled
 torch.utils._contextlib: _DecoratorContextManager _NoParamDecoratorContextManager
torch.autograd.gradcheck
 FAILED_BATCHED_GRAD_MSG= FAILED_BATCHED_GRAD_MSG_FWD_AD= FAILED_NONDET_MSG= FAST_FAIL_SLOW_OK_MSG= GradcheckError
  _TensorOrOptionalTensors= _TensorOrTensors= _adjusted_atol _allclose_with_type_promotion
  _allocate_jacobians_with_inputs _allocate_jacobians_with_outputs _as_tuple _check_analytical_jacobian_attributes
  _check_analytical_numerical_equal _check_inputs _check_jacobians_equal _check_no_differentiable_outputs
  _check_no_differentiable_outputs_fast _check_outputs _check_outputs_same_dtype_and_shape _combine_jacobian_cols
  _compute_analytical_jacobian_rows _compute_numerical_gradient _compute_numerical_jvps_wrt_specific_input _densify
  _differentiable_outputs _dot_with_type_promotion _fast_gradcheck _get_analytical_jacobian
  _get_analytical_jacobian_forward_ad _get_analytical_vJu_backward_mode _get_analytical_vjps_wrt_specific_output
  _get_failed_batched_grad_test_msg _get_inp_tensors _get_input_to_perturb _get_notallclose_msg
  _get_numerical_jacobian _get_numerical_jvp_fn _get_numerical_jvp_wrt_specific_input _get_numerical_vJu
  _gradcheck_helper _gradcheck_real_imag _is_float_or_complex_tensor _is_sparse_any_tensor
  _is_sparse_compressed_tensor _iter_tensor _iter_tensors _make_vectors _mul_tensor_or_tuple _prepare_input
  _real_and_imag_input _real_and_imag_output _reshape_tensor_or_tuple _run_slow_mode_and_get_error _slow_gradcheck
  _stack_and_check_tensors _test_backward_mul_by_grad_output _test_batched_grad _test_batched_grad_forward_ad
  _test_undefined_backward_mode _test_undefined_forward_mode _to_flat_dense_if_sparse _to_real_dtype _transpose
  _vec_from_tensor _with_prepare_inputs get_analytical_jacobian get_numerical_jacobian
  get_numerical_jacobian_wrt_specific_input gradcheck gradgradcheck
 torch._vmap_internals: _vmap vmap
 torch.overrides: is_tensor_like
torch.autograd.graph
 GradientEdge Node _AllowMutationOnSavedContext _CloneArgBeforeMutateMode _Handle _MultiHandle _SID _TID
  _allow_mutation_on_saved_tensors_enabled= _engine_run_backward _get_grad_fn_or_grad_acc _get_sid _get_tid
  _register_logging_hooks_on_whole_graph _swap_with_cloned allow_mutation_on_saved_tensors disable_saved_tensors_hooks
  get_gradient_edge increment_version node_creation_hook queue_callback region_activation_memory_budget
  register_multi_grad_hook save_on_cpu saved_tensors_hooks set_override_stale_capture_stream
  set_warn_on_accumulate_grad_stream_mismatch
 torch.autograd.variable: Variable
 torch.utils._python_dispatch: TorchDispatchMode
 torch.utils.hooks: RemovableHandle
torch.autograd.profiler
 DeviceType EnforceUnique KinetoStepTracker MEMORY_EVENT_NAME= OUT_OF_MEMORY_EVENT_NAME= ProfilerActivity
  ProfilerConfig ProfilerState _ContextDecorator _EnforceUnique _ExperimentalConfig _ProfilerResult _ProfilerStats
  _active_cuspy_profiler_observer= _disable_profiler _enable_profiler _get_privateuse1_backend_name
  _is_profiler_enabled= _kineto_step _parse_nvprof_trace _prepare_profiler _run_on_profiler_start
  _run_on_profiler_stop _set_active_cuspy_profiler_observer _set_is_profiler_enabled _supported_activities
  _toggle_collection_dynamic emit_itt emit_nvtx kineto_available load_nvprof parse_nvprof_trace profile
  record_function
 torch.autograd.profiler_util: EventList FunctionEvent MemRecordsAcc _filter_name _filter_stack_entry _rewrite_name
 torch.jit: Future
torch.autograd.profiler_legacy
 DeviceType MEMORY_EVENT_NAME= ProfilerConfig ProfilerState _disable_profiler_legacy _enable_profiler_legacy
  _parse_legacy_records profile
 torch.autograd.profiler_util: EventList FunctionEvent _filter_name _filter_stack_entry _rewrite_name
torch.autograd.profiler_util
 DeviceType EventList EventMetadata FormattedTimesMixin FunctionEvent FunctionEventAvg Interval Kernel
  MEMORY_EVENT_NAME= MemRecordsAcc OUT_OF_MEMORY_EVENT_NAME= StringTable _EVENT_METADATA_KEYS= _attr_formatter
  _build_metadata _build_table _canonicalize_profiler_events _filter_name _filter_stack_entry _format_memory
  _format_time _format_time_share _rewrite_name _to_bool _to_str
torch.autograd.variable
 ImperativeEngine Variable VariableMeta
torch.backends
torch.backends.cpu
 get_cpu_capability
torch.backends.cuda
 SDPAParams _BlasBackends= _BlasBackends_str= _LinalgBackends= _LinalgBackends_str= _ROCmFABackends=
  _ROCmFABackends_str= allow_fp16_bf16_reduction_math_sdp blas_workspace_size can_use_cudnn_attention
  can_use_efficient_attention can_use_flash_attention cuBLASModule cuFFTPlanCache cuFFTPlanCacheAttrContextProp
  cuFFTPlanCacheManager cublas_workspace_size cublaslt_workspace_size cudnn_sdp_enabled cufft_plan_cache=
  enable_cudnn_sdp enable_flash_sdp enable_math_sdp enable_mem_efficient_sdp flash_sdp_enabled
  fp16_bf16_reduction_math_sdp_allowed is_built is_ck_sdpa_available is_flash_attention_available math_sdp_enabled
  matmul= mem_efficient_sdp_enabled preferred_blas_library preferred_linalg_library preferred_rocm_fa_library
  sdp_kernel
 torch.nn.attention: SDPBackend
torch.backends.cudnn
torch.backends.cudnn.rnn
torch.backends.cusparselt
 _init get_max_alg_id is_available version
torch.backends.kleidiai
 is_available
torch.backends.mha
 _is_fastpath_enabled= get_fastpath_enabled set_fastpath_enabled
torch.backends.miopen
torch.backends.mkl
 VERBOSE_OFF= VERBOSE_ON= is_available verbose
torch.backends.mkldnn
torch.backends.mps
 _Library _lru_cache get_core_count get_name is_available is_built is_macos13_or_newer is_macos_or_newer
torch.backends.nnpack
 flags is_available set_flags
 torch.backends: ContextProp PropModule
torch.backends.openmp
 is_available
torch.backends.opt_einsum
torch.backends.python_native
torch.backends.quantized
torch.backends.xeon
torch.backends.xeon.run_cpu
 REMAINDER= _CPUinfo _DefaultLogsSpecs _Launcher _add_kmp_iomp_params _add_memory_allocator_params
  _add_multi_instance_params create_args format_str= main
 torch.distributed.elastic.multiprocessing: start_processes
 torch.distributed.elastic.multiprocessing.api: Std
torch.backends.xnnpack
torch.compiler
 FuncType PrecompileError _SUPPORTED_NESTED_REGION_INDUCTOR_CONFIG_KEYS= _compile_session_context _is_compiling_flag=
  _is_exporting_flag= _is_non_strict_tracing _is_non_strict_tracing_flag= _non_strict_tracing_context
  _patch_autograd_grad _patch_engine_backward allow_in_graph assume_constant_result compile cudagraph_mark_step_begin
  cudagraph_mark_warmup_incomplete disable get_default_backend is_compiling is_dynamo_compiling is_exporting
  keep_portable_guards_unsafe keep_tensor_guards_unsafe list_backends load_cache_artifacts load_compiled_function
  nested_compile_region nonstrict_trace reset save_cache_artifacts set_default_backend set_enable_guard_collectives
  set_stance skip_all_guards_unsafe skip_guard_on_all_nn_modules_unsafe skip_guard_on_globals_unsafe
  skip_guard_on_inbuilt_nn_modules_unsafe substitute_in_graph wrap_numpy
 torch._higher_order_ops.invoke_subgraph: NestedCompileRegionOptions
 torch.compiler._cache: CacheInfo
torch.compiler.config
 _compile_ignored_keys= _config= _get_dict_cache_var= _get_dict_dirty_keys_var= _hash_cache_var= _hash_dirty_var=
 torch.utils._config_module: Config install_config_module
torch.compiler.precompile
 Capture MakeFxTracer PrecompileSummary PrecompiledRunnable capture load
 torch.compiler: PrecompileError
torch.cpu
 Event MappingProxyType Stream StreamContext _current_stream= _default_cpu_stream= _device _init_amx
  _is_amx_fp16_supported _is_amx_tile_supported _is_avx2_supported _is_avx512_bf16_supported _is_avx512_supported
  _is_vnni_supported current_device current_stream device_count get_capabilities is_available is_initialized
  set_device stream synchronize
torch.cuda
 BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CharStorage CharTensor
  ComplexDoubleStorage ComplexFloatStorage CudaError DEVICE_REQUIREMENT=
  DEVICE_REQUIREMENT_POST_JETSON_SBSA_UNIFICATION= DeferredCudaCallError Device= DoubleStorage DoubleTensor
  FloatStorage FloatTensor HalfStorage HalfTensor IntStorage IntTensor LongStorage LongTensor
  PYTORCH_RELEASES_CODE_CC= ShortStorage ShortTensor StreamContext _AMDSMI_ERR= _CompatInterval _CompatSet _CudaBase
  _CudaDeviceProperties _DeviceGuard _HAS_AMDSMI= _HAS_PYNVML= _POOL_HANDLE _PYNVML_ERR= _StrayContextCheckType
  _WrappedTritonKernel _cached_device_count= _cached_hip_to_amdsmi= _check_bf16_tensor_supported _check_capability
  _check_cubins _check_stray_context _code_compatible_with_device _compile_kernel _device_count_amdsmi
  _device_count_nvml _device_requirement _exchange_device _extract_arch_version _get_amdsmi_clock_rate
  _get_amdsmi_device_index _get_amdsmi_device_index_from_hip_index _get_amdsmi_device_memory_used _get_amdsmi_handler
  _get_amdsmi_memory_usage _get_amdsmi_power_draw _get_amdsmi_temperature _get_amdsmi_utilization _get_device
  _get_generator _get_nvml_device_index _get_pynvml_handler _get_rng_state_offset _get_stray_context_mode
  _host_arch_key _initialization_lock= _initialized= _is_compiled _is_in_bad_fork _lazy_call _lazy_init _lazy_new
  _lazy_seed_tracker= _maybe_exchange_device _nvml_based_avail _parse_visible_devices _primary_context_devices
  _queued_calls= _raw_device_count_amdsmi _raw_device_count_nvml _raw_device_uuid_amdsmi _raw_device_uuid_nvml
  _register_triton_kernels _set_rng_state_offset _set_stream_by_id _sleep _tls= _transform_uuid_to_ordinals
  _warn_unsupported_code can_device_access_peer check_error clock_rate cudaStatus cudart current_blas_handle
  current_device current_solver_handle current_stream default_generators= default_stream device device_count
  device_memory_used device_of get_arch_list get_device_capability get_device_name get_device_properties
  get_gencode_flags get_stream_from_external get_sync_debug_mode has_half= has_magma= init ipc_collect is_available
  is_bf16_supported is_initialized is_tf32_supported memory_usage power_draw set_device set_stream set_sync_debug_mode
  stream synchronize temperature utilization
 torch: AcceleratorError OutOfMemoryError
 torch._utils: _LazySeedTracker _dummy_type classproperty
 torch.cuda._utils: _get_device_index
 torch.cuda.graphs: CUDAGraph export_dot export_graph_data graph graph_pool_handle is_current_stream_capturing
  make_graphed_callables
 torch.cuda.green_contexts: GreenContext
 torch.cuda.memory: CUDAPluggableAllocator MemPool _use_uvm caching_allocator_alloc caching_allocator_delete
  caching_allocator_disabled caching_allocator_enable change_current_allocator empty_cache get_allocator_backend
  get_per_process_memory_fraction host_memory_stats host_memory_stats_as_nested_dict list_gpu_processes
  max_memory_allocated max_memory_cached max_memory_reserved mem_get_info memory_allocated memory_cached
  memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary
  reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated
  reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats set_per_process_memory_fraction
  use_mem_pool
 torch.cuda.random: get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all
  set_rng_state set_rng_state_all
 torch.cuda.streams: Event ExternalStream Stream
 torch.storage: _warn_typed_storage_removal
torch.cuda.amp
 torch.cuda.amp.autocast_mode: autocast custom_bwd custom_fwd
 torch.cuda.amp.common: amp_definitely_not_available
 torch.cuda.amp.grad_scaler: GradScaler
torch.cuda.amp.autocast_mode
 _cast autocast custom_bwd custom_fwd
torch.cuda.amp.common
 amp_definitely_not_available
torch.cuda.amp.grad_scaler
 GradScaler
 torch.amp.grad_scaler: OptState
torch.cuda.comm
 torch.nn.parallel.comm: broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter
torch.cuda.gds
 GdsFile _dummy_fn gds_deregister_buffer gds_register_buffer is_available
 torch.types: Storage
torch.cuda.graph_annotations
 clear_kernel_annotations dump_kernel_py_stacks get_kernel_annotations get_kernel_py_stacks is_available mark_kernels
torch.cuda.graphs
 CUDAGraph _ANNOTATION_CONFIG_KEYS= _CUDAGraph _DlInfo _GraphPool _ModuleOrCallable _RetainedCallbacks
  _cuda_isCurrentStreamCapturing _dump_graph_dot _get_pool_id _global_capture_end_hooks= _global_capture_start_hooks=
  _global_destroy_hooks= _global_instantiate_hooks= _global_replay_end_hooks= _global_replay_start_hooks=
  _graph_pool_handle _is_mem_pool _parse_annotation_config _register_global_hook _require_cuda_bindings
  _resolve_host_fn_name _run_global_hooks _run_graph_destroy_hooks export_dot export_graph_data graph
  graph_pool_handle is_current_stream_capturing make_graphed_callables register_graph_capture_end_hook
  register_graph_capture_start_hook register_graph_destroy_hook register_graph_instantiate_hook
  register_graph_replay_end_hook register_graph_replay_start_hook
 torch: Tensor
 torch._utils: _dummy_type
 torch.cuda._utils: _check_cuda_bindings
torch.cuda.green_contexts
 GreenContext SMPartition _CONTEXT_STACK_DEPRECATION= _HAS_CUDA_BINDINGS= _STREAMS_PER_GREEN_CONTEXT_POOL=
  _WORKQUEUE_SCOPE_VALUES= _ensure_cuda_version _ensure_locality_supported _ensure_supported
  _ensure_workqueue_supported _get_driver_version _get_locality_domain_count _is_locality_software_supported
  _is_localization_supported_nvml _parse_workqueue_scope get_num_locality_domains is_localization_supported
 torch.cuda._utils: _check_cuda _check_cuda_bindings _ensure_cuda_bindings_version _get_cuda_library
torch.cuda.jiterator
 _CodeParser _JittedFunction _create_jit_fn _create_multi_output_jit_fn
 torch: Tensor
torch.cuda.memory
 CUDAPluggableAllocator MemPool _CUDAAllocator _MemPool _UVM_ALLOCATOR= _UVM_ALLOCATOR_LOCK= _allocation_traceback
  _annotate_tensor _cuda_CUDAAllocator _cuda_beginAllocateCurrentThreadToPool _cuda_beginAllocateToPool
  _cuda_endAllocateToPool _cuda_releasePool _dump_snapshot _get_current_allocator _get_memory_metadata _host_allocator
  _make_uvm_allocator _memory _memory_metadata_supported _record_memory_history _record_memory_history_impl
  _record_memory_history_legacy _recurse_add_to_result _save_memory_usage _save_segment_usage _segments
  _set_allocator_settings _set_memory_metadata _snapshot _use_uvm caching_allocator_alloc caching_allocator_delete
  caching_allocator_disabled caching_allocator_enable change_current_allocator empty_cache get_allocator_backend
  get_per_process_memory_fraction host_memory_stats host_memory_stats_as_nested_dict list_gpu_processes
  max_memory_allocated max_memory_cached max_memory_reserved mem_get_info memory_allocated memory_cached
  memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary
  reset_accumulated_host_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated
  reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats set_per_process_memory_fraction
  use_mem_pool
 torch._utils: _augment_memory_snapshot_stack_traces _dummy_type
 torch.cuda: _get_amdsmi_device_index _get_nvml_device_index _lazy_init is_initialized
 torch.cuda._utils: _get_device_index
torch.cuda.nccl
 SUM= _check_sequence_type all_gather all_reduce broadcast init_rank is_available reduce reduce_scatter unique_id
  version
torch.cuda.nvtx
 _device_range_end _device_range_start mark range range_end range_pop range_push range_start
torch.cuda.profiler
 DEFAULT_FLAGS= profile start stop
 torch.cuda: check_error cudart
torch.cuda.random
 get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state
  set_rng_state_all
 torch: Tensor
 torch.cuda: _lazy_call _lazy_init current_device device_count is_initialized
torch.cuda.sparse
 BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
torch.cuda.streams
 Event ExternalStream Stream
 torch._utils: _dummy_type
torch.distributed
 BuiltinCommHookType DistBackendError DistError DistNetworkError DistStoreError FileStore GradBucket GroupName
  HashStore Logger QueueEmptyError RankType= Reducer TCPStore _Backend _DEFAULT_FIRST_BUCKET_BYTES= _Work
  _breakpoint_cache= _broadcast_coalesced _compute_bucket_assignment_by_size _is_spmd_types_available
  _make_distributed_pdb _make_nccl_premul_sum _register_builtin_comm_hook _register_comm_hook _spmd_no_typecheck
  _spmd_types_available= _test_python_store _verify_params_across_processes breakpoint default_pg_timeout=
  get_debug_level is_available reduce_op= set_debug_level set_debug_level_from_env
 torch.distributed.device_mesh: DeviceMesh init_device_mesh
 torch.distributed.distributed_c10d: AllToAllOptions AllreduceCoalescedOptions AllreduceOptions Backend BackendConfig
  BarrierOptions BroadcastOptions DebugLevel GatherOptions GroupMember P2POp PrefixStore ProcessGroup ProcessGroupGloo
  ProcessGroupNCCL ProcessGroupNCCL2 ProcessGroupNCCLLazy ReduceOp ReduceOptions ReduceScatterOptions ScatterOptions
  Store Work _CoalescingManager _all_gather_base _coalescing_manager _create_process_group_wrapper
  _get_process_group_name _get_reconfigure_handle _new_window _rank_not_in_group _reconfigure _reduce_scatter_base
  _supports_reconfigure _supports_window _time_estimator all_gather all_gather_coalesced all_gather_into_tensor
  all_gather_object all_gather_single all_reduce all_reduce_coalesced all_to_all all_to_all_single barrier
  batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather gather_into_tensor gather_object
  gather_single get_backend get_backend_config get_backend_impl get_default_backend_for_device get_global_rank
  get_group_rank get_node_local_rank get_pg_count get_process_group_ranks get_rank get_world_size group
  init_process_group irecv is_backend_available is_gloo_available is_initialized is_mpi_available is_nccl_available
  is_torchelastic_launched is_ucc_available is_xccl_available isend monitored_barrier new_group new_subgroups
  new_subgroups_by_enumeration record_comm recv recv_object_list reduce reduce_scatter reduce_scatter_single
  reduce_scatter_tensor scatter scatter_object_list send send_object_list set_timeout shrink_group split_group
  supports_complex
 torch.distributed.remote_device: _remote_device
 torch.distributed.rendezvous: _create_store_from_options register_rendezvous_handler rendezvous
torch.distributed.algorithms
 torch.distributed.algorithms.join: Join JoinHook Joinable
torch.distributed.algorithms.ddp_comm_hooks
 DDPCommHookType _ddp_comm_hook_wrapper _enum_member _powerSGD_comm_hook_wrapper register_ddp_comm_hook
torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook
 _NO_PARAM_UPDATE= _broadcast_bucket _hook_with_zero_step_setup _perform_local_step _save_ddp_bucket_info
  hook_with_zero_step hook_with_zero_step_interleaved
 torch.distributed.optim.zero_redundancy_optimizer: ZeroRedundancyOptimizer _OverlapStatus
 torch.nn.parallel.distributed: DistributedDataParallel
torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks
 GradBucket noop_hook
torch.distributed.algorithms.ddp_comm_hooks.default_hooks
 _allreduce_fut _compress_hook allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook
  fp16_compress_wrapper
torch.distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks
 _AllreduceUpcastHookState _reducer_allreduce_and_upcast_hook
 torch.autograd.variable: Variable
 torch.distributed.utils: _free_storage
torch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks
 _FUNCTIONAL_OPTIM_STEP_METHOD_NAME= _OptimInBackwardHookState _OptimizerHookState _apply_optim_in_backward_hook
  _hook_then_optimizer
 torch.autograd.variable: Variable
torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook
 PostLocalSGDState post_localSGD_hook
torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook
 PowerSGDState _orthogonalize _orthogonalize_gram_schmidt _report_compression_stats _should_compress
  batched_powerSGD_hook powerSGD_hook
 torch.utils._typing_utils: not_none
torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks
 _dequantize_per_channel_backend _dequantize_per_tensor_backend _get_allgather_out_list _quantize_per_channel_backend
  _quantize_per_tensor_backend quantization_perchannel_hook quantization_pertensor_hook
torch.distributed.algorithms.join
 Join JoinHook Joinable TracebackType _JoinConfig
torch.distributed.algorithms.model_averaging
torch.distributed.algorithms.model_averaging.averagers
 ModelAverager PeriodicModelAverager _not_none
torch.distributed.algorithms.model_averaging.hierarchical_model_averager
 HierarchicalModelAverager
torch.distributed.algorithms.model_averaging.utils
 average_parameters average_parameters_or_parameter_groups get_params_to_average
 torch.distributed.distributed_c10d: ProcessGroup group
torch.distributed.argparse_util
 check_env env
torch.distributed.c10d_logger
 _DEFAULT_DESTINATION= _WaitCounter _c10d_logger= _exception_logger _get_logging_handler _get_msg_dict
  _get_or_create_logger _log_handlers= _time_logger
torch.distributed.collective_utils
 SyncPayload _check_cpu_rng_sync _check_philox_rng_sync _check_rng_sync _check_rng_sync_internal _desync_table_str
  _summarize_ranks all_gather all_gather_object_enforce_type broadcast
torch.distributed.config
 _compile_ignored_keys= _config= _get_dict_cache_var= _get_dict_dirty_keys_var= _hash_cache_var= _hash_dirty_var=
 torch.utils._config_module: Config install_config_module
torch.distributed.constants
 _DEFAULT_PG_NCCL_TIMEOUT= _DEFAULT_PG_TIMEOUT= default_pg_nccl_timeout= default_pg_timeout=
torch.distributed.device_mesh
 BackendConfig C10dBackend DeviceMesh GroupName IntLikeType= _MeshEnv _device_mesh_reconstruct_fn
  _distributed_opaque_types_registered= _get_device_handle _get_pg_from_name _maybe_traced_group _mesh_resources=
  _normalize_backend_override _register_distributed_opaque_types _resolve_process_group init_device_mesh
 torch._custom_class_base: CustomClassBase
 torch.distributed: is_available
 torch.distributed._mesh_layout: _FlatLayout _MeshLayout
 torch.distributed.distributed_c10d: GroupMember ProcessGroup _get_default_group _register_process_group_opaque_type
  get_backend get_process_group_ranks get_rank get_world_size init_process_group is_initialized new_group split_group
 torch.utils._typing_utils: not_none
torch.distributed.distributed_c10d
 AllToAllOptions AllgatherOptions AllreduceCoalescedOptions AllreduceOptions Backend BackendConfig BarrierOptions
  BroadcastOptions C10DBackend DebugLevel FlightRecorderHook GatherOptions GroupMember GroupName HealthCheckHook
  NanCheckHook P2POp PG_WRAPPER_STORE_PREFIX= PrefixStore ProcessGroup ProcessGroupGloo ProcessGroupNCCL
  ProcessGroupNCCL2 ProcessGroupNCCLLazy ReconfigureOptions ReduceOp ReduceOptions ReduceScatterOptions SHRINK_ABORT=
  SHRINK_DEFAULT= STORE_BASED_BARRIER_PREFIX= ScatterOptions Store Window Work _CoalescingManager _CollOp
  _DistributedBackendOptions _FR_SELF_RECORDING_BACKENDS= _GLOO_AVAILABLE= _GroupMetadata _IllegalWork _MPI_AVAILABLE=
  _NCCL_AVAILABLE= _NonGroupMember _PGConfig _ProcessGroupWrapper _ReduceOp= _ShrinkGroupInfo _TORCHCOMM_AVAILABLE=
  _TimeEstimator _TorchComm _UCC_AVAILABLE= _WaitCounter _World _WorldMeta _WorldPGConfig _XCCL_AVAILABLE=
  _abort_process_group _add_ephemeral_timeout_for_all_pgs _all_gather_base _as_iterable _backend=
  _canonicalize_group_rank _check_not_self_rank _check_op _check_p2p_op_list _check_single_backend_availability
  _check_single_tensor _check_tensor_list _check_valid_timeout _cleanup_original_group
  _cleanup_process_group_global_state _coalescing_manager _create_gloo_process_group _create_mpi_process_group
  _create_nccl2_process_group _create_nccl_lazy_process_group _create_nccl_process_group _create_process_group_wrapper
  _create_shrunk_process_group _create_torchcomms_backend _create_ucc_process_group _create_xccl_process_group
  _default_pg_init_method= _destroy_all_other_groups _device_capability _ensure_all_tensors_same_dtype _export_c_types
  _extract_group_metadata _finalize_shrunk_group _find_or_create_pg_by_ranks_and_tag _find_pg_by_ranks_and_tag
  _get_all_pg_configs _get_backend_from_str _get_backend_name_for_device _get_default_backend_type_for_backend_config
  _get_default_group _get_default_store _get_default_timeout _get_global_rank _get_group_size _get_group_size_by_name
  _get_group_tag _get_object_coll_device _get_pg_config _get_pg_default_device _get_process_group_name
  _get_process_group_store _get_process_group_uid _get_reconfigure_handle _get_split_source _group_count=
  _group_or_default_group _hash_ranks_to_str _is_barrier_after_init _is_fp8 _is_torchcomms_backend
  _maybe_attach_flight_recorder _nccl2_device _nccl2_options _new_group_with_tag _new_process_group_helper _new_window
  _object_to_tensor _parse_backend_string _pg_backend_config= _pg_group_ranks= _pg_map= _pg_names=
  _pg_options_to_hints _pg_to_tag= _pickler _prepare_shrink_target_group _process_group_color _process_group_name
  _rank_not_in_group _reconfigure _reduce_op _reduce_scatter_base _register_builtin_gloo_backend
  _register_builtin_mpi_backend _register_builtin_nccl2_backend _register_builtin_nccl_as_legacy
  _register_builtin_nccl_backend _register_builtin_nccl_lazy_backend _register_builtin_nccl_legacy_backend
  _register_builtin_ucc_backend _register_builtin_xccl_backend _register_pg_in_world _register_process_group
  _register_process_group_opaque_type _resolve_group_name_by_ranks_and_tag _resolve_process_group
  _resolve_torchcomms_backend _resolve_torchcomms_device _set_pg_timeout _store_based_barrier _supports_reconfigure
  _supports_window _tags_to_pg= _tensor_to_object _time_estimator _torchcomms_handles_backend
  _torchcomms_is_backend_built _torchcomms_is_backend_registered _unpickler _unregister_all_process_groups
  _unregister_process_group _update_default_pg _use_torchcomms_enabled _validate_and_process_excluded_ranks
  _validate_output_list_for_rank _validate_shrink_backend_requirements _validate_shrink_inputs _warn_not_in_group
  _world= all_gather all_gather_coalesced all_gather_into_tensor all_gather_object all_gather_single all_reduce
  all_reduce_coalesced all_to_all all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list
  default_pg_nccl_timeout= default_pg_timeout= destroy_process_group gather gather_into_tensor gather_object
  gather_single get_backend get_backend_config get_backend_impl get_debug_level get_default_backend_for_device
  get_global_rank get_group_rank get_node_local_rank get_pg_count get_process_group_ranks get_rank get_world_size
  group has_torch_function init_process_group irecv is_backend_available is_gloo_available is_initialized
  is_mpi_available is_nccl_available is_torchelastic_launched is_ucc_available is_xccl_available isend
  monitored_barrier new_group new_subgroups new_subgroups_by_enumeration record_comm recv recv_object_list reduce
  reduce_op= reduce_scatter reduce_scatter_single reduce_scatter_tensor scatter scatter_object_list send
  send_object_list set_timeout shrink_group split_group supports_complex
 torch._utils_internal: set_pytorch_distributed_envs_from_justknobs
 torch.distributed: DistStoreError
 torch.distributed.c10d_logger: _exception_logger _time_logger
 torch.distributed.rendezvous: register_rendezvous_handler rendezvous
 torch.overrides: handle_torch_function
 torch.utils._typing_utils: not_none
torch.distributed.launch
 _deprecated launch main parse_args
 torch.distributed.run: get_args_parser run
torch.distributed.logging_handlers
 _log_handlers=
torch.distributed.remote_device
 _remote_device
torch.distributed.rendezvous
 FileStore TCPStore _agent_store_serves _create_c10d_store _create_store_from_options _env_rendezvous_handler
  _file_rendezvous_handler _get_use_libuv_from_query_dict _query_to_dict _rendezvous_error _rendezvous_handlers=
  _rendezvous_helper _tcp_rendezvous_handler _torchelastic_use_agent_store default_pg_timeout=
  register_rendezvous_handler rendezvous
 torch.distributed.distributed_c10d: Store
torch.distributed.run
 REMAINDER= _Action _AffinityMode _NumaOptions _PrintCompletionAction _get_logs_specs_class config_from_args
  determine_local_world_size get_args_parser get_rdzv_endpoint get_use_env main parse_args parse_min_max_nnodes run
  run_script_path
 torch.distributed.argparse_util: check_env env
 torch.distributed.elastic.multiprocessing.api: DefaultLogsSpecs LogsSpecs Std
 torch.distributed.elastic.multiprocessing.errors: record
 torch.distributed.elastic.rendezvous.utils: _parse_rendezvous_config
 torch.distributed.elastic.utils.api: macros
 torch.distributed.elastic.utils.logging: get_logger
 torch.distributed.launcher.api: LaunchConfig elastic_launch
 torch.utils.backend_registration: _get_custom_mod_func
torch.distributed.utils
 _alloc_storage _apply_to_tensors _cast_forward_inputs _data_ptr_allocated _free_storage _get_root_modules _p_assert
  _pack_kwargs _recursive_to _replace_by_prefix _sync_module_states _sync_params_and_buffers _to_kwargs _unpack_kwargs
  _verify_param_shape_across_processes
 torch.nn.utils.rnn: PackedSequence
torch.distributions
 biject_to identity_transform transform_to
 torch.distributions.bernoulli: Bernoulli
 torch.distributions.beta: Beta
 torch.distributions.binomial: Binomial
 torch.distributions.categorical: Categorical
 torch.distributions.cauchy: Cauchy
 torch.distributions.chi2: Chi2
 torch.distributions.continuous_bernoulli: ContinuousBernoulli
 torch.distributions.dirichlet: Dirichlet
 torch.distributions.distribution: Distribution
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.exponential: Exponential
 torch.distributions.fishersnedecor: FisherSnedecor
 torch.distributions.gamma: Gamma
 torch.distributions.generalized_pareto: GeneralizedPareto
 torch.distributions.geometric: Geometric
 torch.distributions.gumbel: Gumbel
 torch.distributions.half_cauchy: HalfCauchy
 torch.distributions.half_normal: HalfNormal
 torch.distributions.independent: Independent
 torch.distributions.inverse_gamma: InverseGamma
 torch.distributions.kl: kl_divergence register_kl
 torch.distributions.kumaraswamy: Kumaraswamy
 torch.distributions.laplace: Laplace
 torch.distributions.lkj_cholesky: LKJCholesky
 torch.distributions.log_normal: LogNormal
 torch.distributions.logistic_normal: LogisticNormal
 torch.distributions.lowrank_multivariate_normal: LowRankMultivariateNormal
 torch.distributions.mixture_same_family: MixtureSameFamily
 torch.distributions.multinomial: Multinomial
 torch.distributions.multivariate_normal: MultivariateNormal
 torch.distributions.negative_binomial: NegativeBinomial
 torch.distributions.normal: Normal
 torch.distributions.one_hot_categorical: OneHotCategorical OneHotCategoricalStraightThrough
 torch.distributions.pareto: Pareto
 torch.distributions.poisson: Poisson
 torch.distributions.relaxed_bernoulli: RelaxedBernoulli
 torch.distributions.relaxed_categorical: RelaxedOneHotCategorical
 torch.distributions.studentT: StudentT
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform
  CumulativeDistributionTransform ExpTransform IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform
  PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform
  StickBreakingTransform TanhTransform Transform
 torch.distributions.uniform: Uniform
 torch.distributions.von_mises: VonMises
 torch.distributions.weibull: Weibull
 torch.distributions.wishart: Wishart
torch.distributions.bernoulli
 Bernoulli Number= _Number= nan=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all lazy_property logits_to_probs probs_to_logits
 torch.nn.functional: binary_cross_entropy_with_logits
torch.distributions.beta
 Beta _Number= _size=
 torch: Tensor
 torch.distributions.dirichlet: Dirichlet
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all
torch.distributions.binomial
 Binomial _clamp_by_zero
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all lazy_property logits_to_probs probs_to_logits
torch.distributions.categorical
 Categorical nan=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: lazy_property logits_to_probs probs_to_logits
torch.distributions.cauchy
 Cauchy _Number= _size= inf= nan=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.chi2
 Chi2
 torch: Tensor
 torch.distributions.gamma: Gamma
torch.distributions.constraint_registry
 ConstraintRegistry _Number= _biject_to_cat _biject_to_independent _biject_to_simplex _biject_to_stack
  _transform_to_cat _transform_to_corr_cholesky _transform_to_greater_than _transform_to_independent
  _transform_to_interval _transform_to_less_than _transform_to_lower_cholesky _transform_to_positive
  _transform_to_positive_definite _transform_to_real _transform_to_simplex _transform_to_stack biject_to transform_to
torch.distributions.constraints
 Constraint MixtureSameFamilyConstraint _Boolean _Cat _CorrCholesky _Dependent _DependentProperty _GreaterThan
  _GreaterThanEq _HalfOpenInterval _IndependentConstraint _IntegerGreaterThan _IntegerInterval _IntegerLessThan
  _Interval _LessThan _LowerCholesky _LowerTriangular _Multinomial _OneHot _PositiveDefinite _PositiveSemidefinite
  _Real _Simplex _Square _Stack _Symmetric boolean= cat corr_cholesky= dependent dependent_property greater_than
  greater_than_eq half_open_interval independent integer_interval interval is_dependent less_than lower_cholesky=
  lower_triangular= multinomial nonnegative= nonnegative_integer= one_hot= positive= positive_definite=
  positive_integer= positive_semidefinite= real= real_vector= simplex= square= stack symmetric= unit_interval=
torch.distributions.continuous_bernoulli
 ContinuousBernoulli Number= _Number= _size=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all clamp_probs lazy_property logits_to_probs probs_to_logits
 torch.nn.functional: binary_cross_entropy_with_logits
torch.distributions.dirichlet
 Dirichlet _Dirichlet _Dirichlet_backward _size=
 torch: Tensor
 torch.autograd.function: Function once_differentiable
 torch.distributions.exp_family: ExponentialFamily
torch.distributions.distribution
 Distribution _all_true_or_runtime_assert _size=
 torch: Tensor
 torch.distributions.utils: lazy_property
torch.distributions.exp_family
 ExponentialFamily
 torch: Tensor
 torch.distributions.distribution: Distribution
torch.distributions.exponential
 Exponential _Number= _size=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all
torch.distributions.fishersnedecor
 FisherSnedecor _Number= _size= nan=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.gamma: Gamma
 torch.distributions.utils: broadcast_all
torch.distributions.gamma
 Gamma _Number= _size= _standard_gamma
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all
torch.distributions.generalized_pareto
 GeneralizedPareto inf= nan=
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.geometric
 Geometric Number= _Number=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all lazy_property logits_to_probs probs_to_logits
 torch.nn.functional: binary_cross_entropy_with_logits
torch.distributions.gumbel
 Gumbel _Number= euler_constant=
 torch: Tensor
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AffineTransform ExpTransform
 torch.distributions.uniform: Uniform
 torch.distributions.utils: broadcast_all
torch.distributions.half_cauchy
 HalfCauchy inf=
 torch: Tensor
 torch.distributions.cauchy: Cauchy
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AbsTransform
torch.distributions.half_normal
 HalfNormal inf=
 torch: Tensor
 torch.distributions.normal: Normal
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AbsTransform
torch.distributions.independent
 Independent _size=
 torch: Size Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: _sum_rightmost
torch.distributions.inverse_gamma
 InverseGamma
 torch: Tensor
 torch.distributions.gamma: Gamma
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: PowerTransform
torch.distributions.kl
 _KL_MEMOIZE= _KL_REGISTRY= _Match _add_kl_info _batch_trace_XXT _dispatch_kl _euler_gamma= _infinite_like
  _kl_bernoulli_bernoulli _kl_bernoulli_poisson _kl_beta_beta _kl_beta_continuous_bernoulli _kl_beta_exponential
  _kl_beta_gamma _kl_beta_infinity _kl_beta_normal _kl_beta_uniform _kl_binomial_binomial _kl_categorical_categorical
  _kl_cauchy_cauchy _kl_continuous_bernoulli_continuous_bernoulli _kl_continuous_bernoulli_exponential
  _kl_continuous_bernoulli_infinity _kl_continuous_bernoulli_normal _kl_continuous_bernoulli_uniform
  _kl_dirichlet_dirichlet _kl_expfamily_expfamily _kl_exponential_exponential _kl_exponential_gamma
  _kl_exponential_gumbel _kl_exponential_infinity _kl_exponential_normal _kl_gamma_exponential _kl_gamma_gamma
  _kl_gamma_gumbel _kl_gamma_infinity _kl_gamma_normal _kl_geometric_geometric _kl_gumbel_gumbel _kl_gumbel_infinity
  _kl_gumbel_normal _kl_halfnormal_halfnormal _kl_independent_independent _kl_laplace_infinity _kl_laplace_laplace
  _kl_laplace_normal _kl_lowrankmultivariatenormal_lowrankmultivariatenormal
  _kl_lowrankmultivariatenormal_multivariatenormal _kl_multivariatenormal_lowrankmultivariatenormal
  _kl_multivariatenormal_multivariatenormal _kl_normal_gumbel _kl_normal_infinity _kl_normal_laplace _kl_normal_normal
  _kl_onehotcategorical_onehotcategorical _kl_pareto_exponential _kl_pareto_gamma _kl_pareto_infinity
  _kl_pareto_normal _kl_pareto_pareto _kl_poisson_infinity _kl_poisson_poisson _kl_transformed_transformed
  _kl_uniform_beta _kl_uniform_continuous_bernoulli _kl_uniform_exponetial _kl_uniform_gamma _kl_uniform_gumbel
  _kl_uniform_normal _kl_uniform_pareto _kl_uniform_uniform _x_log_x inf= kl_divergence register_kl
 torch: Tensor
 torch.distributions.bernoulli: Bernoulli
 torch.distributions.beta: Beta
 torch.distributions.binomial: Binomial
 torch.distributions.categorical: Categorical
 torch.distributions.cauchy: Cauchy
 torch.distributions.continuous_bernoulli: ContinuousBernoulli
 torch.distributions.dirichlet: Dirichlet
 torch.distributions.distribution: Distribution
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.exponential: Exponential
 torch.distributions.gamma: Gamma
 torch.distributions.geometric: Geometric
 torch.distributions.gumbel: Gumbel
 torch.distributions.half_normal: HalfNormal
 torch.distributions.independent: Independent
 torch.distributions.laplace: Laplace
 torch.distributions.lowrank_multivariate_normal: LowRankMultivariateNormal _batch_lowrank_logdet
  _batch_lowrank_mahalanobis
 torch.distributions.multivariate_normal: MultivariateNormal _batch_mahalanobis
 torch.distributions.normal: Normal
 torch.distributions.one_hot_categorical: OneHotCategorical
 torch.distributions.pareto: Pareto
 torch.distributions.poisson: Poisson
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.uniform: Uniform
 torch.distributions.utils: _sum_rightmost
torch.distributions.kumaraswamy
 Kumaraswamy _moments euler_constant= nan=
 torch: Tensor
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AffineTransform PowerTransform
 torch.distributions.uniform: Uniform
 torch.distributions.utils: broadcast_all
torch.distributions.laplace
 Laplace _Number= _size=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.lkj_cholesky
 LKJCholesky
 torch: Tensor
 torch.distributions.beta: Beta
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.log_normal
 LogNormal
 torch: Tensor
 torch.distributions.normal: Normal
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: ExpTransform
torch.distributions.logistic_normal
 LogisticNormal
 torch: Tensor
 torch.distributions.independent: Independent
 torch.distributions.normal: Normal
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: StickBreakingTransform
torch.distributions.lowrank_multivariate_normal
 LowRankMultivariateNormal _batch_capacitance_tril _batch_lowrank_logdet _batch_lowrank_mahalanobis _size=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.multivariate_normal: _batch_mahalanobis _batch_mv
 torch.distributions.utils: _standard_normal lazy_property
torch.distributions.mixture_same_family
 MixtureSameFamily
 torch: Tensor
 torch.distributions.categorical: Categorical
 torch.distributions.constraints: MixtureSameFamilyConstraint
 torch.distributions.distribution: Distribution
torch.distributions.multinomial
 Multinomial inf=
 torch: Tensor
 torch.distributions.binomial: Binomial
 torch.distributions.categorical: Categorical
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.multivariate_normal
 MultivariateNormal _batch_mahalanobis _batch_mv _precision_to_scale_tril _size=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: _standard_normal lazy_property
torch.distributions.negative_binomial
 NegativeBinomial
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.gamma: Gamma
 torch.distributions.utils: broadcast_all lazy_property logits_to_probs probs_to_logits
torch.distributions.normal
 Normal _Number= _size=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: _standard_normal broadcast_all
torch.distributions.one_hot_categorical
 OneHotCategorical OneHotCategoricalStraightThrough _size=
 torch: Tensor
 torch.distributions.categorical: Categorical
 torch.distributions.distribution: Distribution
torch.distributions.pareto
 Pareto _size=
 torch: Tensor
 torch.distributions.exponential: Exponential
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AffineTransform ExpTransform
 torch.distributions.utils: broadcast_all
torch.distributions.poisson
 Number= Poisson _Number=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.utils: broadcast_all
torch.distributions.relaxed_bernoulli
 LogitRelaxedBernoulli Number= RelaxedBernoulli _Number= _size=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: SigmoidTransform
 torch.distributions.utils: broadcast_all clamp_probs lazy_property logits_to_probs probs_to_logits
torch.distributions.relaxed_categorical
 ExpRelaxedCategorical RelaxedOneHotCategorical _size=
 torch: Tensor
 torch.distributions.categorical: Categorical
 torch.distributions.distribution: Distribution
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: ExpTransform
 torch.distributions.utils: broadcast_all clamp_probs
torch.distributions.studentT
 StudentT _size= inf= nan=
 torch: Tensor
 torch.distributions.chi2: Chi2
 torch.distributions.distribution: Distribution
 torch.distributions.utils: _standard_normal broadcast_all
torch.distributions.transformed_distribution
 TransformedDistribution _size=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.independent: Independent
 torch.distributions.transforms: ComposeTransform Transform
 torch.distributions.utils: _sum_rightmost
torch.distributions.transforms
 AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform CumulativeDistributionTransform
  ExpTransform IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform
  SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform TanhTransform Transform
  _InverseTransform _Number= _clipped_sigmoid identity_transform softplus
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: _sum_rightmost broadcast_all lazy_property tril_matrix_to_vec vec_to_tril_matrix
 torch.nn.functional: pad
torch.distributions.uniform
 Uniform _Number= _size= nan=
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all
torch.distributions.utils
 Device= Number= _Number= _dtype _lazy_property_and_property _standard_normal _sum_rightmost broadcast_all clamp_probs
  euler_constant= lazy_property logits_to_probs probs_to_logits tril_matrix_to_vec vec_to_tril_matrix
 torch: SymInt Tensor
 torch.overrides: is_tensor_like
torch.distributions.von_mises
 VonMises _COEF_LARGE= _COEF_SMALL= _I0_COEF_LARGE= _I0_COEF_SMALL= _I1_COEF_LARGE= _I1_COEF_SMALL= _eval_poly
  _log_modified_bessel_fn _rejection_sample
 torch: Tensor
 torch.distributions.distribution: Distribution
 torch.distributions.utils: broadcast_all lazy_property
torch.distributions.weibull
 Weibull euler_constant=
 torch: Tensor
 torch.distributions.exponential: Exponential
 torch.distributions.transformed_distribution: TransformedDistribution
 torch.distributions.transforms: AffineTransform PowerTransform
 torch.distributions.utils: broadcast_all
torch.distributions.wishart
 Number= Wishart _Number= _clamp_above_eps _log_2= _mvdigamma _size= nan=
 torch: Tensor
 torch.distributions.exp_family: ExponentialFamily
 torch.distributions.multivariate_normal: _precision_to_scale_tril
 torch.distributions.utils: lazy_property
torch.fft
 _add_docstr common_args= factory_common_args= fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn
  ifftshift ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn
 torch: Tensor
torch.foreach
 Number= PySymType= _OMITTED_ALPHA= _Scalar= _ScalarList= _TensorList= _TensorTuple _binary_doc _common_doc _complex
  _flatten_foreach_args _handle_torch_function _has_torch_function _make_foreach_api _pointwise_doc _result_doc
  _unary_doc abs abs_ acos acos_ add add_ addcdiv addcdiv_ addcmul addcmul_ asin asin_ atan atan_ ceil ceil_ clamp_max
  clamp_max_ clamp_min clamp_min_ clone copy_ cos cos_ cosh cosh_ div div_ erf erf_ erfc erfc_ exp exp_ expm1 expm1_
  floor floor_ frac frac_ lerp lerp_ lgamma lgamma_ log10 log10_ log1p log1p_ log2 log2_ log_ max maximum maximum_
  minimum minimum_ mm mul mul_ neg neg_ norm pow pow_ reciprocal reciprocal_ round round_ rsqrt rsqrt_ sigmoid
  sigmoid_ sign sign_ sin sin_ sinh sinh_ sqrt sqrt_ sub sub_ tan tan_ tanh tanh_ trunc trunc_ zero_
 torch: Tensor
torch.func
 debug_unwrap functional_call functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize rearrange
  replace_all_batch_norm_modules_ stack_module_state vjp vmap
torch.functional
 _ListOrSeq _add_docstr _check_list_size _consecutive_return_counts _consecutive_return_inverse
  _consecutive_return_inverse_and_counts _consecutive_return_inverse_false _consecutive_return_inverse_true
  _consecutive_return_output _lu_impl _lu_no_infos _lu_with_infos _meshgrid _return_counts _return_inverse
  _return_inverse_and_counts _return_inverse_false _return_inverse_true _return_output _unique_consecutive_impl
  _unique_consecutive_torch_function _unique_impl _unique_impl_out _unique_torch_function _unravel_index atleast_1d
  atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul einsum
  has_torch_function has_torch_function_unary has_torch_function_variadic istft lu meshgrid norm overload split stft
  tensordot unique unique_consecutive unravel_index
 torch: Tensor
 torch._jit_internal: boolean_dispatch
 torch._lowrank: pca_lowrank svd_lowrank
 torch.overrides: handle_torch_function
torch.futures
 collect_all wait_all
 torch.jit: Future
torch.fx
 PH=
 torch.fx._symbolic_trace: ProxyableClassMeta Tracer symbolic_trace wrap
 torch.fx.graph: CodeGen Graph
 torch.fx.graph_module: GraphModule
 torch.fx.interpreter: Interpreter Transformer
 torch.fx.node: Node has_side_effect map_arg
 torch.fx.proxy: Proxy
 torch.fx.subgraph_rewriter: replace_pattern
torch.fx._compatibility
 _BACK_COMPAT_OBJECTS= _MARKED_WITH_COMPATIBILITY= compatibility
torch.fx._pytree
 FlattenFnExactMatchSpec FlattenFnSpec FlattenFuncExactMatchSpec FlattenFuncSpec PyTree SUPPORTED_NODES=
  SUPPORTED_NODES_EXACT_MATCH= _deregister_pytree_flatten_spec _dict_flatten_spec _dict_flatten_spec_exact_match
  _list_flatten_spec _list_flatten_spec_exact_match _namedtuple_flatten_spec _namedtuple_flatten_spec_exact_match
  _tuple_flatten_spec _tuple_flatten_spec_exact_match register_pytree_flatten_spec return_type tree_flatten_spec
 torch.utils._pytree: TreeSpec tree_flatten
torch.fx._symbolic_trace
 Argument CURRENT_PATCHER= CodeType FunctionType HAS_VARSTUFF= ModuleType PH= PHBase PHWithMeta ProxyableClassMeta
  TracebackType Tracer _ConstantAttributeType= _PatchedFn _PatchedFnDel _PatchedFnSetAttr _PatchedFnSetItem _Patcher
  _assert_is_none _autowrap_check _constant_attribute_types= _create_wrapped_func _create_wrapped_method _find_proxy
  _get_is_fx_tracing _is_fx_tracing_context _is_fx_tracing_tls= _maybe_revert_all_patches _new_patcher
  _orig_module_call _orig_module_getattr _patch_function _patch_wrapped_functions _proxyable_classes=
  _set_is_fx_tracing _transfer_attrs _wrapped_fns_to_patch= _wrapped_methods_to_patch= base_types=
  is_fx_symbolic_tracing is_fx_tracing is_fx_tracing_warning symbolic_trace wrap
 torch: ScriptObject
 torch._library.fake_class_registry: FakeScriptObject
 torch._library.opaque_object: is_custom_class is_opaque_symbolic_type
 torch.fx._compatibility: compatibility
 torch.fx._lazy_graph_module: _make_graph_module
 torch.fx.graph: Graph _PyTreeCodeGen _PyTreeInfo
 torch.fx.graph_module: GraphModule
 torch.fx.node: map_aggregate
 torch.fx.proxy: ParameterProxy Proxy Scope ScopeContextManager TracerBase
torch.fx.graph
 Argument CodeGen Graph PythonCode Target= TransformCodeFunc _BoxedCodeGen _CustomBuiltin _ExportCodeGen
  _FindNodesLookupTable _InputArgs= _InsertPoint _Namespace _NodeIter _ParsedStackTrace _PyTreeCodeGen _PyTreeInfo
  _color_codes= _color_fns= _counter_regexp= _custom_builtins= _format_target _identity _illegal_char_regex=
  _illegal_names= _is_from_torch _is_magic _legal_ops= _make_color_fn _name_regex= _node_list _origin_type_map=
  _override_sym_repr _parse_stack_trace _register_custom_builtin _snake_case _snake_case_sub _torch_but_not_dynamo
  dtype_abbrs= inplace_methods= magic_methods= map_arg py_sym_types= reflectable_magic_methods=
 torch._library.opaque_object: get_opaque_obj_repr is_opaque_constant_type
 torch.fx._compatibility: compatibility
 torch.fx.immutable_collections: immutable_dict
 torch.fx.node: Node _device_annotation _get_qualified_name _type_repr
 torch.fx.tensor_type: TensorType
torch.fx.graph_module
 FX_GRAPH_MODULE_FILE_PREFIX= GraphModule _CodeOnlyModule _EvalCacheLoader _USER_PRESERVED_ATTRIBUTES_KEY=
  _WrappedCall _assign_attr _copy_attr _custom_builtins= _del_attr _deserialize_graph_module _exec_with_source
  _format_import_block _format_import_statement _forward_from_src _get_attr _get_attr_via_attr_list _has_attr _loader=
  _metadata_hash _method_from_src _print_readable _share_torchbind_and_process_group=
  _share_torchbind_and_process_group_on_deepcopy reduce_graph_module reduce_package_graph_module sys_importer=
 torch.fx._compatibility: compatibility
 torch.fx.graph: Graph PythonCode _BoxedCodeGen _PyTreeCodeGen _is_from_torch _override_sym_repr
 torch.nn.modules.module: _addindent
 torch.package.importer: Importer
 torch.package.package_exporter: PackageExporter
 torch.package.package_importer: PackageImporter
torch.fx.immutable_collections
 Context _help_mutation= _immutable_dict_flatten _immutable_dict_unflatten _immutable_list_flatten
  _immutable_list_unflatten _no_mutation immutable_dict immutable_list
 torch.fx._compatibility: compatibility
 torch.utils._pytree: _dict_flatten _dict_flatten_with_keys _dict_unflatten _list_flatten _list_flatten_with_keys
  _list_unflatten register_pytree_node
torch.fx.interpreter
 Argument Interpreter Target= Transformer _format_fx_node tqdm
 torch._logging._internal: LazyString trace_structured
 torch.fx._compatibility: compatibility
 torch.fx._lazy_graph_module: _make_graph_module
 torch.fx._symbolic_trace: Tracer
 torch.fx.graph: Graph
 torch.fx.graph_module: GraphModule
 torch.fx.node: Node map_aggregate map_arg
 torch.fx.proxy: Proxy
torch.fx.node
 Argument BaseArgumentTypes Node Target= _NodeBase _device_annotation _find_module_of_method _format_arg
  _fx_map_aggregate _fx_map_arg _get_qualified_name _legal_ops= _side_effectful_functions=
  _side_effectful_need_to_be_preserved_pre_dispatch= _type_repr base_types= dtype_abbrs= has_side_effect map_aggregate
  map_arg
 torch.fx._compatibility: compatibility
 torch.fx.operator_schemas: ArgsKwargsPair normalize_function normalize_module
torch.fx.operator_schemas
 ArgsKwargsPair _FakeGlobalNamespace _SCHEMA_TO_SIGNATURE_CACHE= _args_kwargs_to_normalized_args_kwargs
  _manual_overrides= _nonzero_schemas _normalize_function_or_error _torchscript_schema_to_signature
  _torchscript_schema_to_signature_impl _torchscript_type_to_python_type _type_eval_globals= boolean_dispatched=
  check_for_mutable_operation create_type_hint get_signature_for_torch_op k= normalize_function normalize_module
  type_matches
 torch._ops: OpOverload OpOverloadPacket
 torch.fx._compatibility: compatibility
 torch.utils._inspect: _fast_bind
torch.fx.proxy
 Argument Attribute GraphAppendingTracer MetaProxy ParameterProxy Proxy Scope ScopeContextManager Target= TraceError
  TracerBase _COPY_META_FIELDS= _STACK_TRACE_ANCHORS= _create_arg_bypass= _create_arg_dict _define_reflectable
  _find_arbitrary_callable _get_seq_nr _is_arbitrary_callable _no_nodes_error _register_stack_trace_anchor _scope
  annotation_log= assert_fn base_types= magic_methods= map_arg method= orig_method_name= reflectable_magic_methods=
 torch._library.opaque_object: is_opaque_constant_type
 torch._logging._internal: getArtifactLogger
 torch.fx._compatibility: compatibility
 torch.fx.graph: Graph
 torch.fx.immutable_collections: immutable_dict immutable_list
 torch.fx.node: Node
 torch.fx.operator_schemas: check_for_mutable_operation
 torch.utils._pytree: tree_map_
 torch.utils._traceback: CapturedTraceback
torch.fx.subgraph_rewriter
 Match ReplacedPatterns _replace_attributes _replace_pattern replace_pattern replace_pattern_with_filters
 torch.fx._compatibility: compatibility
 torch.fx._symbolic_trace: symbolic_trace
 torch.fx.graph: Graph
 torch.fx.graph_module: GraphModule
 torch.fx.node: Node map_arg
torch.fx.tensor_type
 Dyn= TensorType _DynType is_consistent is_more_precise
 torch.fx._compatibility: compatibility
 torch.fx.experimental.unification.variable: Var
torch.fx.traceback
 GRADIENT_ACC_SPECIAL_STACK= MEMORY_BUDGET_ANNOTATION_KEY= NodeSource NodeSourceAction _FX_METADATA_REGISTRY=
  _dynamo_region_activation_memory_budget _get_custom_metadata _get_memory_budget_annotation
  _get_ordered_seq_nr_groups _get_regional_inductor_subgraph_name _is_preserving_node_seq_nr _mark_autograd_backward
  _preserve_node_seq_nr _regional_inductor_subgraph_name_tls= _register_fx_metadata _reset_autograd_backward
  _set_autograd_backward _set_regional_inductor_subgraph_name _should_preserve_node_meta= annotate annotate_fn
  current_meta= current_replay_node= format_stack get_current_meta get_current_replay_node get_graph_provenance_json
  has_preserved_node_meta preserve_node_meta reset_grad_fn_seq_nr set_current_meta set_current_replay_node
  set_grad_fn_seq_nr set_stack_trace should_preserve_node_meta=
 torch._utils_internal: signpost_event
 torch.fx._compatibility: compatibility
 torch.fx.graph: Graph
 torch.fx.graph_module: GraphModule
 torch.fx.node: Node
torch.hub
 DEFAULT_CACHE_DIR= ENV_GITHUB_TOKEN= ENV_TORCH_HOME= ENV_XDG_CACHE_HOME= HASH_REGEX= MAP_LOCATION= MODULE_HUBCONF=
  READ_DATA_CHUNK= VAR_DEPENDENCY= _Faketqdm _PATH_SEP_PATTERN= _TRUSTED_REPO_OWNERS= _add_to_sys_path
  _check_dependencies _check_module_exists _check_repo_is_trusted _get_cache_or_reload _get_torch_home
  _git_archive_link _hub_dir= _import_module _is_legacy_zip_format _legacy_zip_load _load_attr_from_module
  _load_entry_from_hubconf _load_local _parse_repo_info _read_url _remove_if_exists _safe_extract_zip
  _validate_not_a_forked_repo download_url_to_file get_dir help list load load_state_dict_from_url set_dir tqdm
torch.jit
 CompilationUnit Error Future ScriptFunction _Await _flatten _fork _hide_source_ranges _set_fusion_strategy _wait
  annotate enable_onednn_fusion export_opnames isinstance last_executed_optimized_graph onednn_fusion_enabled
  script_if_tracing strict_fusion
 torch._jit_internal: _IgnoreContextManager _drop _isinstance _overload _overload_method export ignore is_scripting
  unused
 torch.jit._async: fork wait
 torch.jit._await: _awaitable _awaitable_nowait _awaitable_wait
 torch.jit._decomposition_utils: _register_decomposition
 torch.jit._freeze: freeze optimize_for_inference run_frozen_optimizations
 torch.jit._fuser: fuser optimized_execution set_fusion_strategy
 torch.jit._ir_utils: _InsertPoint
 torch.jit._script: Attribute RecursiveScriptClass RecursiveScriptModule ScriptModule ScriptWarning _ScriptProfile
  _unwrap_optional interface script script_method
 torch.jit._serialization: jit_module_from_flatbuffer load save save_jit_module_to_flatbuffer
 torch.jit._trace: ONNXTracedModule TopLevelTracedModule TracedModule TracerWarning TracingCheckError _get_trace_graph
  _script_if_tracing _unique_state_dict is_tracing trace trace_module
 torch.utils: set_module
torch.jit.annotations
 BroadcastingList1= BroadcastingList2= BroadcastingList3= EvalEnv Module _GeneratorType _eval_no_call _fake_rcb
  ann_to_type check_fn get_enum_value_type get_param_names get_signature get_type_line is_function_or_method is_tensor
  is_vararg parse_type_line split_type_line try_ann_to_type try_real_annotations
 torch: AnyType AwaitType BoolType ComplexType DeviceObjType DictType EnumType FloatType FutureType IntType
  InterfaceType ListType NoneType NumberType OptionalType RRefType StreamObjType StringType TensorType TupleType
  UnionType
 torch._jit_internal: _qualified_name is_await is_dict is_future is_ignored_fn is_list is_optional is_rref is_tuple
  is_union
 torch._ops: OpOverloadPacket
 torch._sources: get_source_lines_and_file
 torch.distributed.rpc.api: RRef
 torch.jit: Future _Await
 torch.jit._state: _get_script_class
torch.jit.frontend
 Apply Assert Assign Attribute AugAssign BinOp Break Builder ClassDef Const Continue DATACLASS_MAGIC_METHODS= Decl Def
  Delete DictComp DictLiteral Dots EmptyTypeAnnotation ExprBuilder ExprStmt FalseLiteral For FrontendError
  FrontendTypeError Ident If ListComp ListLiteral NoneLiteral NotSupportedError Param Pass Property Raise Return
  Select SliceExpr Starred Stmt StmtBuilder StringLiteral Subscript TernaryIf TrueLiteral TupleLiteral UnaryOp
  UnsupportedNodeError Var While With WithItem WithItemBuilder _ParsedDef _identifier_chars= _reserved_names=
  _reserved_prefix= _vararg_kwarg_err= build_class_def build_def build_expr build_ignore_context_manager build_param
  build_param_list build_stmt build_stmts build_withitem build_withitems find_before get_class_assigns
  get_class_properties get_default_args get_default_args_for_class get_jit_class_def get_jit_def is_reserved_name
  is_torch_jit_ignore_context_manager make_source_context monkeytype_trace= node_start_tokens= pretty_node_names=
 torch._jit_internal: FunctionModifiers _is_drop_fn is_static_fn should_drop
 torch._sources: get_source_lines_and_file parse_def
 torch.jit._monkeytype_config: get_qualified_name
torch.jit.generate_bytecode
 _compile_graph_to_code_table _generate_upgraders_graph format_bytecode generate_upgraders_bytecode
torch.jit.quantized
 QuantizedGRU QuantizedGRUCell QuantizedLSTM QuantizedLSTMCell QuantizedLinear QuantizedLinearFP16 QuantizedRNNBase
  QuantizedRNNCell QuantizedRNNCellBase quantize_linear_modules quantize_rnn_cell_modules quantize_rnn_modules
torch.jit.supported_ops
 _emit_arg _emit_args _emit_ret _emit_rets _emit_schema _emit_type _get_builtins_helper _get_global_builtins
  _get_math_builtins _get_nn_functional_ops _get_tensor_ops _get_torchscript_builtins _hidden _is_math_fn
  _list_supported_ops
 torch.jit._builtins: _find_builtin
torch.jit.unsupported_tensor_ops
 _gen_unsupported_methods_properties _list_unsupported_tensor_ops execWrapper
torch.library
 Library NAMELESS_SCHEMA= _ _OPCHECK_DEFAULT_UTILS= _check_pystubs_once _clear_torch_ops_cache _defs= _del_library
  _device_type_to_key _dtype _impl _impls= _keep_alive= _library_for_registration _op_identifier
  _register_effectful_op _reserved_namespaces= _resolve_op_for_registration _scoped_library _validate_inplace_schema
  _validate_out_schema custom_op define device_types_t= fallthrough_kernel get_ctx get_kernel impl impl_abstract
  infer_schema opcheck register_autocast register_autograd register_fake register_kernel register_torch_dispatch
  register_vmap triton_op wrap_triton
 torch._library.custom_ops: CustomOpDef _cast _maybe_get_opdef
 torch._library.effects: EffectType
 torch._ops: OpOverload
torch.linalg
 LinAlgError _add_docstr _powsum cholesky cholesky_ex common_notes= cond cross det diagonal eig eigh eigvals eigvalsh
  householder_product inv inv_ex ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matmul
  matrix_exp matrix_norm matrix_power matrix_rank matrix_sqrth multi_dot norm pinv polar qr slogdet solve solve_ex
  solve_triangular svd svdvals tensorinv tensorsolve vander vecdot vector_norm
torch.masked
 torch.masked._ops: _canonical_dim _combine_input_and_mask _generate_docstring _input_mask _output_mask
  _reduction_identity _where amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm
  normalize prod softmax softmin std sum var
 torch.masked.maskedtensor.core: MaskedTensor is_masked_tensor
 torch.masked.maskedtensor.creation: as_masked_tensor masked_tensor
torch.mps
 _default_mps_generator= _get_default_mps_generator _host_alias_storage _is_in_bad_fork compile_shader
  current_allocated_memory device_count driver_allocated_memory empty_cache get_rng_state is_available load_metallib
  manual_seed recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize
 torch: Tensor
 torch.mps.event: Event
 torch.mps.streams: Stream current_stream default_stream set_stream stream
torch.mps.event
 Event
torch.mps.profiler
 ProfilerMode is_capturing_metal is_metal_capture_enabled metal_capture profile start stop
torch.mps.streams
 Stream current_stream default_stream set_stream stream
 torch._utils: _dummy_type
torch.multiprocessing
 ENV_VAR_PARALLEL_START= _RT _all_sharing_strategies= _get_thread_name _prctl_pr_set_pdeathsig _set_thread_name
  _sharing_strategy= get_all_sharing_strategies get_sharing_strategy set_sharing_strategy
 torch.multiprocessing.reductions: init_reductions
 torch.multiprocessing.spawn: ProcessContext ProcessExitedException ProcessRaisedException SpawnContext spawn
  start_processes
torch.multiprocessing.pool
 Pool clean_worker
 torch.multiprocessing.queue: SimpleQueue
torch.multiprocessing.queue
 ConnectionWrapper Queue SimpleQueue
torch.multiprocessing.reductions
 SharedCache StorageWeakRef _rebuild_event _reduce_event fd_id init_reductions rebuild_cuda_tensor rebuild_event
  rebuild_meta_tensor rebuild_nested_tensor rebuild_sparse_compressed_tensor rebuild_sparse_coo_tensor
  rebuild_storage_empty rebuild_storage_fd rebuild_storage_filename rebuild_tensor rebuild_typed_storage
  rebuild_typed_storage_child reduce_nested_tensor reduce_sparse_tensor reduce_storage reduce_tensor
  reduce_typed_storage reduce_typed_storage_child shared_cache= storage_from_cache
torch.multiprocessing.spawn
 ENV_VAR_PARALLEL_START= ProcessContext ProcessException ProcessExitedException ProcessRaisedException SpawnContext
  _prctl_pr_set_pdeathsig _wrap spawn start_processes
torch.nn
 factory_kwargs
 torch.nn.modules.activation: CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
  LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus
  Softshrink Softsign Tanh Tanhshrink Threshold
 torch.nn.modules.adaptive: AdaptiveLogSoftmaxWithLoss
 torch.nn.modules.batchnorm: BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
  SyncBatchNorm
 torch.nn.modules.channelshuffle: ChannelShuffle
 torch.nn.modules.container: Container ModuleDict ModuleList ParameterDict ParameterList Sequential
 torch.nn.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d
  LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
 torch.nn.modules.distance: CosineSimilarity PairwiseDistance
 torch.nn.modules.dropout: AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout
 torch.nn.modules.flatten: Flatten Unflatten
 torch.nn.modules.fold: Fold Unfold
 torch.nn.modules.instancenorm: InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
  LazyInstanceNorm3d
 torch.nn.modules.linear: Bilinear Identity LazyLinear Linear
 torch.nn.modules.linear_cross_entropy_options: LinearCrossEntropyOptions
 torch.nn.modules.loss: BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
  HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss
  MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss
  TripletMarginLoss TripletMarginWithDistanceLoss
 torch.nn.modules.module: Module
 torch.nn.modules.normalization: CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm
 torch.nn.modules.padding: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
  ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d
  ZeroPad2d ZeroPad3d
 torch.nn.modules.pixelshuffle: PixelShuffle PixelUnshuffle
 torch.nn.modules.pooling: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
  AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d
  MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
 torch.nn.modules.rnn: GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase
 torch.nn.modules.sparse: Embedding EmbeddingBag
 torch.nn.modules.transformer: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
  TransformerEncoderLayer
 torch.nn.modules.upsampling: Upsample UpsamplingBilinear2d UpsamplingNearest2d
 torch.nn.parallel.data_parallel: DataParallel
 torch.nn.parameter: Buffer Parameter UninitializedBuffer UninitializedParameter
torch.nn._reduction
 get_enum legacy_get_enum legacy_get_string
torch.nn.attention
 SDPBackend WARN_FOR_UNFUSED_KERNELS= _FlashAttentionImpl _RegisterFn _backend_from_string _backend_names=
  _cur_sdpa_kernel_backends _get_flash_version _is_sdp_priority_order_active _raise_kernel_warnings _sdpa_kernel
  _sdpa_kernel_uses_priority= _sdpa_kernel_variadic activate_flash_attention_impl current_flash_attention_impl
  list_flash_attention_impls register_flash_attention_impl restore_flash_attention_impl sdpa_kernel
 torch.backends.cuda: SDPAParams can_use_efficient_attention can_use_flash_attention
torch.nn.attention.bias
 CausalBias CausalVariant causal_lower_right causal_upper_left
 torch.backends.cuda: SDPAParams can_use_efficient_attention can_use_flash_attention is_flash_attention_available
 torch.nn.attention: _raise_kernel_warnings
 torch.nn.attention._utils: _calculate_scale _input_requires_grad _postprocess_flash_output _validate_sdpa_input
torch.nn.attention.flex_attention
 AuxOutput AuxRequest BlockMask FlexKernelOptions _BLOCK_MASK_TOO_LARGE_ERROR= _BLOCK_MASK_TOO_SMALL_ERROR= _Backend
  _CallableLeaf _CallableMetadata= _DEFAULT_SPARSE_BLOCK_SIZE= _EMPTY_CLOSURE_SPEC= _EXTRACTED_LEAF= _ExtractedLeaf
  _FLEX_ATTENTION_DISABLE_COMPILE_DEBUG= _KernelOptionsWithInternals _LARGE_SPARSE_BLOCK_SIZE= _MaskModWrapper
  _ModificationType _PlainFunction _StrippedClosure _StrippedPartial _WARNINGS_SHOWN= _adjust_num_blocks_and_indices
  _apply_kernel_options _broadcast_to_dim _callable_entry_eq _callable_entry_hash _cdiv
  _compute_dq_write_order_from_block_mask _convert_block_mask_to_mask _convert_mask_to_block_mask
  _create_empty_block_mask _create_sparse_block_from_block_mask _dense_to_ordered _enforce_mem_layouts
  _extract_callable_leaves _extract_callable_pytree _get_mod_type _identity _mask_mod_signature _ordered_to_dense
  _reconstruct_closure_fn _round_up_to_multiple _score_mod_signature _sliced_mask_mod_error _transpose_ordered
  _validate_block_mask_shape _validate_device _validate_embed_dim _validate_no_nested_tensors _vmap_for_bhqkv
  _warn_once and_masks create_block_mask create_mask flex_attention flex_attention_hop noop_mask or_masks
 torch: Tensor
 torch._higher_order_ops.utils: setup_compilation_env
 torch.fx.experimental.symbolic_shapes: has_free_unbacked_symbols
 torch.nn.attention._utils: _validate_sdpa_input
 torch.utils._pytree: GetAttrKey TreeSpec tree_flatten tree_map_only tree_unflatten
torch.nn.attention.varlen
 AuxRequest _CUDNN_ATTENTION_BACKEND= _CUDNN_SM100_BACKWARD_LARGE_HEAD_DIMS= _CUDNN_SM100_FORWARD_LARGE_HEAD_DIMS=
  _FLASH_ATTENTION_BACKEND= _backward _cudnn_decode_disabled _cudnn_rejection_reasons _cudnn_supports_head_dims
  _cudnn_version _cudnn_version_and_major_capability _get_sdp_priority_order _normalize_window_size _select_backend
  _setup_context _should_use_cudnn _validate_scale _varlen_attn _varlen_attn_backward _varlen_attn_backward_fake
  _varlen_attn_fake _varlen_attn_out _varlen_attn_out_fake flop_registry= varlen_attn varlen_attn_out
 torch.nn.attention: SDPBackend _is_sdp_priority_order_active
 torch.nn.attention._utils: _empty_with_matching_layout
 torch.utils.flop_counter: _varlen_attn_backward_flop _varlen_attn_forward_flop _varlen_attn_out_flop
torch.nn.backends
torch.nn.backends.thnn
 _get_thnn_function_backend
torch.nn.common_types
 _TypeAlias _maybe_indices_t _ratio_2_t _ratio_3_t _ratio_any_t _scalar_or_tuple_1_t _scalar_or_tuple_2_t
  _scalar_or_tuple_3_t _scalar_or_tuple_4_t _scalar_or_tuple_5_t _scalar_or_tuple_6_t _scalar_or_tuple_any_t _size_1_t
  _size_2_opt_t _size_2_t _size_3_opt_t _size_3_t _size_4_t _size_5_t _size_6_t _size_any_opt_t _size_any_t
  _tensor_list_t
 torch: Tensor
torch.nn.cpp
 ModuleWrapper OrderedDictWrapper
torch.nn.functional
 BroadcastingList1= BroadcastingList2= BroadcastingList3= DType GRID_SAMPLE_INTERPOLATION_MODES=
  GRID_SAMPLE_PADDING_MODES= ScalingType SwizzleType _Any _adaptive_max_pool1d _adaptive_max_pool2d
  _adaptive_max_pool3d _add_docstr _canonical_mask _check_key_padding_mask _check_unpool_output_size
  _enum_list_as_int_list _expand_single_value _fractional_max_pool2d _fractional_max_pool3d _get_softmax_dim
  _in_projection _in_projection_packed _is_integer _jit_unused _linear_cross_entropy_chunked_applies _list_or_empty
  _max_pool1d _max_pool2d _max_pool3d _mha_shape_check _no_grad_embedding_renorm_ _none_or_dtype _sym_int _threshold
  _unpool_output_size _verify_batch_size _verify_spatial_size adaptive_avg_pool1d adaptive_avg_pool2d
  adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d
  adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices affine_grid alpha_dropout
  assert_int_or_pair avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
  binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
  conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d
  dropout2d dropout3d elu elu_ embedding embedding_bag feature_alpha_dropout fold fractional_max_pool2d
  fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices gaussian_nll_loss gelu
  glu grid_sample group_norm grouped_mm gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_
  has_torch_function has_torch_function_unary has_torch_function_variadic hinge_embedding_loss huber_loss
  instance_norm interpolate kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear linear_cross_entropy
  local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d
  max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d
  max_unpool2d max_unpool3d mish mse_loss multi_head_attention_forward multi_margin_loss multilabel_margin_loss
  multilabel_soft_margin_loss native_channel_shuffle nll_loss normalize one_hot pad pairwise_distance pdist
  pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ reproducibility_notes= rms_norm rrelu rrelu_
  scaled_addmm scaled_addmm_ scaled_dot_product_attention scaled_grouped_mm scaled_mm selu selu_ sigmoid silu
  smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign sparse_support_notes= tanh tanhshrink
  tf32_notes= threshold threshold_ triplet_margin_loss triplet_margin_with_distance_loss unfold upsample
  upsample_bilinear upsample_nearest
 torch: Tensor
 torch._jit_internal: _overload boolean_dispatch
 torch.nn.modules.utils: _list_with_default _pair _single _triple
 torch.overrides: handle_torch_function
torch.nn.grad
 conv1d_input conv1d_weight conv2d_input conv2d_weight conv3d_input conv3d_weight
 torch.nn.modules.utils: _pair _single _triple
torch.nn.init
 _FanMode _NonlinearityType _calculate_correct_fan _calculate_fan_in_and_fan_out _make_deprecate _no_grad_fill_
  _no_grad_normal_ _no_grad_trunc_normal_ _no_grad_uniform_ _no_grad_zero_ calculate_gain constant constant_ dirac
  dirac_ eye eye_ kaiming_normal kaiming_normal_ kaiming_uniform kaiming_uniform_ normal normal_ ones_ orthogonal
  orthogonal_ sparse sparse_ trunc_normal_ uniform uniform_ xavier_normal xavier_normal_ xavier_uniform
  xavier_uniform_ zeros_
 torch: Tensor
torch.nn.modules
 torch.nn.modules.activation: CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
  LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus
  Softshrink Softsign Tanh Tanhshrink Threshold
 torch.nn.modules.adaptive: AdaptiveLogSoftmaxWithLoss
 torch.nn.modules.batchnorm: BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
  SyncBatchNorm
 torch.nn.modules.channelshuffle: ChannelShuffle
 torch.nn.modules.container: Container ModuleDict ModuleList ParameterDict ParameterList Sequential
 torch.nn.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d
  LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
 torch.nn.modules.distance: CosineSimilarity PairwiseDistance
 torch.nn.modules.dropout: AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout
 torch.nn.modules.flatten: Flatten Unflatten
 torch.nn.modules.fold: Fold Unfold
 torch.nn.modules.instancenorm: InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
  LazyInstanceNorm3d
 torch.nn.modules.linear: Bilinear Identity LazyLinear Linear
 torch.nn.modules.linear_cross_entropy_options: LinearCrossEntropyOptions
 torch.nn.modules.loss: BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
  HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss
  MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss
  TripletMarginLoss TripletMarginWithDistanceLoss
 torch.nn.modules.module: Module
 torch.nn.modules.normalization: CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm
 torch.nn.modules.padding: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
  ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d
  ZeroPad2d ZeroPad3d
 torch.nn.modules.pixelshuffle: PixelShuffle PixelUnshuffle
 torch.nn.modules.pooling: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
  AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d
  MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
 torch.nn.modules.rnn: GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase
 torch.nn.modules.sparse: Embedding EmbeddingBag
 torch.nn.modules.transformer: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
  TransformerEncoderLayer
 torch.nn.modules.upsampling: Upsample UpsamplingBilinear2d UpsamplingNearest2d
torch.nn.modules.activation
 CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish MultiheadAttention
  PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink
  Threshold _arg_requires_grad _check_arg_device _is_make_fx_tracing
 torch: Tensor
 torch.nn.init: constant_ xavier_normal_ xavier_uniform_
 torch.nn.modules.linear: NonDynamicallyQuantizableLinear
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
torch.nn.modules.adaptive
 AdaptiveLogSoftmaxWithLoss _ASMoutput
 torch: Tensor
 torch.nn.modules.container: ModuleList Sequential
 torch.nn.modules.linear: Linear
 torch.nn.modules.module: Module
torch.nn.modules.batchnorm
 BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm _BatchNorm
  _LazyNormBase _NormBase sync_batch_norm
 torch: Tensor
 torch.nn.modules.lazy: LazyModuleMixin
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter UninitializedBuffer UninitializedParameter
torch.nn.modules.channelshuffle
 ChannelShuffle
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.container
 Container ModuleDict ModuleList ParameterDict ParameterList Sequential _addindent
 torch._jit_internal: _copy_to_script_wrapper
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
torch.nn.modules.conv
 Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d
  LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d _ConvNd _ConvTransposeMixin _ConvTransposeNd
  _LazyConvXdMixin _size_1_t _size_2_t _size_3_t convolution_notes= reproducibility_notes=
 torch: Tensor
 torch.nn.modules.lazy: LazyModuleMixin
 torch.nn.modules.module: Module
 torch.nn.modules.utils: _pair _reverse_repeat_tuple _single _triple
 torch.nn.parameter: Parameter UninitializedParameter
torch.nn.modules.distance
 CosineSimilarity PairwiseDistance
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.dropout
 AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.flatten
 Flatten Unflatten _size=
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.fold
 Fold Unfold _size_any_t
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.instancenorm
 InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d _InstanceNorm
 torch: Tensor
 torch.nn.modules.batchnorm: _LazyNormBase _NormBase
torch.nn.modules.lazy
 LazyModuleMixin _LazyProtocol
 torch.nn.parameter: is_lazy
torch.nn.modules.linear
 Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear
 torch: Tensor
 torch.nn.modules.lazy: LazyModuleMixin
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter UninitializedParameter
torch.nn.modules.linear_cross_entropy
 _ _ChunkContext _ChunkViews _NUM_OP_INPUTS= _check_acc_dtype_compatible _check_batch_chunked_grad_flags
  _check_linear_bias_shape _check_resolved_acc _corrected_target _linear_cross_entropy_batch_chunked
  _linear_cross_entropy_batch_chunked_accumulator _linear_cross_entropy_batch_chunked_backward
  _linear_cross_entropy_batch_chunked_no_reduction _linear_cross_entropy_batch_chunked_no_reduction_backward
  _linear_cross_entropy_batch_chunked_no_reduction_setup_context _linear_cross_entropy_batch_chunked_setup_context
  _make_empty _make_zeros _neg_weight_target _vmap= _vmap_no_reduction=
torch.nn.modules.linear_cross_entropy_options
 LinearCrossEntropyOptions _VALID_ACC_POLICIES= _auto_acc_policy
torch.nn.modules.loss
 BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss
  KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss
  MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss
  TripletMarginWithDistanceLoss _Loss _WeightedLoss
 torch: Tensor
 torch.nn.modules.distance: PairwiseDistance
 torch.nn.modules.linear: Linear
 torch.nn.modules.linear_cross_entropy_options: LinearCrossEntropyOptions
 torch.nn.modules.module: Module
torch.nn.modules.module
 DeviceLikeType= Module _EXTRA_STATE_KEY_SUFFIX= _IncompatibleKeys _WrappedHook _addindent _forward_unimplemented
  _global_backward_hooks= _global_backward_pre_hooks= _global_buffer_registration_hooks= _global_forward_hooks=
  _global_forward_hooks_always_called= _global_forward_hooks_with_kwargs= _global_forward_pre_hooks=
  _global_is_full_backward_hook= _global_module_registration_hooks= _global_parameter_registration_hooks= _grad_t=
  _has_any_global_hook register_module_backward_hook register_module_buffer_registration_hook
  register_module_forward_hook register_module_forward_pre_hook register_module_full_backward_hook
  register_module_full_backward_pre_hook register_module_module_registration_hook
  register_module_parameter_registration_hook
 torch: Tensor device dtype memory_format
 torch.nn.parameter: Buffer Parameter
 torch.utils._python_dispatch: is_traceable_wrapper_subclass
 torch.utils.hooks: BackwardHook RemovableHandle
torch.nn.modules.normalization
 CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm _cross_map_lrn2d _shape_t=
 torch: Size Tensor
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
torch.nn.modules.padding
 CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d
  ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d _CircularPadNd
  _ConstantPadNd _ReflectionPadNd _ReplicationPadNd _size_2_t _size_4_t _size_6_t
 torch: Tensor
 torch.nn.modules.module: Module
 torch.nn.modules.utils: _ntuple _pair _quadruple
torch.nn.modules.pixelshuffle
 PixelShuffle PixelUnshuffle
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.pooling
 AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d
  AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d
  MaxUnpool1d MaxUnpool2d MaxUnpool3d _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd
  _MaxUnpoolNd _ratio_2_t _ratio_3_t _size_1_t _size_2_opt_t _size_2_t _size_3_opt_t _size_3_t _size_any_opt_t
  _size_any_t
 torch: Tensor
 torch.nn.modules.module: Module
 torch.nn.modules.utils: _pair _single _triple
torch.nn.modules.rnn
 GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase _apply_permutation _rnn_impls= apply_permutation
 torch: Tensor
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
 torch.nn.utils.rnn: PackedSequence
torch.nn.modules.sparse
 Embedding EmbeddingBag
 torch: Tensor
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
torch.nn.modules.transformer
 Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
  _detect_is_causal_mask _generate_square_subsequent_mask _get_activation_fn _get_clones _get_seq_len
 torch: Tensor
 torch.nn.init: xavier_uniform_
 torch.nn.modules.activation: MultiheadAttention
 torch.nn.modules.container: ModuleList
 torch.nn.modules.dropout: Dropout
 torch.nn.modules.linear: Linear
 torch.nn.modules.module: Module
 torch.nn.modules.normalization: LayerNorm
torch.nn.modules.upsampling
 Upsample UpsamplingBilinear2d UpsamplingNearest2d _ratio_2_t _ratio_any_t _size_2_t _size_any_t
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.modules.utils
 _list_with_default _ntuple _pair _quadruple _reverse_repeat_tuple _single _triple
  consume_prefix_in_state_dict_if_present
torch.nn.parallel
 DistributedDataParallelCPU
 torch.nn.parallel.data_parallel: DataParallel data_parallel
 torch.nn.parallel.distributed: DistributedDataParallel
 torch.nn.parallel.parallel_apply: parallel_apply
 torch.nn.parallel.replicate: replicate
 torch.nn.parallel.scatter_gather: gather scatter
torch.nn.parallel._functions
 Broadcast Gather ReduceAddCoalesced Scatter _get_stream _streams=
 torch._utils: _get_device_index
 torch.autograd.function: Function
torch.nn.parallel.comm
 broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter
 torch._utils: _flatten_dense_tensors _get_device_index _handle_complex _reorder_tensors_as _take_tensors
  _unflatten_dense_tensors
torch.nn.parallel.data_parallel
 DataParallel _check_balance data_parallel
 torch._utils: _get_all_device_indices _get_available_device_type _get_device_index _get_devices_properties
 torch.nn.modules.module: Module
 torch.nn.parallel.parallel_apply: parallel_apply
 torch.nn.parallel.replicate: replicate
 torch.nn.parallel.scatter_gather: gather scatter_kwargs
torch.nn.parallel.distributed
 DistributedDataParallel RPC_AVAILABLE= _BucketCapacityConfig _BufferCommHook _BufferCommHookLocation _DDPJoinHook
  _DDPSink _DEFAULT_BUCKET_CAP_MB= _MB_TO_BYTES= _MixedPrecision _cast_buffers _dump_DDP_relevant_env_vars
  _find_tensors _setup_mixed_precision_params _tree_flatten_with_rref _tree_unflatten_with_rref
 torch._utils: _get_device_index
 torch.autograd.function: Function
 torch.autograd.variable: Variable
 torch.distributed.algorithms.join: Join JoinHook Joinable
 torch.distributed.distributed_c10d: ReduceOp _get_default_group _rank_not_in_group
 torch.distributed.rpc.api: RRef
 torch.distributed.utils: _alloc_storage _cast_forward_inputs _free_storage _sync_module_states _to_kwargs
  _verify_param_shape_across_processes
 torch.nn.modules.module: Module
 torch.nn.parallel.scatter_gather: gather scatter_kwargs
 torch.utils._pytree: tree_flatten tree_unflatten
torch.nn.parallel.parallel_apply
 get_a_var parallel_apply
 torch._utils: ExceptionWrapper
 torch.cuda._utils: _get_device_index
 torch.nn.modules.module: Module
torch.nn.parallel.replicate
 _broadcast_coalesced_reshape _init_script_module _is_jit_enabled _is_script_method _is_script_module
  _replicatable_module replicate
 torch._utils: _get_device_index
 torch.nn.modules.module: Module
torch.nn.parallel.scatter_gather
 _is_namedtuple gather is_namedtuple scatter scatter_kwargs
 torch.nn.parallel._functions: Gather Scatter
torch.nn.parameter
 Buffer Parameter UninitializedBuffer UninitializedParameter UninitializedTensorMixin _BufferMeta _ParameterMeta
  _disabled_torch_function_impl is_lazy
torch.nn.utils
 clip_grads_with_norm_ get_total_norm
 torch.nn.utils.clip_grad: clip_grad_norm clip_grad_norm_ clip_grad_value_
 torch.nn.utils.convert_parameters: parameters_to_vector vector_to_parameters
 torch.nn.utils.fusion: fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights
 torch.nn.utils.init: skip_init
 torch.nn.utils.memory_format: convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format
 torch.nn.utils.spectral_norm: remove_spectral_norm spectral_norm
 torch.nn.utils.weight_norm: remove_weight_norm weight_norm
torch.nn.utils.clip_grad
 _clip_grads_with_norm_ _get_total_norm _no_grad _tensor_or_tensors clip_grad_norm clip_grad_norm_ clip_grad_value_
 torch: Tensor
 torch.utils._foreach_utils: _device_has_foreach_support _group_tensors_by_device_and_dtype _has_foreach_support
torch.nn.utils.convert_parameters
 _check_param_device parameters_to_vector vector_to_parameters
torch.nn.utils.fusion
 fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights
torch.nn.utils.init
 skip_init
torch.nn.utils.memory_format
 convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format
torch.nn.utils.parametrizations
 _OrthMaps _Orthogonal _SpectralNorm _WeightNorm _is_orthogonal _make_orthogonal orthogonal spectral_norm weight_norm
 torch: Tensor
 torch.nn.modules.module: Module
torch.nn.utils.parametrize
 ParametrizationList _cache= _cache_enabled= _inject_new_class _inject_property _maybe_set
  _register_parameter_or_buffer cached is_parametrized register_parametrization remove_parametrizations
  transfer_parametrizations_and_params type_before_parametrizations
 torch: Tensor
 torch.__future__: get_swap_module_params_on_conversion
 torch._custom_class_base: CustomClassBase
 torch._library.opaque_object: is_opaque_symbolic_type
 torch.nn.modules.container: ModuleDict ModuleList
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter
 torch.utils._python_dispatch: is_traceable_wrapper_subclass
torch.nn.utils.prune
 BasePruningMethod CustomFromMask Identity L1Unstructured LnStructured PruningContainer RandomStructured
  RandomUnstructured _compute_norm _compute_nparams_toprune _validate_pruning_amount _validate_pruning_amount_init
  _validate_pruning_dim _validate_structured_pruning custom_from_mask global_unstructured identity is_pruned
  l1_unstructured ln_structured random_structured random_unstructured remove
torch.nn.utils.rnn
 PackedSequence PackedSequence_ _packed_sequence_init _packed_sequence_init_args bind invert_permutation
  pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence unpack_sequence unpad_sequence
 torch: Tensor
 torch.utils._typing_utils: copy_method_params
torch.nn.utils.spectral_norm
 SpectralNorm SpectralNormLoadStateDictPreHook SpectralNormStateDictHook remove_spectral_norm spectral_norm
 torch.nn.modules.module: Module
torch.nn.utils.stateless
 _functional_call _reparametrize_module _untie_named_tensors_map functional_call
 torch: Tensor
 torch.nn.utils._named_member_accessor: NamedMemberAccessor
torch.nn.utils.weight_norm
 WeightNorm _weight_norm norm_except_dim remove_weight_norm weight_norm
 torch.nn.modules.module: Module
 torch.nn.parameter: Parameter UninitializedParameter
torch.optim
 Adafactor Muon swap_in_optimizer_params_and_state
 torch.optim.adadelta: Adadelta
 torch.optim.adagrad: Adagrad
 torch.optim.adam: Adam
 torch.optim.adamax: Adamax
 torch.optim.adamw: AdamW
 torch.optim.asgd: ASGD
 torch.optim.lbfgs: LBFGS
 torch.optim.nadam: NAdam
 torch.optim.optimizer: Optimizer
 torch.optim.radam: RAdam
 torch.optim.rmsprop: RMSprop
 torch.optim.rprop: Rprop
 torch.optim.sgd: SGD
 torch.optim.sparse_adam: SparseAdam
torch.optim.adadelta
 Adadelta ParamsT= _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_adadelta _params_doc= _single_tensor_adadelta adadelta
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.adagrad
 Adagrad DeviceDict ParamsT= _differentiable_doc= _foreach_doc= _functional_api_doc= _fused_adagrad _make_sparse
  _maximize_doc= _multi_tensor_adagrad _params_doc= _single_tensor_adagrad adagrad
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _device_dtype_check_for_fused _get_scalar_dtype
  _get_value _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.adam
 Adam DeviceDict DeviceDtypeDict ParamsT= _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc=
  _fused_adam _fused_doc= _maximize_doc= _multi_tensor_adam _params_doc= _single_tensor_adam adam
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _device_dtype_check_for_fused
  _disable_dynamo_if_unsupported _get_capturable_supported_devices _get_scalar_dtype _get_value _stack_if_compiling
  _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.adamax
 Adamax ParamsT= _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_adamax _params_doc= _single_tensor_adamax adamax
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _get_value _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.adamw
 AdamW ParamsT= StateDict _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _fused_doc=
  _maximize_doc= _params_doc= adamw
 torch: Tensor
 torch.optim.adam: Adam adam
torch.optim.asgd
 ASGD ParamsT= _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_asgd _params_doc= _single_tensor_asgd asgd
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _get_value _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.functional
 _Callable _ParamSpec _TypeVar _adadelta _adafactor _adagrad _adam _adamax _adamw _asgd _muon _nadam _radam _rmsprop
  _rprop _sgd _sparse_adam _wraps adadelta adafactor adagrad adam adamax adamw asgd muon nadam radam rmsprop rprop sgd
  sparse_adam
torch.optim.lbfgs
 LBFGS ParamsT= _cubic_interpolate _maximize_doc= _strong_wolfe
 torch: Tensor
 torch.optim.optimizer: Optimizer _to_scalar
torch.optim.lr_scheduler
 ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR EPOCH_DEPRECATION_WARNING=
  ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau
  SequentialLR StepLR _LRScheduler _SchedulePhase _enable_get_lr_call _format_param _initial_mode
  _param_groups_val_list _update_param_group_val _warn_get_lr_called_within_step inf= ref
 torch: Tensor
 torch.optim.optimizer: Optimizer _to_scalar
torch.optim.nadam
 NAdam ParamsT= _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_nadam _params_doc= _single_tensor_nadam nadam
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _get_value _stack_if_compiling _to_scalar
  _use_grad_for_differentiable _view_as_real
torch.optim.optimizer
 Args DeviceDict DeviceDtypeDict GlobalOptimizerPostHook GlobalOptimizerPreHook Indices Kwargs Optimizer ParamsT=
  StateDict TensorListList _RequiredParameter _capturable_doc= _default_to_fused_or_foreach
  _device_dtype_check_for_fused _differentiable_doc= _disable_dynamo_if_unsupported _foreach_doc=
  _foreach_supported_types= _functional_api_doc= _fused_doc= _get_capturable_supported_devices _get_scalar_dtype
  _get_value _global_optimizer_post_hooks= _global_optimizer_pre_hooks= _maximize_doc= _params_doc=
  _stack_if_compiling _to_scalar _use_grad_for_differentiable _view_as_real register_optimizer_step_post_hook
  register_optimizer_step_pre_hook required=
 torch.optim._adafactor: _single_tensor_adafactor
 torch.optim._muon: _single_tensor_muon
 torch.optim.adadelta: _single_tensor_adadelta
 torch.optim.adam: _single_tensor_adam
 torch.optim.adamax: _single_tensor_adamax
 torch.optim.asgd: _single_tensor_asgd
 torch.optim.nadam: _single_tensor_nadam
 torch.optim.radam: _single_tensor_radam
 torch.optim.rmsprop: _single_tensor_rmsprop
 torch.optim.rprop: _single_tensor_rprop
 torch.utils._foreach_utils: _get_foreach_kernels_supported_devices _get_fused_kernels_supported_devices
  _group_tensors_by_device_and_dtype
 torch.utils.hooks: RemovableHandle
torch.optim.radam
 ParamsT= RAdam _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_radam _params_doc= _single_tensor_radam radam
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _get_value _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.rmsprop
 ParamsT= RMSprop _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_rmsprop _params_doc= _single_tensor_rmsprop rmsprop
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.rprop
 ParamsT= Rprop _capturable_doc= _differentiable_doc= _foreach_doc= _functional_api_doc= _maximize_doc=
  _multi_tensor_rprop _params_doc= _single_tensor_rprop rprop
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _disable_dynamo_if_unsupported
  _get_capturable_supported_devices _get_scalar_dtype _to_scalar _use_grad_for_differentiable _view_as_real
torch.optim.sgd
 DeviceDict ParamsT= SGD _differentiable_doc= _foreach_doc= _functional_api_doc= _fused_doc= _fused_sgd _maximize_doc=
  _multi_tensor_sgd _params_doc= _single_tensor_sgd sgd
 torch: Tensor
 torch.optim.optimizer: Optimizer _default_to_fused_or_foreach _device_dtype_check_for_fused _to_scalar
  _use_grad_for_differentiable
torch.optim.sparse_adam
 ParamsT= SparseAdam _maximize_doc= _params_doc=
 torch: Tensor
 torch.optim.optimizer: Optimizer _to_scalar
torch.optim.swa_utils
 AveragedModel PARAM_LIST= SWALR get_ema_avg_fn get_ema_multi_avg_fn get_swa_avg_fn get_swa_multi_avg_fn update_bn
 torch: Tensor
 torch.nn.modules.module: Module
 torch.optim.lr_scheduler: LRScheduler _format_param
 torch.utils._foreach_utils: _get_foreach_kernels_supported_devices _group_tensors_by_device_and_dtype
torch.overrides
 BaseTorchFunctionMode TorchFunctionMode _add_docstr _disable_user_warnings _enable_torch_function
  _get_current_function_mode _get_current_function_mode_stack _get_function_stack_at _get_overloaded_args
  _get_overridable_functions _get_tensor_methods _has_torch_function _has_torch_function_unary
  _has_torch_function_variadic _is_torch_function_mode_enabled _len_torch_function_stack _pop_mode
  _pop_mode_temporarily _pop_torch_function_stack _push_mode _push_on_torch_function_stack enable_reentrant_dispatch
  get_default_nowrap_functions get_ignored_functions get_overridable_functions get_testing_overrides
  handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic is_tensor_like
  is_tensor_method_or_property redispatch_function resolve_name wrap_torch_function
torch.profiler
 DeviceType ProfilerActivity RecordScope _ExperimentalConfig _Ts= _optimizer_post_hook _supported_activities
  kineto_available
 torch._environment: is_fbcode
 torch.autograd.profiler: KinetoStepTracker record_function
 torch.optim.optimizer: Optimizer register_optimizer_step_post_hook
 torch.profiler.profiler: CuspyConfig ExecutionTraceObserver PerformanceMetricsConfig ProfilerAction
  ProfilerActivityConfig _KinetoProfile profile schedule supported_activities tensorboard_trace_handler
torch.profiler.itt
 is_available mark range range_pop range_push
torch.profiler.profiler
 CuspyConfig ExecutionTraceObserver PROFILER_STEP_NAME= PerformanceMetricsConfig ProfilerAction ProfilerActivity
  ProfilerActivityConfig _ExperimentalConfig _ITraceObserver _KinetoProfile _NumpyEncoder _ProfilerExtensionConfig
  _WARNINGS_SHOWN= _add_execution_trace_observer _default_schedule_fn _disable_execution_trace_observer
  _enable_execution_trace_observer _get_privateuse1_backend_name _get_profiler_extensions _parse_activities
  _parse_custom_profiler_config _remove_execution_trace_observer _unreachable_transition _warn_once kineto_available
  profile schedule supported_activities tensorboard_trace_handler
 torch._environment: is_fbcode
 torch._utils_internal: profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
 torch.profiler._memory_profiler: MemoryProfile MemoryProfileTimeline
torch.quasirandom
 SobolEngine
torch.random
 _fork_rng_warned_already= _manual_seed_impl _seed_custom_device default_generator= fork_rng get_rng_state
  initial_seed manual_seed seed set_rng_state thread_safe_generator
torch.return_types
 _attr _fake_quantize_per_tensor_affine_cachemask_tensor_qparams _fused_moving_avg_obs_fq_helper _linalg_det
  _linalg_det_out _linalg_eigh _linalg_eigh_out _linalg_slogdet _linalg_slogdet_out _linalg_solve_ex
  _linalg_solve_ex_out _linalg_svd _linalg_svd_out _lu_with_info _scaled_dot_product_cudnn_attention
  _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
  _scaled_dot_product_flash_attention_for_cpu _unpack_dual all_return_types= aminmax aminmax_out cummax cummax_out
  cummin cummin_out frexp frexp_out geqrf geqrf_out histogram histogram_out histogramdd kthvalue kthvalue_out
  linalg_cholesky_ex linalg_cholesky_ex_out linalg_eig linalg_eig_out linalg_eigh linalg_eigh_out linalg_inv_ex
  linalg_inv_ex_out linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_factor_ex_out linalg_ldl_factor_out linalg_lstsq
  linalg_lstsq_out linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_factor_ex_out linalg_lu_factor_out
  linalg_lu_out linalg_polar linalg_polar_out linalg_qr linalg_qr_out linalg_slogdet linalg_slogdet_out
  linalg_solve_ex linalg_solve_ex_out linalg_svd linalg_svd_out lu_unpack lu_unpack_out max max_out median median_out
  min min_out mode mode_out name= nanmedian nanmedian_out pytree_register_structseq slogdet slogdet_out sort sort_out
  svd svd_out topk topk_out triangular_solve triangular_solve_out
 torch.utils._pytree: SequenceKey register_pytree_node
torch.serialization
 DEFAULT_PROTOCOL= FileLike INT_SIZE= IS_WINDOWS= LONG_SIZE= LoadEndianness MAGIC_NUMBER= MAP_LOCATION= MAP_PRIVATE=
  MAP_SHARED= PROTOCOL_VERSION= SHORT_SIZE= STORAGE= STORAGE_KEY_SEPARATOR= SourceChangeWarning StorageType
  UNSAFE_MESSAGE= _SerializationLocal _backend_tag _check_dill_version _check_save_filelike _check_seekable
  _cpu_deserialize _cpu_tag _default_to_weights_only _deserialize _get_layout _get_restore_location
  _get_storage_alignment _is_compressed_file _is_meta_location _is_path _is_torchscript_zip _is_zipfile _legacy_load
  _legacy_save _load _maybe_decode_ascii _meta_deserialize _meta_tag _mps_deserialize _mps_tag _open_buffer_reader
  _open_buffer_writer _open_file _open_file_like _open_zipfile_reader _open_zipfile_writer _open_zipfile_writer_buffer
  _open_zipfile_writer_file _opener _package_registry= _save _serialization_tls= _should_read_directly
  _validate_device add_safe_globals check_module_version_greater_or_equal clear_safe_globals default_restore_location
  get_crc32_options get_default_load_endianness get_default_mmap_options get_safe_globals
  get_unsafe_globals_in_checkpoint load location_tag mkdtemp normalize_storage_type register_package safe_globals save
  set_crc32_options set_default_load_endianness set_default_mmap_options skip_data storage_to_tensor_type
  validate_cuda_device validate_hpu_device
 torch._sources: get_source_lines_and_file
 torch._utils: _import_dotted_name
 torch.storage: _get_dtype_from_pickle_storage_type
 torch.types: Storage
torch.signal
torch.signal.windows
 torch.signal.windows.windows: bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming
  hann kaiser nuttall
torch.signal.windows.windows
 _add_docstr _window_function_checks bartlett blackman cosine exponential factory_common_args= gaussian general_cosine
  general_hamming hamming hann kaiser nuttall window_common_args=
 torch: Tensor
 torch._torch_docs: merge_dicts parse_kwargs
torch.special
 _add_docstr airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u
  chebyshev_polynomial_v chebyshev_polynomial_w common_args= digamma entr erf erfc erfcx erfinv exp2 expit expm1
  gammainc gammaincc gammaln hermite_polynomial_h hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l
  legendre_polynomial_p log1p log_ndtr log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1
  modified_bessel_k0 modified_bessel_k1 multi_dim_common= multigammaln ndtr ndtri polygamma psi round
  scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
  shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w sinc softmax spherical_bessel_j0 xlog1py xlogy zeta
 torch: Tensor
torch.storage
 HAS_NUMPY= TypedStorage UntypedStorage _LegacyStorage _LegacyStorageMeta _StorageBase
  _always_warn_typed_storage_removal= _bool _dtype_to_storage_type_map _get_always_warn_typed_storage_removal
  _get_device_from_module _get_dtype_from_pickle_storage_type _get_storage_from_sequence _int _isint _load_from_bytes
  _new_dtypes _reset_warn_typed_storage_removal _set_always_warn_typed_storage_removal _share_memory_lock=
  _share_memory_lock_protected _share_memory_map= _storage_type_to_dtype_map _throws_on_data_ptr_access
  _warn_typed_storage_removal
 torch._utils: _to _type
 torch.types: Storage
torch.testing
 torch: FileCheck
 torch.testing._comparison: assert_allclose assert_close
 torch.testing._creation: make_tensor
torch.torch_version
 TorchVersion cmp_method= internal_version=
 torch._vendor.packaging.version: InvalidVersion Version
torch.types
 BoolLikeType= Device= FileLike FloatLikeType= IntLikeType= Number= PySymType= Storage _Number=
  _TensorOrOptionalTensors= _TensorOrTensors= _TensorOrTensorsOrGradEdge _bool _bytes _complex _device _dispatchkey=
  _dtype _float _int _layout _qscheme _size= _str _symsize= py_sym_types=
 torch: DispatchKey Size SymBool SymFloat SymInt Tensor
torch.utils
 cmake_prefix_path= set_module swap_tensors
 torch.utils.backend_registration: generate_methods_for_privateuse1_backend rename_privateuse1_backend
 torch.utils.cpp_backtrace: get_cpp_backtrace
 torch.utils.throughput_benchmark: ThroughputBenchmark
torch.utils._foreach_utils
 Indices TensorListList _device_has_foreach_support _foreach_supported_types= _get_foreach_kernels_supported_devices
  _get_fused_kernels_supported_devices _group_tensors_by_device_and_dtype _has_foreach_support
 torch: Tensor
 torch.autograd.grad_mode: no_grad
torch.utils._python_dispatch
 AliasInfo BaseTorchDispatchMode SchemaInfo TensorWithFlatten TorchDispatchMode TraceableWrapperSubclass
  _correct_storage_aliasing _detect_infra_mode _disable_current_modes _disable_infra_mode _get_current_dispatch_mode
  _get_current_dispatch_mode_stack _get_dispatch_stack_at _get_write_alias _has_traceable_wrapper_subclass_protocol
  _is_in_any_mode_without_ignore_compile_internals= _is_in_non_infra_torch_dispatch_mode= _is_in_torch_dispatch_mode=
  _len_torch_dispatch_stack _pop_mode _pop_mode_temporarily _pop_torch_dispatch_stack _push_mode
  _push_on_torch_dispatch_stack _unset_infra_mode any_torch_dispatch_mode_on_stack autograd_would_have_decomposed
  get_alias_info is_in_any_mode_without_ignore_compile_internals is_in_torch_dispatch_mode
  is_traceable_wrapper_subclass is_traceable_wrapper_subclass_type return_and_correct_aliasing
  set_is_in_mode_without_ignore_compile_internals transform_subclass
 torch: DispatchKey
torch.utils._pytree
 BUILTIN_TYPES= CONSTANT_NODES= ConstantNode Context DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL= DumpableContext
  EnumEncoder FlattenFn FlattenFunc FlattenWithKeysFn FlattenWithKeysFunc Fn Fn2 Fn3 FnAny FromDumpableContextFn
  GetAttrKey KeyEntry KeyPath LeafSpec MapOnlyFn MappingKey MaybeFromStrFunc NO_SERIALIZED_TYPE_NAME_FOUND= NodeDef
  PyTree PyTreeSpec Py_TPFLAGS_BASETYPE= SERIALIZED_TYPE_TO_PYTHON_TYPE= STANDARD_DICT_TYPES= SUPPORTED_NODES=
  SUPPORTED_SERIALIZED_TYPES= SequenceKey ToDumpableContextFn ToStrFunc TreeSpec Type2 Type3 TypeAny= UnflattenFn
  UnflattenFunc _LEAF_SPEC= _NODE_REGISTRY_LOCK= _ProtocolFn _SUPPORTED_PROTOCOLS= _SerializeNodeDef _TorchVersion
  _TreeSpecSchema _asterisk= _broadcast_to_and_flatten _cxx_pytree_dynamo_traceable= _cxx_pytree_exists=
  _cxx_pytree_imported= _cxx_pytree_pending_imports= _defaultdict_deserialize _defaultdict_flatten
  _defaultdict_flatten_with_keys _defaultdict_serialize _defaultdict_unflatten _deque_flatten _deque_flatten_with_keys
  _deque_unflatten _deregister_pytree_node _dict_flatten _dict_flatten_with_keys _dict_unflatten
  _ensure_python_treespec_instance _generate_key_paths _get_node_type _is_constant_holder _is_leaf
  _is_namedtuple_instance _is_pytreespec_instance _json_to_treespec _list_flatten _list_flatten_with_keys
  _list_unflatten _namedtuple_deserialize _namedtuple_flatten _namedtuple_flatten_with_keys _namedtuple_serialize
  _namedtuple_unflatten _odict_flatten _odict_unflatten _optree_minimum_version= _optree_version= _ordereddict_flatten
  _ordereddict_flatten_with_keys _ordereddict_unflatten _private_register_pytree_node _register_namedtuple
  _register_pytree_node _retrieve_constant _treespec_to_json _tuple_flatten _tuple_flatten_with_keys _tuple_unflatten
  arg_tree_leaves enum_object_hook is_constant_class is_namedtuple is_namedtuple_class is_namedtuple_instance
  is_structseq is_structseq_class is_structseq_instance key_get keystr map_only pytree_to_str register_constant
  register_dataclass register_pytree_node str_to_pytree structseq tree_all tree_all_only tree_any tree_any_only
  tree_flatten tree_flatten_with_path tree_is_leaf tree_iter tree_leaves tree_leaves_with_path tree_map tree_map_
  tree_map_only tree_map_only_ tree_map_with_path tree_structure tree_unflatten treespec_dict treespec_dumps
  treespec_leaf treespec_loads treespec_pprint treespec_tuple
torch.utils.backend_registration
 _DummyBackendModule _DummyDeviceGuard _DummyPrivateUse1Hook _check_register_once
  _generate_module_methods_for_privateuse1_backend _generate_packed_sequence_methods_for_privateuse1_backend
  _generate_storage_methods_for_privateuse1_backend _generate_tensor_methods_for_privateuse1_backend
  _get_custom_mod_func _get_privateuse1_backend_name _normalization_device _privateuse1_backend_name=
  _rename_device_type _rename_privateuse1_backend _rename_profiler_activity _setup_privateuseone_for_python_backend
  generate_methods_for_privateuse1_backend has_torch_function_unary rename_privateuse1_backend
 torch.overrides: handle_torch_function
torch.utils.bundled_inputs
 InflatableArg MAX_RAW_TENSOR_SIZE= _get_bundled_inputs_attributes_and_methods _get_inflate_helper_fn_name
  _inflate_expr augment_many_model_functions_with_bundled_inputs augment_model_with_bundled_inputs bundle_inputs
  bundle_large_tensor bundle_randn
 torch: ListType TupleType
 torch.jit._recursive: wrap_cpp_module
torch.utils.checkpoint
 CheckpointError CheckpointFunction CheckpointPolicy DefaultDeviceType GraphExecGroup SAC_IGNORED_OPS= SavedTensor
  SelectiveCheckpointContext Text _CONSUMED= _CachedTorchDispatchMode _CachingTorchDispatchMode _CheckpointFrame
  _CheckpointedFunction _DEFAULT_DETERMINISM_MODE= _Handle _Holder _RECOMPUTE= _SAC_MISMATCH_MSG= _SAVE_POLICIES=
  _StopRecomputationError _VersionWrapper _allowed_determinism_checks_to_fns= _checkpoint_debug_enabled=
  _checkpoint_error_template= _checkpoint_hook _checkpoint_impl _checkpoint_internal_hook
  _checkpoint_without_reentrant_generator _checkpoint_without_reentrant_generator_impl
  _current_user_saved_tensors_hooks _debug_tip_msg= _default_meta_extractor _detach_helper
  _enable_checkpoint_early_stop= _get_autocast_kwargs _get_debug_context_and_cb _get_device_module _infer_device_type
  _internal_assert _is_cacheable_effect _is_compiling _make_checkpoint_wrapper _make_saved_tensor _policy_from_bool
  _recomputation_hook _run_fn_with_dynamo_disabled _sac_storage_key check_backward_validity checkpoint
  checkpoint_sequential create_selective_checkpoint_contexts detach_variable get_device_states noop_context_fn
  set_checkpoint_debug_enabled set_checkpoint_early_stop set_device_states
 torch.testing._internal.logging_tensor: LoggingTensorMode capture_logs
 torch.utils._python_dispatch: TorchDispatchMode
 torch.utils._pytree: tree_map
torch.utils.collect_env
 COMMON_PATTERNS= CONDA_PATTERNS= NVIDIA_PATTERNS= ONEAPI_PATTERNS= PIP_PATTERNS= SystemEnv TORCH_AVAILABLE= _Dict
  _cast _detect_linux_pkg_manager check_release_file env_info_fmt= get_cachingallocator_config get_clang_version
  get_cmake_version get_conda_packages get_cpu_info get_cuda_module_loading_config get_cudnn_version get_env_info
  get_gcc_version get_gpu_info get_intel_gpu_detected get_intel_gpu_driver_version get_intel_gpu_onboard
  get_libc_version get_linux_pkg_version get_lsb_version get_mac_version get_nvidia_driver_version get_nvidia_smi
  get_os get_pip_packages get_platform get_pretty_env_info get_python_platform get_running_cuda_version
  get_windows_version is_xnnpack_available main pretty_str run run_and_parse_first_match run_and_read_all
  run_and_return_first_line
torch.utils.cpp_backtrace
 _get_cpp_backtrace get_cpp_backtrace
torch.utils.cpp_extension
 ABI_INCOMPATIBILITY_WARNING= BUILT_FROM_SOURCE_VERSION_PATTERN= CLIB_EXT= CLIB_PREFIX= COMMON_HIPCC_FLAGS=
  COMMON_HIP_FLAGS= COMMON_MSVC_FLAGS= COMMON_NVCC_FLAGS= CUDAExtension CUDA_CLANG_VERSIONS= CUDA_GCC_VERSIONS=
  CUDA_HOME= CUDA_MISMATCH_MESSAGE= CUDA_MISMATCH_WARN= CUDA_NOT_FOUND_MESSAGE= CUDNN_HOME= CppExtension EXEC_EXT=
  HIP_HOME= HIP_VERSION= IS_HIP_EXTENSION= IS_LINUX= IS_MACOS= IS_WINDOWS= JIT_EXTENSION_VERSIONER= LIB_EXT=
  MINIMUM_CLANG_VERSION= MINIMUM_GCC_VERSION= MINIMUM_MSVC_VERSION= MSVC_IGNORE_CUDAFE_WARNINGS= PLAT_TO_VCVARS=
  ROCM_HOME= ROCM_VERSION= SHARED_FLAG= SUBPROCESS_DECODE_ARGS= SYCL_HOME= SyclExtension TORCH_LIB_PATH= VersionMap
  VersionRange WINDOWS_CUDA_HOME= WRONG_COMPILER_WARNING= _BUILD_EXTENSION_BASE_INITIALIZED= _BUILD_EXTENSION_CLASS
  _BUILD_EXTENSION_LOCK= _COMMON_SYCL_FLAGS= _LazyBuildExt _SYCL_DLINK_FLAGS= _TORCH_PATH=
  _accepted_compilers_for_platform _append_sycl_std_if_no_std_present _append_sycl_targets_if_missing
  _check_and_build_extension_h_precompiler_headers _check_cuda_version _derive_rocm_version _find_cuda_home
  _find_rocm_home _find_sycl_home _get_build_directory _get_build_extension _get_cuda_arch_flags _get_exec_path
  _get_hipcc_path _get_icpx_version _get_num_workers _get_pybind11_abi_build_flags _get_rocm_arch_flags
  _get_sycl_arch_list _get_sycl_device_flags _get_vc_env _import_module_from_library _is_binary_build _is_cuda_file
  _is_sycl_file _jit_compile _join_cuda_home _join_rocm_home _join_sycl_home _maybe_write _nt_quote_args
  _prepare_ldflags _run_ninja_build _set_hipcc_runtime_lib _shell_join _windows_cuda_lib_dir _windows_quote
  _wrap_compiler _wrap_sycl_host_flags _write_ninja_file _write_ninja_file_and_build_library
  _write_ninja_file_and_compile_objects _write_ninja_file_to_build_library check_compiler_is_gcc
  check_compiler_ok_for_platform get_compiler_abi_compatibility_and_version get_cxx_compiler get_default_build_root
  include_paths is_ninja_available library_paths load load_inline min_supported_cpython=
  remove_extension_h_precompiler_headers verify_ninja_availability
 torch._utils_internal: get_file_path
 torch._vendor.packaging.version: Version
 torch.torch_version: TorchVersion
 torch.utils._cpp_extension_versioner: ExtensionVersioner
 torch.utils._filelock: FileLock
torch.utils.data
 torch.utils.data._utils.collate: default_collate default_convert
 torch.utils.data._utils.worker: get_worker_info
 torch.utils.data.dataloader: DataLoader _DatasetKind
 torch.utils.data.datapipes._decorator: argument_validation functional_datapipe guaranteed_datapipes_determinism
  non_deterministic runtime_validation runtime_validation_disabled
 torch.utils.data.datapipes.datapipe: DFIterDataPipe DataChunk IterDataPipe MapDataPipe
 torch.utils.data.dataset: ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset
  random_split
 torch.utils.data.distributed: DistributedSampler
 torch.utils.data.sampler: BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler
  WeightedRandomSampler
torch.utils.data._utils
 HAS_NUMPY= IS_WINDOWS= MP_STATUS_CHECK_INTERVAL= _set_python_exit_flag python_exit_status=
 torch._utils: ExceptionWrapper
torch.utils.data._utils.collate
 collate collate_float_fn collate_int_fn collate_numpy_array_fn collate_numpy_scalar_fn collate_str_fn
  collate_tensor_fn default_collate default_collate_err_msg_format= default_collate_fn_map= default_convert
  np_str_obj_array_pattern=
torch.utils.data._utils.fetch
 _BaseDatasetFetcher _IterableDatasetFetcher _MapDatasetFetcher
torch.utils.data._utils.pin_memory
 MP_STATUS_CHECK_INTERVAL= _pin_memory_loop pin_memory
 torch._utils: ExceptionWrapper
torch.utils.data._utils.signal_handling
 IS_WINDOWS= _SIGCHLD_handler_set= _error_if_any_worker_fails _remove_worker_pids _set_SIGCHLD_handler
  _set_worker_pids _set_worker_signal_handlers
torch.utils.data._utils.worker
 HAS_NUMPY= IS_WINDOWS= MP_STATUS_CHECK_INTERVAL= ManagerWatchdog WorkerInfo _IterableDatasetStopIteration _RNG
  _ResumeIteration _generate_state _worker_info= _worker_loop get_worker_info
 torch._utils: ExceptionWrapper
torch.utils.data.backward_compatibility
 _deprecated worker_init_fn
torch.utils.data.dataloader
 DataLoader _BaseDataLoaderIter _DatasetKind _InfiniteConstantSampler _MultiProcessingDataLoaderIter
  _SingleProcessDataLoaderIter _collate_fn_t _get_distributed_settings _persistent_workers_atexit=
  _persistent_workers_atexit_lock= _persistent_workers_atexit_registered= _sharding_worker_init_fn _share_dist_seed
  _worker_init_fn_t
 torch._utils: ExceptionWrapper
 torch.utils.data._utils.collate: default_collate default_convert
 torch.utils.data._utils.worker: get_worker_info
 torch.utils.data.datapipes.datapipe: IterDataPipe MapDataPipe _IterDataPipeSerializationWrapper
  _MapDataPipeSerializationWrapper
 torch.utils.data.dataset: Dataset IterableDataset
 torch.utils.data.sampler: BatchSampler RandomSampler Sampler SequentialSampler
torch.utils.data.dataset
 ChainDataset ConcatDataset Dataset Generator IterableDataset StackDataset Subset TensorDataset _T_dict _T_tuple
  default_generator= random_split randperm
 torch: Tensor
torch.utils.data.distributed
 DistributedSampler
 torch.utils.data.dataset: Dataset
 torch.utils.data.sampler: Sampler
torch.utils.data.sampler
 BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler WeightedRandomSampler
torch.utils.debug_log
 _debug_grad_log_fake _debug_grad_log_hook _get_rank debug_grad_log
 torch._dynamo.decorators: leaf_function
torch.utils.deterministic
 _Deterministic
torch.utils.dlpack
 DLDeviceType ReadOnlyTensorWrapper _Device= from_dlpack to_dlpack
torch.utils.file_baton
 FileBaton
torch.utils.flop_counter
 FlopCounterMode _FlopCounterMode _JITFunction _efficient_attention_backward_flop _efficient_attention_forward_flop
  _flash_attention_backward_flop _flash_attention_forward_flop _offsets_to_lengths _pytreeify_preserve_structure
  _register_flex_attention_flops _scaled_mm_flop _unpack_efficient_attention_nested_shapes
  _unpack_flash_attention_nested_shapes _varlen_attn_backward_flop _varlen_attn_forward_flop _varlen_attn_out_flop
  addmm_flop baddbmm_flop bmm_flop conv_backward_flop conv_flop conv_flop_count convert_num_with_suffix
  convert_to_percent_str flop_registry= get_shape get_suffix_str mm_flop normalize_tuple register_flop_formula
  sdpa_backward_flop sdpa_backward_flop_count sdpa_flop sdpa_flop_count shape_wrapper suffixes=
 torch.utils._python_dispatch: TorchDispatchMode
 torch.utils._pytree: tree_flatten tree_map tree_unflatten
 torch.utils.module_tracker: ModuleTracker
torch.utils.hooks
 BackwardHook RemovableHandle unserializable_hook warn_if_has_hooks
torch.utils.mkldnn
 _get_mkldnn_classes to_mkldnn
torch.utils.mobile_optimizer
 LintCode MobileOptimizerType _get_bundled_inputs_preserved_attributes generate_mobile_module_lints
  optimize_for_mobile
torch.utils.model_zoo
 load_url tqdm
torch.utils.module_tracker
 ModuleTracker
 torch.autograd.graph: register_multi_grad_hook
 torch.nn.modules.module: register_module_forward_hook register_module_forward_pre_hook
 torch.utils._pytree: tree_flatten
torch.utils.show_pickle
 DumpUnpickler FakeClass FakeObject main
torch.utils.throughput_benchmark
 ExecutionStats ThroughputBenchmark format_time
torch.utils.weak
 TensorWeakRef WeakIdKeyDictionary WeakIdRef WeakRef WeakTensorKeyDictionary _IterationGuard _WeakHashRef ref
 torch: Tensor
torch.version
 cuda= debug= git_version= hip= rocm= xpu=
torch.Tensor
 H= T= _addmm_activation _autocast_to_full_precision _autocast_to_reduced_precision _backward_hooks= _base= _cdata=
  _clear_non_serializable_cached_data _coalesced_ _conj _conj_physical _dimI _dimV _dtensor__new__ _fix_weakref _grad=
  _grad_fn= _has_grad_dtype_override= _has_symbolic_sizes_strides= _indices _is_all_true _is_any_true _is_view
  _is_zerotensor _lazy_clone _make_subclass _make_wrapper_subclass _neg_view _nested_tensor_size
  _nested_tensor_storage_offsets _nested_tensor_strides _nnz _philox_normal_ _philox_randint_ _philox_uniform_
  _post_accumulate_grad_hooks= _python_dispatch= _reduce_ex_internal _rev_view_func_unsafe _sparse_mask_projection
  _to_dense _to_sparse _to_sparse_bsc _to_sparse_bsr _to_sparse_csc _to_sparse_csr _typed_storage _use_count _values
  _version= _view_func _view_func_unsafe abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_
  addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle
  any apply_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh
  arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter as_subclass asin asin_ asinh
  asinh_ atan atan2 atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bincount
  bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
  bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_ ccol_indices
  cdouble ceil ceil_ cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max
  clamp_max_ clamp_min clamp_min_ clip clip_ clone coalesce col_indices conj conj_physical conj_physical_
  const_data_ptr contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cpu cross
  crow_indices cuda cummax cummin cumprod cumprod_ cumsum cumsum_ data= data_ptr deg2rad deg2rad_ dense_dim dequantize
  det detach detach_ device= diag diag_embed diagflat diagonal diagonal_scatter diff digamma digamma_ dim dim_order
  dist div div_ divide divide_ dot double dsplit dtype= eig element_size eq eq_ equal erf erf_ erfc erfc_ erfinv
  erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_ fill_ fill_diagonal_ fix fix_ flatten flip
  fliplr flipud float float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_
  frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger get_device grad= grad_dtype= grad_fn= greater greater_
  greater_equal greater_equal_ gt gt_ half hardshrink hash_tensor heaviside heaviside_ histc histogram hsplit hypot
  hypot_ i0 i0_ igamma igamma_ igammac igammac_ imag= index index_add index_add_ index_copy index_copy_ index_fill
  index_fill_ index_put index_put_ index_reduce index_reduce_ index_select indices inner int int_repr inverse ipu
  is_coalesced is_complex is_conj is_contiguous is_cpu= is_cuda= is_distributed is_floating_point is_inference is_ipu=
  is_leaf= is_maia= is_meta= is_mkldnn= is_mps= is_mtia= is_neg is_nested= is_nonzero is_pinned is_quantized=
  is_same_size is_set_to is_shared is_signed is_sparse= is_sparse_csr= is_vulkan= is_xla= is_xpu= isclose isfinite
  isinf isnan isneginf isposinf isreal istft item itemsize= kron kthvalue layout= lcm lcm_ ldexp ldexp_ le le_ lerp
  lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_
  log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or
  logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long lstsq lt lt_ lu lu_solve mH= mT= map2_ map_
  masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_exp matrix_power max maximum
  mean median min minimum mm mode module_load moveaxis movedim msort mtia mul mul_ multinomial multiply multiply_ mv
  mvlgamma mvlgamma_ name= nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy nbytes=
  ndim= ndimension ne ne_ neg neg_ negative negative_ nelement new new_empty new_empty_strided new_full new_ones
  new_tensor new_zeros nextafter nextafter_ nonzero nonzero_static norm normal_ not_equal not_equal_ numel numpy orgqr
  ormqr outer output_nr= permute pin_memory pinverse polygamma polygamma_ positive pow pow_ prelu prod put put_
  q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr qscheme quantile rad2deg
  rad2deg_ random_ ravel real= reciprocal reciprocal_ record_stream register_hook register_post_accumulate_grad_hook
  reinforce relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave requires_grad= requires_grad_
  reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg retain_grad
  retains_grad= roll rot90 round round_ row_indices rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_
  scatter_reduce scatter_reduce_ select select_scatter set_ sgn sgn_ shape= share_memory_ short sigmoid sigmoid_ sign
  sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_inverse slice_scatter slogdet smm softmax solve sort
  sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_
  squeeze squeeze_ sspaddmm std stft storage storage_offset storage_type stride sub sub_ subtract subtract_ sum
  sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ symeig t t_ take take_along_dim tan tan_ tanh tanh_
  tensor_split tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo
  to_sparse_csc to_sparse_csr tolist topk trace transpose transpose_ triangular_solve tril tril_ triu triu_
  true_divide true_divide_ trunc trunc_ type type_as unbind unflatten unfold uniform_ unique unique_consecutive
  unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ untyped_storage values var vdot view view_as
  volatile= vsplit where xlogy xlogy_ xpu zero_
"""
