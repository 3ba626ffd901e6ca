"""Graphs of ONNX, node by node: constants, operators, and a search among sorted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["DOUBLE", "Graph", "Trees"]

_OPSET, _ML_OPSET, _IR = 18, 5, 10
_LARGEST = 1.7976931348623157e308
DOUBLE = 11  # of TensorProto
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

        self.nodes.append(helper.make_node("Identity", [of], [name]))
        shape = [None] if axes == 1 else [None, width]
        self.outputs.append(helper.make_tensor_value_info(name, _TYPES[kind], shape))

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
        """Return how many of some rising numbers are at most x, or below it: as many halvings as there are bits."""
        bits = len(edges).bit_length()
        padded = self.const(np.append(edges, np.full((1 << bits) - len(edges), np.inf)))
        place, compare = self.const(np.zeros((1, 1), np.int64)), "Greater" if strictly else "GreaterOrEqual"
        for bit in reversed(range(bits)):
            further = self.op("Add", place, self.const(np.int64(1 << bit)))
            edge = self.op("Gather", padded, self.op("Sub", further, self.const(np.int64(1))), axis=0)
            place = self.op("Where", self.op(compare, x, edge), further, place)
        return place

    def label_codes(self, x: str, keys: Sequence[str], codes: Sequence[int], other: int) -> str:
        """Return the code of each string."""
        attributes = {"keys_strings": list(keys), "values_int64s": list(codes), "default_int64": other}
        return self.op("LabelEncoder", x, domain="ai.onnx.ml", **attributes)

    def model(self, name: str) -> ModelProto:
        """Return the whole model."""
        from onnx import helper

        graph = helper.make_graph(self.nodes, name or "scores", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, producer_name="tallybayes", ir_version=_IR)


class Trees:
    """Trees that look numbers up in intervals, for one node that sums what they find by target."""

    def __init__(self, n_targets: int) -> None:
        self.n_targets, self.roots = n_targets, list[int]()
        self.features, self.modes, self.splits = list[int](), list[int](), list[float]()
        self.yes, self.yes_leaf, self.no, self.no_leaf = list[int](), list[int](), list[int](), list[int]()
        self.targets, self.amounts = list[int](), list[float]()

    def add(self, feature: int, edges: npt.NDArray[np.float64], amounts: npt.NDArray[np.float64], target: int) -> None:
        """Add a tree: amounts[k] above k edges, and the last where the number is missing."""
        # NaN is no number up to the largest; below it, an edge belongs to the interval above.
        root = self._branch(feature, _LARGEST, at_most=True)
        self.roots.append(root)
        self._point(root, self.yes, self.yes_leaf, self._find(feature, edges, amounts, target, 0, len(edges) + 1))
        self._point(root, self.no, self.no_leaf, (self._leaf(target, amounts[-1]), 1))

    def _find(
        self,
        feature: int,
        edges: npt.NDArray[np.float64],
        amounts: npt.NDArray[np.float64],
        target: int,
        low: int,
        high: int,
    ) -> tuple[int, int]:
        """Return the node that finds an interval, or its leaf, and whether it is a leaf."""
        if high - low == 1:
            return self._leaf(target, amounts[low]), 1
        middle = (low + high) // 2
        node = self._branch(feature, float(edges[middle - 1]), at_most=False)
        self._point(node, self.yes, self.yes_leaf, self._find(feature, edges, amounts, target, low, middle))
        self._point(node, self.no, self.no_leaf, self._find(feature, edges, amounts, target, middle, high))
        return node, 0

    def _branch(self, feature: int, split: float, *, at_most: bool) -> int:
        self.features.append(feature)
        self.modes.append(0 if at_most else 1)  # x ≤ split, x < split
        self.splits.append(split)
        for part in (self.yes, self.yes_leaf, self.no, self.no_leaf):
            part.append(0)
        return len(self.features) - 1

    def _leaf(self, target: int, amount: float) -> int:
        self.targets.append(target)
        self.amounts.append(float(amount))
        return len(self.amounts) - 1

    @staticmethod
    def _point(node: int, to: list[int], is_leaf: list[int], found: tuple[int, int]) -> None:
        to[node], is_leaf[node] = found

    def node(self, graph: Graph, x: str) -> str:
        """Return the sums (n, targets)."""
        from onnx import TensorProto, helper

        if not self.roots:  # no column tells anything
            self.add(0, np.zeros(0), np.zeros(2), 0)
        counts = [len(self.features)], [len(self.amounts)]
        return graph.op(
            "TreeEnsemble",
            x,
            domain="ai.onnx.ml",
            n_targets=self.n_targets,
            aggregate_function=1,  # a sum
            tree_roots=self.roots,
            nodes_featureids=self.features,
            nodes_modes=helper.make_tensor("modes", TensorProto.UINT8, counts[0], self.modes),
            nodes_splits=helper.make_tensor("splits", DOUBLE, counts[0], self.splits),
            nodes_truenodeids=self.yes,
            nodes_trueleafs=self.yes_leaf,
            nodes_falsenodeids=self.no,
            nodes_falseleafs=self.no_leaf,
            leaf_targetids=self.targets,
            leaf_weights=helper.make_tensor("amounts", DOUBLE, counts[1], self.amounts),
        )
