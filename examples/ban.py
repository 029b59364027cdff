#!/usr/bin/env python3
"""A filter of logits: ids named as arguments are never picked. It stands between fwd and sample.

    gen --stage sample='python3 examples/ban.py 11 | sample --greedy -n 40' "The king said"
"""
import struct
import sys

import frames

banned = [int(word) for word in sys.argv[1:]]

for kind, header, data in frames.read():
    if kind == b"logi":
        rows, cols, type_ = header[:3]
        size, letter = frames.SIZE[type_], frames.FLOAT[type_]
        data = bytearray(data)
        for row in range(rows):
            for i in banned:
                struct.pack_into("<" + letter, data, size * (row * cols + i), float("-inf"))
    frames.write(kind, header, bytes(data))
