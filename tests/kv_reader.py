"""A reader of saved segments, written from kv(5) alone: kv_reader.py POSITION... < SAVED
Prints the ids, then for each position K and V of the first KV head."""
import struct
import sys

M = 2**64 - 1
ODD = 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1
TYPES = "e", "f", "b", "B"              # f16, f32, q8_0, q4_0, as struct has them


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return z ^ z >> 31


def hash_of(data, seed):
    lanes = [seed ^ k for k in ODD]
    padded = data + bytes(-len(data) % 32)
    for words in struct.iter_unpack("<4Q", padded):
        for i, word in enumerate(words):
            x = (lanes[i] ^ word) * ODD[i] & M
            lanes[i] = (x << 29 | x >> 35) & M
    h = len(data)
    for lane in lanes:
        h = mix(h + lane & M)
    return h


def decode(encoded, size):
    data, at = b"", 0
    while len(data) < size:
        n = struct.unpack_from("<H", encoded, at)[0]
        data += encoded[at + 2:at + 2 + 8 * n]
        zeroes = struct.unpack_from("<H", encoded, at + 2 + 8 * n)[0]
        data += bytes(8 * zeroes)
        at += 4 + 8 * n
    assert at == len(encoded)
    return data[:size]


def read(stream):
    head = stream.read(16)
    assert head == b"lmpipe kv\r\n\0" + struct.pack("<I", 1)
    blocks, before, size = [], hash_of(head, 0), 1
    while size:
        sizes = stream.read(8)
        size, n = struct.unpack("<2I", sizes)
        stored, = struct.unpack("<Q", stream.read(8))
        encoded = stream.read(n)
        before = hash_of(encoded, hash_of(sizes, before))
        assert before == stored, "damaged"
        blocks.append(decode(encoded, size))
    assert not stream.read(1)
    return b"".join(blocks)


def rotate(row):
    size = len(row) & -len(row)
    signs = [[(-1) ** bin(i & j).count("1") for j in range(size)] for i in range(size)]
    return [sum(x * sign for x, sign in zip(row[i // size * size:], signs[i % size])) / size ** 0.5
            for i in range(len(row))]


def head_row(kind, block, dim_k, dim_v, j):
    """K and V of position j of an extent, from the block of a KV head."""
    rows, at = [], 0
    for is_k, dim in (True, dim_k), (False, dim_v):
        groups = (dim + 31) // 32
        size, stored = struct.calcsize(TYPES[kind]), dim
        if kind == 3:
            size, stored = 0.5, 32 * groups
        elif kind == 2 and is_k:
            stored = (dim + 3) // 4 * 4
        row, scales = [], at + int(128 * stored * size)
        for d in range(dim):
            low, n = d % 16, min(32, dim - d // 32 * 32)
            if kind == 3:
                place = (j // 16 * groups + d // 32) * 256 + low // 4 * 64 + j % 16 * 4 + low % 4 if is_k \
                    else (d // 32 * 32 + j // 4) * 64 + low * 4 + j % 4
            elif kind == 2:
                place = j // 16 * stored * 16 + (d // 4 * 16 + j % 16) * 4 + d % 4 if is_k \
                    else d // 32 * 32 * 128 + (j // 4 * n + d % 32) * 4 + j % 4
            else:
                place = j // 16 * dim * 16 + d * 16 + j % 16 if is_k else j * dim + d
            x, = struct.unpack_from("<" + TYPES[kind], block, at + place * max(1, int(size)))
            if kind == 3:
                x = (x >> d % 32 // 16 * 4 & 15) - 8
            if kind >= 2:
                x *= struct.unpack_from("<e", block, scales + 2 * ((j // 16 * groups + d // 32) * 16 + j % 16))[0]
            row.append(x)
        at = scales + (128 * groups * 2 if kind >= 2 else 0)
        rows.append(rotate(row) if kind >= 2 else row)
    return rows


def main():
    data = read(sys.stdin.buffer)
    word = struct.unpack_from("<91Q", data)
    per_extent, recent, window, state, row, layers, kind = word[4:11]
    rooms = max(32, (window + 2048) // 128 + 2) if recent else 0
    heads = [word[i:i + 3] for i in range(13, 37, 3)]
    n, dim_k, dim_v = heads[0]
    length, at, ids, extents = word[62], 1872, [], []
    for e in range((length + 127) // 128):
        at += (64 * row + (state if word[12] else 0)) if e == 0 else 0
        at += state * sum(128 * e < 32 << i <= 128 * (e + 1) for i in range(22))
        ids += struct.unpack_from("<128i", data, at)
        extents.append(at + 512)
        at += 512 + per_extent + (recent if e < rooms else 0)
    assert at == len(data)
    print(*ids[:length])
    for pos in map(int, sys.argv[1:]):
        for x in head_row(kind, data[extents[pos // 128]:], dim_k, dim_v, pos % 128):
            print(*("%.6g" % y for y in x))


main()
