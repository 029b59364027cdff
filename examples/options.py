#!/usr/bin/env python3
"""A filter of prompts: the lines of a file get options of their own, those of line k in the k-th argument, in turn. It
stands between tok and feed.

    tok --lines m.gguf lines | options.py "--temp=0" "--temp=1.5 --seed=7" | feed -j 16 f | fwd m.gguf |
        sample -n 40 | tee f | detok --lines --generated m.gguf
"""
import sys

import frames

begun = set()

for kind, header, data in frames.read():
    seq = header[5]
    if kind == b"ids " and seq not in begun:
        words = sys.argv[1 + len(begun) % (len(sys.argv) - 1)].split()
        frames.options(seq, words)
        begun.add(seq)
    frames.write(kind, header, data)
