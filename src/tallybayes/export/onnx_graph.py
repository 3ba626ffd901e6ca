"""Graphs of ONNX, node by node: constants, operators, and a search among sorted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["DOUBLE", "INT32", "LARGEST", "ML_OPSET", "OPSET", "Graph"]

# The oldest that have what is used, so that older runtimes read the graphs: ReduceMax takes its axes as an input.
OPSET, ML_OPSET, _IR = 18, 3, 8
LARGEST = 1.7976931348623157e308
DOUBLE, INT32 = 11, 6  # of TensorProto
_TYPES = {"double": DOUBLE, "int64": 7, "string": 8, "bool": 9}


class Graph:
    """A graph that grows; nodes are named by their only output."""

    def __init__(self) -> None:
        try:
            import onnx  # noqa: F401
        except ImportError:
            do = "Install it: pip install 'tallybayes[export]'"
            raise BadOption(wanted("export to ONNX", "the package onnx", "none", do)) from None
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._known: dict[tuple[Any, ...], str] = {}

    def input(self, name: str, *, text: bool) -> str:
        """Add an input (n, 1) of doubles or strings."""
        from onnx import helper

        self.inputs.append(helper.make_tensor_value_info(name, _TYPES["string" if text else "double"], [None, 1]))
        return name

    def output(self, name: str, of: str, kind: str, axes: int, width: int | None = None) -> None:
        """Name a node's output as one of the graph."""
        from onnx import helper

        self.alias(of, name)
        shape = [None] if axes == 1 else [None, width]
        self.outputs.append(helper.make_tensor_value_info(name, _TYPES[kind], shape))

    def alias(self, of: str, name: str) -> None:
        """Give a node's output a second name."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [of], [name]))

    def renamed(self, prefix: str) -> tuple[list[Any], list[Any]]:
        """Return nodes and constants under names that begin with a prefix, for another graph."""
        for one in self.constants:
            one.name = prefix + one.name
        mine = set(self._known.values())
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = [prefix + name if name in mine else name for name in names]
        return self.nodes, self.constants

    def const(self, value: npt.ArrayLike) -> str:
        """Add a constant, once."""
        from onnx import numpy_helper

        array = np.asarray(value)
        key = ("const", array.dtype.str, array.shape, array.tobytes() if array.dtype != object else tuple(array))
        if key not in self._known:
            self._known[key] = name = f"/c{len(self._known)}"
            self.constants.append(numpy_helper.from_array(array, name))
        return self._known[key]

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node, once, and return the name of its output."""
        from onnx import helper

        key = (kind, inputs, domain, repr(sorted(attributes.items())))
        if key not in self._known:
            self._known[key] = name = f"/{kind}{len(self._known)}"
            self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return self._known[key]

    def columns(self, of: str, start: int, stop: int) -> str:
        """Return some columns of a matrix."""
        return self.op("Slice", of, self.const([start]), self.const([stop]), self.const([1]))

    def search(self, x: str, edges: npt.NDArray[np.float64], *, strictly: bool = False) -> str:
        """Return how many of some rising numbers are at most x, or below it.

        It takes as many halvings as there are bits.
        """
        bits = len(edges).bit_length()
        padded = self.const(np.append(edges, np.full((1 << bits) - len(edges), np.inf)))
        place, compare = self.const(np.zeros((1, 1), np.int64)), "Greater" if strictly else "GreaterOrEqual"
        for bit in reversed(range(bits)):
            further = self.op("Add", place, self.const(np.int64(1 << bit)))
            edge = self.op("Gather", padded, self.op("Sub", further, self.const(np.int64(1))), axis=0)
            place = self.op("Where", self.op(compare, x, edge), further, place)
        return place

    def outside(self, x: str, domain: str) -> list[str]:
        """Return the conditions under which a number is outside of its domain; NaN, a missing number, is not."""
        if domain == "any":
            return []
        if domain == "binary":
            given, other = (
                self.op("Not", self.op("IsNaN", x)),
                self.op("Not", self.op("Equal", self.op("Mul", x, x), x)),
            )
            return [self.op("And", given, other)]
        far = self.op("Greater", self.op("Abs", x), self.const(LARGEST))
        below = {"not negative": "Less", "positive": "LessOrEqual"}.get(domain)
        return [far] if below is None else [far, self.op(below, x, self.const(0.0))]

    def label_codes(self, x: str, keys: Sequence[str], codes: Sequence[int], other: int) -> str:
        """Return the code of each string."""
        attributes = {"keys_strings": list(keys), "values_int64s": list(codes), "default_int64": other}
        return self.op("LabelEncoder", x, domain="ai.onnx.ml", **attributes)

    def model(self, name: str) -> ModelProto:
        """Return the whole model."""
        from onnx import helper

        graph = helper.make_graph(self.nodes, name or "scores", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, producer_name="tallybayes", ir_version=_IR)
