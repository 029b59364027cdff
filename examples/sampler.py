#!/usr/bin/env python3
"""A sampler of one's own, for one text or a conversation: temperature 0.7 over the five most likely ids.

    gen --stage sample='python3 examples/sampler.py 60' "Once upon a time"
"""
import math
import random
import sys

import frames

limit = int(sys.argv[1]) if len(sys.argv) > 1 else 60
left = limit
draw = random.Random(1)
ends = set()

for kind, (rows, cols, type_, flags, pos, seq), data in frames.read():
    if kind == b"card":
        ends = frames.end_ids(data)
    if kind in (b"card", b"end "):
        frames.write(kind, [rows, cols, type_, flags, pos, seq], data)
    if kind != b"logi" or not left:
        continue
    row = frames.row(data, rows - 1, cols, type_)
    best = sorted(range(cols), key=lambda i: -row[i])[:5]
    weights = [math.exp((row[i] - row[best[0]]) / 0.7) for i in best]
    pick = draw.choices(best, weights)[0]
    left -= 1
    frames.write(b"ids ", [1, 1, 26, frames.SAMPLED, pos + rows, seq], pick.to_bytes(4, "little"))
    if pick in ends or not left:
        frames.write(b"end ", [0, 1, 26, frames.END_EOG if pick in ends else frames.END_LENGTH, pos + rows + 1, seq])
        left = limit                    # for the next turn of a conversation
