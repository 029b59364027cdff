/* lib/gguf on files that are correct, wrong in one way, or mutated at random. Whatever they contain, the result is an
 * answer or a one-line error, never a crash (which the sanitizers would see), and never more memory than the file's
 * size explains. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/gguf/formats.h"
#include "lib/gguf/gguf.h"
#include "lib/vocab/vocab.h"
#include "check.h"
#include "mkgguf.h"

static struct why w;

/* Counts a check; if it failed, also prints the last reason of the library. */
static void holds(int ok, const char *what)
{
	check(ok, "%s (%s)", what, w.text);
}

/* ---- files by hand ---- */

static unsigned char file[1 << 16];
static size_t size;

static void put(uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		file[size++] = (unsigned char)(value >> 8 * i);
}

static void put_text(const char *s)
{
	put(strlen(s), 8);
	memcpy(file + size, s, strlen(s));
	size += strlen(s);
}

static void start(uint32_t version, uint64_t tensors, uint64_t values)
{
	size = 0;
	put(0x46554747, 4);
	put(version, 4);
	put(tensors, 8);
	put(values, 8);
}

static void put_u32(const char *key, uint32_t value)
{
	put_text(key);
	put(GGUF_U32, 4);
	put(value, 4);
}

static void put_tensor(const char *name, uint32_t n_dims, uint64_t a, uint64_t b, uint32_t type, uint64_t offset)
{
	put_text(name);
	put(n_dims, 4);
	put(a, 8);
	if (n_dims > 1)
		put(b, 8);
	for (uint32_t i = 2; i < n_dims && i < 8; i++)
		put(1, 8);
	put(type, 4);
	put(offset, 8);
}

static void pad(size_t alignment, size_t data)
{
	while (size % alignment)
		file[size++] = 0;
	for (size_t i = 0; i < data; i++)
		file[size++] = (unsigned char)i;
}

static struct gguf *open_bytes(const void *bytes, size_t n, int tensors)
{
	FILE *f = fopen("t.gguf", "wb");
	struct gguf *g;

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
		printf("cannot write t.gguf\n");
		exit(1);
	}
	w.text[0] = 0;
	g = gguf_open("t.gguf", tensors, &w);
	return g;
}

/* Checks that the file made so far is refused, with a reason that names the file and contains these words. */
static void refused(const char *words, const char *what)
{
	struct gguf *g = open_bytes(file, size, 1);

	holds(!g && !strncmp(w.text, "t.gguf: ", 8) && strstr(w.text, words), what);
	gguf_close(g);
}

static void accepted(const char *what)
{
	struct gguf *g = open_bytes(file, size, 1);

	holds(g != NULL, what);
	gguf_close(g);
}

static void wrong_files(void)
{
	for (uint32_t v = 0; v < 6; v++) {
		start(v, 0, 0);
		if (v == 2 || v == 3)
			accepted("versions 2 and 3");
		else
			refused("version", "another version");
	}
	start(3 << 24, 0, 0);
	refused("big-endian", "a big-endian file");
	start(3, 0, 0);
	size = 23;
	refused("too few", "a cut header");
	start(3, 0, 1ull << 60);
	refused("metadata pairs", "absurd n_values");
	start(3, UINT64_MAX, 0);
	refused("tensors", "absurd n_tensors");
	start(3, 0, 2);
	put_u32("a", 1);
	put_u32("a", 2);
	refused("a: given twice", "a key given twice");
	start(3, 0, 1);
	put(UINT64_MAX, 8);
	pad(32, 32);
	refused("a key goes past the end", "a key of 2^64-1 bytes");
	start(3, 0, 1);
	put_text("k");
	put(13, 4);
	put(0, 8);
	refused("k: unknown value type 13", "an unknown value type");
	start(3, 0, 1);
	put_text("k");
	put(GGUF_ARRAY, 4);
	put(GGUF_F64, 4);
	put(1ull << 61, 8);
	refused("k: goes past", "an array whose size wraps");
	start(3, 0, 1);
	put_text("k");
	put(GGUF_ARRAY, 4);
	put(GGUF_ARRAY, 4);
	put(1, 8);
	refused("k: an array of", "an array of arrays");
	start(3, 0, 1);
	put_text("k");
	put(GGUF_ARRAY, 4);
	put(GGUF_STRING, 4);
	put(2, 8);
	put_text("x");
	put(100, 8);
	refused("k: goes past", "a string in an array that goes past the end");
	start(3, 0, 1);
	put_u32("a", 1);
	pad(32, 0);
	accepted("padding after the metadata");
	start(3, 0, 1);
	put_u32("a", 1);
	put_u32("tokenizer.ggml.eos_token_id", 2);
	refused("no tensors, but", "one key more than the header counts");
}

static void wrong_tensors(void)
{
	static const struct {
		const char *words;
		uint32_t n_dims;
		uint64_t a, b;
		uint32_t type;
		uint64_t offset;
	} cases[] = {
		{ "dimensions", 0, 1, 1, 0, 0 }, { "dimensions", 5, 1, 1, 0, 0 }, { "a dimension of 0", 2, 4, 0, 0, 0 },
		{ "too many elements", 2, 1ull << 32, 1ull << 32, 0, 0 },
		{ "too many bytes", 2, 1ull << 31, 1ull << 31, 0, 0 },
		{ "unknown type 4", 1, 32, 1, 4, 0 }, { "unknown type", 1, 32, 1, UINT32_MAX, 0 },
		{ "multiple of the block size", 2, 33, 1, FORMAT_Q8_0, 0 },
		{ "multiple of the alignment", 1, 4, 1, 0, 8 }, { "truncated", 1, 32, 1, 0, 32 },
		{ "download it again", 1, 4, 1, 0, 1ull << 40 }, { "truncated", 1, 4, 1, 0, UINT64_MAX - 31 }
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		start(3, 1, 0);
		put_tensor("x", cases[i].n_dims, cases[i].a, cases[i].b, cases[i].type, cases[i].offset);
		pad(32, 128);
		refused(cases[i].words, cases[i].words);
		holds(strstr(w.text, "tensor x: ") != NULL, "the tensor is named");
	}
	start(3, 2, 0);
	put_tensor("x", 1, 4, 1, 0, 0);
	put_tensor("x", 1, 4, 1, 0, 32);
	pad(32, 128);
	refused("tensor x: given twice", "a tensor given twice");
	start(3, 2, 0);
	put_tensor("x", 1, 16, 1, 0, 0);
	put_tensor("y", 1, 4, 1, 0, 32);
	pad(32, 128);
	refused("tensor y: overlaps x", "tensors that overlap");
	for (uint64_t n = 1; n <= 3; n++) {
		start(3, n, 0);
		put_tensor("x", 2, 8, 5, 0, 0);
		put_tensor("y", 1, 4, 1, 0, 160);
		put_tensor("z", 1, 4, 1, 0, 192);
		pad(32, 208);
		if (n == 3)
			accepted("a table of three");
		else
			refused("tensors, but the table goes on", "fewer tensors in the header than in the table");
	}
	start(3, 1, 0);
	put_tensor("x", 1, 32, 1, 24, 0);
	pad(32, 4096);
	accepted("more data than the tensors need");
	for (uint32_t a = 0; a < 130; a++) {
		start(3, 1, 1);
		put_u32("general.alignment", a);
		put_tensor("x", 1, 4, 1, 0, 0);
		pad(a ? a : 1, 16);
		if (a >= 8 && !(a & (a - 1)))
			accepted("an alignment that is a power of two");
		else
			refused("general.alignment", "another alignment");
	}
	start(3, 1, 1);
	put_text("general.alignment");
	put(GGUF_STRING, 4);
	put_text("32");
	put_tensor("x", 1, 4, 1, 0, 0);
	pad(32, 16);
	refused("general.alignment: not an integer", "an alignment of the wrong type");
}

static void getters(void)
{
	const struct gguf_value *v;
	struct gguf_string s;
	struct gguf *g;
	int64_t i = 7;
	double d = 7;
	int b = 7;

	start(3, 0, 6);
	put_u32("u", UINT32_MAX);
	put_text("big");
	put(GGUF_U64, 4);
	put(UINT64_MAX, 8);
	put_text("nan");
	put(GGUF_F32, 4);
	put(0x7fc00000, 4);
	put_text("maybe");
	put(GGUF_BOOL, 4);
	put(2, 1);
	put_text("nul");
	put(GGUF_STRING, 4);
	put(1, 8);
	put(0, 1);
	put_text("small");
	put(GGUF_ARRAY, 4);
	put(GGUF_I8, 4);
	put(2, 8);
	put(0xff02, 2);
	g = open_bytes(file, size, 1);
	holds(g && gguf_integer(g, "u", 0, UINT32_MAX, &i, &w) == 1 && i == UINT32_MAX, "an integer");
	holds(g && gguf_integer(g, "u", 0, 9, &i, &w) == -1 && strstr(w.text, "u: 4294967295"), "out of range");
	holds(g && gguf_integer(g, "big", 0, INT64_MAX, &i, &w) == -1, "too large for any range");
	holds(g && gguf_integer(g, "absent", 0, 9, &i, &w) == 0 && i == UINT32_MAX, "absent");
	holds(g && gguf_real(g, "u", &d, &w) == 1 && d == UINT32_MAX, "an integer for a real");
	holds(g && gguf_real(g, "nan", &d, &w) == -1, "no number");
	holds(g && gguf_bool(g, "maybe", &b, &w) == -1 && b == 7, "a bool of 2");
	holds(g && gguf_text(g, "nul", &s, &w) == -1, "a string with a NUL");
	holds(g && gguf_text(g, "u", &s, &w) == -1, "no string");
	holds(g && gguf_array(g, "small", GGUF_I8, &v, &w) == 1 && v->n == 2 && v->data[0] == 2
		&& v->data[1] == 255, "an array");
	holds(g && gguf_array(g, "small", GGUF_U8, &v, &w) == -1, "an array of another type");
	gguf_close(g);
}

static void no_files(void)
{
	struct gguf *g;

	holds(!(g = gguf_open("absent.gguf", 1, &w)) && strstr(w.text, "absent.gguf: "), "no such file");
	holds(!(g = gguf_open(".", 1, &w)) && strstr(w.text, "not a regular file"), "a directory");
	holds(!mkfifo("fifo", 0600) && !(g = gguf_open("fifo", 1, &w)) && strstr(w.text, "not a regular file"),
		"a FIFO does not hold us up");
	gguf_close(g);
	unlink("fifo");
}

/* ---- a model, whole and in shards ---- */

static void fill(const void *context, uint64_t first, size_t n, void *to)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)to)[4 * i + 2] = (unsigned char)(first + i + *(const unsigned char *)context);
}

static void write_model(const char *path, unsigned shards, unsigned char seed)
{
	struct mkgguf *m = mkgguf_open();
	const uint64_t dim[3] = { 32, 8 };
	char name[32];

	mkgguf_text(m, "general.architecture", "llama");
	mkgguf_text(m, "tokenizer.ggml.model", "llama");
	mkgguf_array(m, "tokenizer.ggml.tokens", GGUF_STRING, 3);
	for (int i = 0; i < 3; i++)
		mkgguf_add_text(m, i ? "</s>" : "<unk>", i ? 4 : 5);
	mkgguf_array(m, "tokenizer.ggml.scores", GGUF_F32, 3);
	for (int i = 0; i < 3; i++)
		mkgguf_add_f32(m, (float)-i);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof name, "blk.%d.weight", i);
		mkgguf_tensor(m, name, FORMAT_F32, dim, fill, &seed, 1);
	}
	mkgguf_write(m, path, 3, shards);
	mkgguf_close(m);
}

static void shards(void)
{
	struct gguf *whole, *parts, *other;

	write_model("one.gguf", 1, 1);
	write_model("many.gguf", 3, 1);
	write_model("other.gguf", 1, 2);
	whole = gguf_open("one.gguf", 1, &w);
	holds(whole && whole->n_tensors == 6, "a model");
	parts = gguf_open("many-00001-of-00003.gguf", 1, &w);
	holds(parts && parts->n_tensors == 6, "a model in shards");
	holds(parts && gguf_tensor(parts, "blk.5.weight") && gguf_tensor(parts, "blk.5.weight")->bytes == 1024,
		"a tensor of the last shard");
	holds(whole && parts && gguf_model_fingerprint(whole) == gguf_model_fingerprint(parts),
		"shards change no fingerprint");
	for (size_t i = 0; whole && parts && i < 3; i++) {
		gguf_let_go(whole, i, 3);
		gguf_let_go(parts, i, 3);
	}
	holds(whole && parts && gguf_model_fingerprint(whole) == gguf_model_fingerprint(parts),
		"pages that were let go of come back");
	other = gguf_open("other.gguf", 1, &w);
	holds(whole && other && gguf_model_fingerprint(whole) != gguf_model_fingerprint(other),
		"other weights, another fingerprint");
	holds(whole && other && gguf_vocab_fingerprint(whole) == gguf_vocab_fingerprint(other),
		"and the same vocabulary");
	gguf_close(whole);
	gguf_close(parts);
	gguf_close(other);
	holds(!gguf_open("many-00002-of-00003.gguf", 1, &w) && strstr(w.text, "name the first"),
		"the second shard alone");
	rename("many-00003-of-00003.gguf", "many-00002-of-00003.gguf");
	holds(!gguf_open("many-00001-of-00003.gguf", 1, &w) && strstr(w.text, "many-00002-of-00003.gguf: split.no 2"),
		"shards in disorder");
	unlink("many-00002-of-00003.gguf");
	holds(!gguf_open("many-00001-of-00003.gguf", 1, &w) && strstr(w.text, "many-00002-of-00003.gguf"),
		"a missing shard");
	rename("many-00001-of-00003.gguf", "renamed.gguf");
	holds(!gguf_open("renamed.gguf", 1, &w) && strstr(w.text, "split.count"), "a shard by another name");
}

/* ---- mutations ---- */

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void use(struct gguf *g)
{
	struct ids ids = { 0 };
	struct vocab *v = vocab_open(g, VOCAB_ENCODE, &w);
	size_t n;

	gguf_model_fingerprint(g);
	if (v) {
		vocab_encode(v, "<s> hello </s>\xff", 15, VOCAB_SPECIAL, &ids, &w);
		for (int32_t id = 0; vocab_piece(v, id, 1, &n); id++)
			;
	}
	vocab_close(v);
	free(ids.id);
}

/* Changes a few bytes of the header, mostly to extremes of lengths and counts, and opens the result. */
static void mutate(const char *path, int rounds)
{
	static unsigned char good[1 << 16], bad[1 << 16];
	static const unsigned char extremes[] = { 0, 1, 0x7f, 0x80, 0xff, 8, 9 };
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(good, 1, sizeof good, f) : 0, head, cut;
	uint32_t state = 1;
	int survived = 0;

	if (f)
		fclose(f);
	head = n < 1500 ? n : 1500;
	for (int i = 0; i < rounds && n; i++) {
		struct gguf *g;

		memcpy(bad, good, n);
		for (uint32_t k = 1 + next_random(&state) % 3; k > 0; k--) {
			size_t at = next_random(&state) % head;

			bad[at] = next_random(&state) & 1 ? extremes[next_random(&state) % sizeof extremes]
				: (unsigned char)next_random(&state);
			if (next_random(&state) % 8 == 0)
				memset(bad + at, 0xff, at + 8 <= n ? 8 : n - at);
		}
		cut = next_random(&state) % 4 ? n : next_random(&state) % n;
		g = open_bytes(bad, cut, next_random(&state) & 1);
		if (g)
			use(g);
		else
			survived += !strncmp(w.text, "t.gguf: ", 8);
		gguf_close(g);
	}
	holds(survived > rounds / 8, "mutated files are refused in a line that names them");
}

int main(void)
{
	wrong_files();
	wrong_tensors();
	getters();
	no_files();
	shards();
	mutate("one.gguf", 1500);
	return check_end("gguf_test");
}
