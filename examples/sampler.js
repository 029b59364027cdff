// A sampler in node: temperature 0.7 over the five most likely ids; see frame(5).
//
//	gen --stage sample='node examples/sampler.js 60' "Once upon a time"
const I32 = 26, SAMPLED = 1, END_EOG = 1, END_LENGTH = 2;
const SIZE = { 0: 4, 1: 2, 24: 1, 26: 4 };      // bytes of an element: F32, F16, I8, I32

let left = Number(process.argv[2] ?? 60);
let ends = [];

function write(kind, header, payload = Buffer.alloc(0)) {
	const head = Buffer.alloc(32);
	head.write("lms1" + kind, "latin1");
	header.forEach((value, i) => head.writeUInt32LE(value, 8 + 4 * i));
	process.stdout.write(Buffer.concat([head, payload]));
}

function half(bits) {
	const exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;

	return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

// The last row of logits: [id, logit] of the most likely ids, the best first.
function best([rows, cols, type], data, n) {
	const start = (rows - 1) * cols * SIZE[type];
	const row = Array.from({ length: cols }, (_, id) =>
		[id, type ? half(data.readUInt16LE(start + 2 * id)) : data.readFloatLE(start + 4 * id)]);

	return row.sort((a, b) => b[1] - a[1]).slice(0, n);
}

function draw(candidates) {
	const weights = candidates.map(([, logit]) => Math.exp((logit - candidates[0][1]) / 0.7));
	let at = Math.random() * weights.reduce((a, b) => a + b);
	const i = weights.findIndex(weight => (at -= weight) < 0);

	return candidates[i < 0 ? 0 : i][0];
}

function take(kind, header, data) {
	const [rows, , , , pos, seq] = header;

	if (kind === "card")
		ends = Array.from({ length: data.length / 4 - 8 }, (_, i) => data.readInt32LE(32 + 4 * i));
	if (kind === "card" || kind === "end ")
		write(kind, header, data);
	if (kind !== "logi" || !left)
		return;
	const id = draw(best(header, data, 5)), payload = Buffer.alloc(4);
	payload.writeInt32LE(id);
	write("ids ", [1, 1, I32, SAMPLED, pos + rows, seq], payload);
	if (!--left || ends.includes(id))
		write("end ", [0, 1, I32, ends.includes(id) ? END_EOG : END_LENGTH, pos + rows + 1, seq]);
}

let had = Buffer.alloc(0);
process.stdout.on("error", () => process.exit());       // the reader has gone
process.stdin.on("data", data => {
	had = Buffer.concat([had, data]);
	while (had.length >= 32) {
		const header = Array.from({ length: 6 }, (_, i) => had.readUInt32LE(8 + 4 * i));
		const end = 32 + header[0] * header[1] * SIZE[header[2]];

		if (had.length < end)
			break;
		take(had.toString("latin1", 4, 8), header, had.subarray(32, end));
		had = had.subarray(end);
	}
});
