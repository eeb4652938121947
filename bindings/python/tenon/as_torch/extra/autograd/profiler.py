"""The profiler under its old name, and with its old arguments."""

from tenon import profiler
from tenon.as_torch.extra.profiler import kineto_available as kineto_available
from tenon.profiler import record_function as record_function


class profile(profiler.profile):
    """profile(enabled=True, record_shapes=True): as tenon.profiler.profile; if it is not enabled, nothing is recorded."""

    def __init__(
        self, enabled=True, *, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
        with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False,
        custom_trace_id_callback=None, post_processing_timeout_s=None, activity_filters=None,
    ):  # fmt: skip
        if enabled and not use_cpu:
            raise NotImplementedError("profile: use_cpu=False")
        profiler._refuse("profile", use_device=use_device, activity_filters=activity_filters)
        super().__init__(
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory, with_stack=with_stack,
            with_modules=with_modules, experimental_config=experimental_config, acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback, post_processing_timeout_s=post_processing_timeout_s,
        )  # fmt: skip
        self.enabled = enabled

    def __enter__(self):
        return super().__enter__() if self.enabled else None

    def export_chrome_trace(
        self,
        path,
        metadata=None,
        use_python_export=False,
        cuda_graph_annotations=None,
        graph_lanes="none",
        default_stream=7,
    ):
        profiler._refuse("export_chrome_trace", metadata=metadata)
        super().export_chrome_trace(path, use_python_export, cuda_graph_annotations, graph_lanes, default_stream)

    @property
    def function_events(self):
        return self.events()

    @property
    def self_cpu_time_total(self):
        """The sum of the events' own times, in microseconds."""
        return sum(event.self_cpu_time_total for event in self.key_averages())

    def table(self, *args, **options):
        """key_averages().table()"""
        return self.key_averages().table(*args, **options)
