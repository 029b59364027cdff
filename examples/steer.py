#!/usr/bin/env python3
"""Steers a model: adds a direction of a control vector to the hidden states between two stages of fwd --layers.

    ... | fwd --layers 0-2 m.gguf | python3 examples/steer.py vector.gguf 1 | fwd --layers 3-5 m.gguf | ...

The direction is that of the last layer before the filter. The logits are those of fwd --control-vector vector.gguf=1 if
the vector has no other, and with a strength of 0 those of the model alone, bit for bit."""
import array
import sys

import frames
import vectors


def steered(rows, cols, direction):
    """The rows plus the direction; what follows it in a row is for later layers (fwd(1))."""
    for at in range(0, len(rows), cols):
        for i, x in enumerate(direction):
            rows[at + i] += x
    return rows


directions, strength = vectors.read(sys.argv[1]), array.array("f", [float(sys.argv[2])])[0]
for kind, header, data in frames.read():
    if kind == b"hidn" and strength:
        layer = header[3] - 1
        if layer not in directions:
            sys.exit(f"steer: {sys.argv[1]} has no direction for layer {layer}")
        direction = array.array("f", [strength * x for x in directions[layer]])
        data = steered(array.array("f", data), header[1], direction).tobytes()
    frames.write(kind, header, data)
