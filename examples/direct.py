#!/usr/bin/env python3
"""Makes a control vector: for each pair of streams of hidden states, the mean of the first less that of the second.

    direct.py TOWARDS AWAY [TOWARDS AWAY ...] > vector.gguf

    printf 'by the sea\\nin a ship\\n' | tok --lines m.gguf | fwd --layers 0-2 m.gguf > towards.lms

These streams are of the rows after layer 2, so the vector has a direction for layer 2. steer.py adds it in a pipe, and
fwd --control-vector inside the model. The hidden states must be the residual stream alone, as in most families
(fwd(1))."""
import sys

import frames
import vectors


def mean(path):
    """The layer that all hidden states of a stream come from, and the mean of their rows."""
    layer, total, n = None, None, 0
    with open(path, "rb") as stream:
        for kind, (rows, cols, _, flags, *_), data in frames.read(stream):
            for i in range(rows if kind == b"hidn" else 0):
                row = frames.row(data, i, cols, 0)
                layer, total, n = flags - 1, [a + b for a, b in zip(total or [0.0] * cols, row)], n + 1
    if not n:
        sys.exit(f"direct: {path}: no hidden states (fwd --layers)")
    return layer, [x / n for x in total]


directions = {}
for towards, away in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        (layer, a), (other, b) = mean(towards), mean(away)
    except OSError as e:
        sys.exit(f"direct: {e.filename}: {e.strerror}")
    if layer != other or not layer:
        sys.exit(f"direct: {towards} is after layer {layer}, {away} after layer {other}, but both must be after one "
                 "layer, and not after layer 0")
    if len(a) != len(b):
        sys.exit(f"direct: rows of {len(a)} values in {towards}, of {len(b)} in {away}")
    directions[layer] = [x - y for x, y in zip(a, b)]
if not directions or len(sys.argv) % 2 == 0:
    sys.exit(__doc__)
vectors.write(directions)
