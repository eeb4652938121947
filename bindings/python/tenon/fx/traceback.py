"""What nodes that are made now are told about their origin."""

import contextlib
import traceback

current_meta = {}
current_replay_node = None
should_preserve_node_meta = False


@contextlib.contextmanager
def preserve_node_meta(enable=True):
    """Nodes that are made within it have the current meta."""
    global should_preserve_node_meta, current_meta
    before, before_meta = should_preserve_node_meta, current_meta.copy()
    try:
        should_preserve_node_meta = enable
        yield
    finally:
        should_preserve_node_meta, current_meta = before, before_meta


def has_preserved_node_meta():
    """Whether nodes have the current meta."""
    return should_preserve_node_meta


def set_stack_trace(stack):
    """Gives nodes that are made from now on a stack trace, within preserve_node_meta()."""
    if should_preserve_node_meta and stack:
        current_meta["stack_trace"] = "".join(stack)


@contextlib.contextmanager
def annotate(annotation_dict):
    """Adds to meta["custom"] of nodes that are made within it."""
    global current_meta
    before = current_meta.get("custom")
    current_meta["custom"] = {**(before or {}), **annotation_dict}
    try:
        yield
    finally:
        if before is None:
            current_meta.pop("custom", None)
        else:
            current_meta["custom"] = before


def format_stack():
    """The stack trace of the node that runs, or that of the program."""
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextlib.contextmanager
def set_current_meta(node, pass_name=""):
    """The meta of nodes made within it is that of the node."""
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    before = current_meta
    try:
        current_meta = node.meta.copy()
        yield
    finally:
        current_meta = before


def get_current_meta():
    """The meta that nodes have that are made now."""
    return current_meta


@contextlib.contextmanager
def set_current_replay_node(node):
    """Names the node that is replayed."""
    global current_replay_node
    before = current_replay_node
    try:
        current_replay_node = node
        yield
    finally:
        current_replay_node = before


def get_current_replay_node():
    """The node that is replayed."""
    return current_replay_node
