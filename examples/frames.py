"""The stream between the stages, for stages written in Python: see frame(5). Standard library only."""
import signal
import struct
import sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # when the reader exits, so do we, like any filter

HEADER = struct.Struct("<4s4s6I")       # magic, kind, rows, cols, type, flags, pos, seq
SIZE = {0: 4, 1: 2, 24: 1, 26: 4}       # bytes of an element: F32, F16, I8, I32
FLOAT = {0: "f", 1: "e"}                # struct's letters for F32 and F16
SAMPLED, END_EOG, END_LENGTH = 1, 1, 2


def exactly(stream, n):
    data = stream.read(n)
    if len(data) != n:
        sys.exit("frames: the stream ends inside a frame")
    return data


def read(stream=sys.stdin.buffer):
    """Yields (kind, header, payload); header is [rows, cols, type, flags, pos, seq]."""
    while head := stream.read(HEADER.size):
        if len(head) != HEADER.size or head[:4] != b"lms1":
            sys.exit("frames: not a frame")
        _, kind, *h = HEADER.unpack(head)
        yield kind, h, exactly(stream, h[0] * h[1] * SIZE[h[2]])


def write(kind, header, payload=b"", stream=sys.stdout.buffer):
    stream.write(HEADER.pack(b"lms1", kind, *header) + payload)
    stream.flush()


def options(seq, words, stream=sys.stdout.buffer):
    """Gives a sequence options of its own, such as --temp=0.5; to be called before its first ids."""
    data = b"".join(word.encode() + b"\0" for word in words)
    write(b"opts", [len(data), 1, 24, 0, 0xffffffff, seq], data, stream)


def row(data, number, cols, type_):
    """The floats of one row of logits, F32 or F16."""
    return struct.unpack_from("<%d%s" % (cols, FLOAT[type_]), data, number * cols * SIZE[type_])


def end_ids(card):
    """The end-of-generation ids of a card's payload."""
    return set(struct.unpack("<%di" % (len(card) // 4), card)[8:])
