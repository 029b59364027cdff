#!/usr/bin/env python3
"""Steers a model: adds a direction to the hidden states between two stages of fwd --layers.

    steer.py TOWARDS AWAY > direction       the mean hidden state of one stream less that of another, as raw floats
    steer.py direction STRENGTH             a filter that adds STRENGTH times the direction to each row

    ... | fwd --layers 0-2 m.gguf | python3 examples/steer.py direction 1 | fwd --layers 3-5 m.gguf | ...
"""
import array
import sys

import frames


def mean(path):
    """The mean of all rows of hidden states in a stream."""
    total, n = None, 0
    with open(path, "rb") as stream:
        for kind, (rows, cols, *_), data in frames.read(stream):
            for i in range(rows if kind == b"hidn" else 0):
                row = frames.row(data, i, cols, 0)
                total = [a + b for a, b in zip(total or [0.0] * cols, row)]
                n += 1
    return [x / n for x in total]


def make(towards, away):
    difference = array.array("f", (a - b for a, b in zip(mean(towards), mean(away))))
    sys.stdout.buffer.write(difference.tobytes())


def steer(path, strength):
    direction = array.array("f", open(path, "rb").read())
    for kind, header, data in frames.read():
        if kind == b"hidn" and strength:
            rows = array.array("f", data)
            for i in range(len(rows)):
                rows[i] += strength * direction[i % len(direction)]
            data = rows.tobytes()
        frames.write(kind, header, data)


try:
    strength = float(sys.argv[2])
except ValueError:
    make(sys.argv[1], sys.argv[2])
else:
    steer(sys.argv[1], strength)
