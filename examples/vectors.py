"""Control vectors as GGUF files: directions of the residual stream, by layer. Standard library only."""
import array
import struct
import sys

LETTER = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY, F32, ALIGN = 8, 9, 0, 32


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, letter):
        value, = struct.unpack_from("<" + letter, self.data, self.at)
        self.at += struct.calcsize("<" + letter)
        return value

    def text(self):
        n = self.number("Q")
        self.at += n
        return self.data[self.at - n:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            of, n = self.number("I"), self.number("Q")
            return [self.value(of) for _ in range(n)]
        return self.number(LETTER[kind])


def padding(at, align=ALIGN):
    return -at % align


def read(path):
    """{layer: the floats of its direction}"""
    with open(path, "rb") as file:
        c = Cursor(file.read())
    if c.data[:4] != b"GGUF":
        sys.exit(f"{path}: not a GGUF file")
    c.at = 8
    tensors, keys, found = c.number("Q"), c.number("Q"), []
    align = ALIGN
    for _ in range(keys):
        key, value = c.text(), c.value(c.number("I"))
        align = value if key == "general.alignment" else align
    for _ in range(tensors):
        name, dims = c.text(), [c.number("Q") for _ in range(c.number("I"))]
        kind, offset = c.number("I"), c.number("Q")
        if not name.startswith("direction.") or len(dims) != 1 or kind != F32:
            sys.exit(f"{path}: tensor {name}: not a direction")
        found.append((int(name[len("direction."):]), dims[0], offset))
    start = c.at + padding(c.at, align)
    return {layer: array.array("f", c.data[start + offset:start + offset + 4 * n]) for layer, n, offset in found}


def write(directions, file=sys.stdout.buffer):
    """The file of {layer: floats}."""
    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()

    keys = [("general.architecture", STRING, text("controlvector")),
            ("controlvector.layer_count", 4, struct.pack("<I", max(directions)))]
    head, data = b"GGUF" + struct.pack("<IQQ", 3, len(directions), len(keys)), b""
    for key, kind, value in keys:
        head += text(key) + struct.pack("<I", kind) + value
    for layer, x in sorted(directions.items()):
        data += b"\0" * padding(len(data))
        head += text(f"direction.{layer}") + struct.pack("<IQIQ", 1, len(x), F32, len(data))
        data += array.array("f", x).tobytes()
    file.write(head + b"\0" * padding(len(head)) + data)
