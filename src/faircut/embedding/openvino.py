"""OpenVINO as another runtime for a graph, an extra: an ONNX file in, a session that is run as onnxruntime's is.

Which graph, and what is done with its outputs, is left to ``minilm.py``. Nothing is sent anywhere.
"""

from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faircut.errors import EmbeddingError

__all__ = ["OpenVinoSession", "open_openvino"]

_EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
"""Single precision, also where the machine would take half."""


class OpenVinoSession:
    """A compiled graph, run by as many threads side by side as there are ``cores``, each run single-threaded, so that
    the same text gives the same bits.
    """

    def __init__(self, graph: Path, openvino: Any, cores: int) -> None:
        core = openvino.Core()
        threads = {"INFERENCE_NUM_THREADS": cores, "NUM_STREAMS": cores}
        self._compiled = core.compile_model(core.read_model(str(graph)), "CPU", _EXACT | threads)
        self._free: SimpleQueue[Any] = SimpleQueue()

    def run(self, outputs: None, inputs: Mapping[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:  # noqa: ARG002
        """All outputs, as arrays of their own."""
        try:
            request = self._free.get_nowait()
        except Empty:
            request = self._compiled.create_infer_request()
        request.infer(dict(inputs))
        found = [np.array(tensor.data) for tensor in request.output_tensors]
        self._free.put(request)
        return found


def open_openvino(graph: Path, cores: int) -> OpenVinoSession:
    """The session of an ONNX graph; ``cores`` are the threads that may run it at a time.

    Raises:
        EmbeddingError: the extra is not installed, or OpenVINO cannot read the graph.
    """
    try:
        import openvino
    except ImportError as error:
        raise EmbeddingError('runtime=openvino needs an extra; run: pip install "faircut[openvino]"') from error
    try:
        return OpenVinoSession(graph, openvino, cores)
    except RuntimeError as error:
        raise EmbeddingError(f"OpenVINO cannot open {graph}: {str(error).strip().splitlines()[0]}") from error
