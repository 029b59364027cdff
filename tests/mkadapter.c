/* mkadapter: makes a random adapter (LoRA) or control vector for a model. Of a model of F32 weights it also makes the
 * one that has it built in, for comparison: W + s·B·A in place of W, computed in double precision; directions as biases
 * of ffn_down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/cli.h"
#include "lib/base/half.h"
#include "lib/gguf/formats.h"
#include "mkgguf.h"
#include "mkrandom.h"

enum { SEED = 1, ALPHA, ONLY, TYPE, PREFIX, VECTOR, IDS_MAX = 16 };

static const struct opt opts[] = {
	{ 'r', "rank", "N", "the first tensor's rank; the others' are N to N + 2 (default: 4)" },
	{ ALPHA, "alpha", "X", "adapter.lora.alpha (default: 6)" },
	{ 's', "scale", "X", "how much of it is built in (default: 1)" },
	{ ONLY, "only", "TEXT", "only tensors whose names have this text" },
	{ TYPE, "type", "f32|f16|bf16|q8_0",
	  "of the factors; q8_0: of those whose rows are whole blocks (default: f32)" },
	{ 'i', "invocation", "IDS", "invocation tokens, separated by blanks" },
	{ PREFIX, "prefix", "TEXT", "adapter.lora.prompt_prefix" },
	{ VECTOR, "vector", NULL, "a control vector" },
	{ SEED, "seed", "N", "of the random numbers (default: 1)" },
	{ 0 }
};

static struct cli c = { .program = "mkadapter", .synopsis = "[options] MODEL ADAPTER [MERGED]",
	.purpose = "random adapters for tests", .opts = opts };

static struct settings {
	long long rank, seed;
	double alpha, scale;
	const char *only, *invocation, *prefix;
	int type, vector;
} set = { .rank = 4, .seed = 1, .alpha = 6, .scale = 1, .only = "" };

/* ---- tensors in memory ---- */

static struct arena memory = { .limit = SIZE_MAX };     /* of all numbers */

enum { F32, F16, BF16, Q8_0, BLOCK = 32 };    /* values of --type; elements of a block of q8_0 */

/* Values are multiples of step, if it is not 0. */
struct floats {
	float *x, step;
	int type;
};

static void fill_block(const struct floats *f, const float *x, unsigned char *to)
{
	uint16_t scale = f32_to_f16(f->step);

	to[0] = (unsigned char)scale;
	to[1] = (unsigned char)(scale >> 8);
	for (size_t i = 0; i < BLOCK; i++)
		to[2 + i] = (unsigned char)lrintf(x[i] / f->step);
}

static uint16_t bf16(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return (uint16_t)(bits >> 16);
}

static void fill(const void *context, uint64_t first, size_t n, void *to)
{
	const struct floats *f = context;

	for (size_t i = 0; i < n; i++)
		if (f->type == F16)
			((uint16_t *)to)[i] = f32_to_f16(f->x[first + i]);
		else if (f->type == BF16)
			((uint16_t *)to)[i] = bf16(f->x[first + i]);
		else if (f->type == F32)
			((float *)to)[i] = f->x[first + i];
		else if (i % BLOCK == 0)
			fill_block(f, f->x + first + i, (unsigned char *)to + i / BLOCK * (BLOCK + 2));
}

/* The step between the values of q8_0. */
static float step_of(double size)
{
	return f16_to_f32(f32_to_f16((float)(size / 127)));
}

static float *numbers(size_t n, double size, uint64_t seed)
{
	float *x = arena_array(&memory, n, sizeof *x), step = step_of(size);

	if (!x)
		cli_die(&c, "out of memory");
	for (size_t i = 0; i < n; i++) {
		x[i] = (float)(size * ((double)(mkrandom(seed, i) >> 11) / 0x1p52 - 1));
		if (set.type == F16)
			x[i] = f16_to_f32(f32_to_f16(x[i]));
		else if (set.type == BF16)
			x[i] = bf16_to_f32(bf16(x[i]));
		else if (set.type == Q8_0 && size > 0)
			x[i] = step * (float)lrintf(x[i] / step);
	}
	return x;
}

static void add_typed(struct mkgguf *to, const char *name, struct floats f, const uint64_t dim[3])
{
	static const uint32_t formats[] = { FORMAT_F32, FORMAT_F16, FORMAT_BF16, FORMAT_Q8_0 };

	mkgguf_tensor(to, name, formats[f.type], dim, fill, &f, sizeof f);
}

static void add(struct mkgguf *to, const char *name, float *x, const uint64_t dim[3])
{
	add_typed(to, name, (struct floats){ .x = x }, dim);
}

/* A factor, of numbers() of this size. */
static void add_factor(struct mkgguf *to, const char *name, float *x, double size, const uint64_t dim[3])
{
	struct floats f = { x, step_of(size), set.type == Q8_0 && dim[0] % BLOCK ? F32 : set.type };

	add_typed(to, name, f, dim);
}

/* ---- the model that has it built in ---- */

static void copy_value(struct mkgguf *to, const struct gguf_value *v)
{
	const unsigned char *at = v->data;
	char key[128], text[4096];
	struct gguf_string s;

	snprintf(key, sizeof key, "%.*s", GGUF_SHOWN(v->key));
	switch (v->type) {
	case GGUF_F32: mkgguf_f32(to, key, (float)gguf_element_real(v, 0)); break;
	case GGUF_BOOL: mkgguf_bool(to, key, *at); break;
	case GGUF_STRING:
		s = gguf_next_string(v, &at);
		snprintf(text, sizeof text, "%.*s", (int)s.n, s.s);
		mkgguf_text(to, key, text);
		break;
	case GGUF_ARRAY:
		mkgguf_array(to, key, v->of, v->n);
		for (uint64_t i = 0; i < v->n && v->of == GGUF_STRING; i++) {
			s = gguf_next_string(v, &at);
			mkgguf_add_text(to, s.s, s.n);
		}
		if (v->of != GGUF_STRING)
			mkgguf_add_bytes(to, at, (size_t)(v->end - at));
		break;
	default: mkgguf_u32(to, key, (uint32_t)gguf_element_integer(v, 0));
	}
}

/* w[n][rows × cols] += scale · b[n][rows × rank] · a[n][rank × cols]; of an embedding, a is [cols × rank], and w is
 * [cols × rows]. */
static void merge(float *w, const float *a, const float *b, const size_t size[4], int embedding, double scale)
{
	size_t n = size[0], rows = size[1], cols = size[2], rank = size[3];

	for (size_t i = 0; i < n * rows * cols; i++) {
		size_t e = i / (rows * cols), row = i / cols % rows, col = i % cols;
		size_t at = embedding ? col * rows + row : i;
		double sum = 0;

		for (size_t r = 0; r < rank; r++)
			sum += (double)b[(e * rows + row) * rank + r]
				* (double)(embedding ? a[col * rank + r] : a[(e * rank + r) * cols + col]);
		w[at] = (float)((double)w[at] + scale * sum);
	}
}

/* ---- adapters ---- */

/* Whether the tensor is a matrix that something is multiplied by, or the embedding. */
static int is_target(const struct gguf_tensor *t, const char *name)
{
	static const char *const parts[] = { "attn_q.", "attn_k.", "attn_v.", "attn_qkv.", "attn_output.", "ffn_up.",
		"ffn_gate.", "ffn_down.", "_exps.", "_shexp.", "ffn_gate_inp.", "output.weight", "token_embd.",
		"ssm_in.", "ssm_out." };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (t->dim[1] > 1 && strstr(name, parts[i]) && strstr(name, set.only) && strstr(name, "weight"))
			return 1;
	return 0;
}

static void add_factors(struct mkgguf *to, const struct gguf_tensor *t, const char *name, float *w, size_t i)
{
	int embedding = !strncmp(name, "token_embd.", 11);
	size_t cols = (size_t)t->dim[0], rows = (size_t)t->dim[1], n = (size_t)t->dim[2];
	size_t rank = (size_t)set.rank + i % 3;
	size_t size[4] = { n, embedding ? cols : rows, embedding ? rows : cols, rank };
	uint64_t a_dim[3] = { embedding ? rank : cols, embedding ? rows : rank, n > 1 ? n : 0 };
	uint64_t b_dim[3] = { rank, size[1], n > 1 ? n : 0 };
	double factor = set.alpha > 0 ? set.alpha / (double)rank : 1;
	double a_size = 0.8 / sqrt((double)(embedding ? rank : cols)), b_size = embedding ? 0.006 : 0.3;
	float *a = numbers(n * rank * size[2], a_size, (uint64_t)set.seed + 2 * i);
	float *b = numbers(n * rank * size[1], b_size, (uint64_t)set.seed + 2 * i + 1);
	char factor_name[128];

	snprintf(factor_name, sizeof factor_name, "%s.lora_a", name);
	add_factor(to, factor_name, a, a_size, a_dim);
	snprintf(factor_name, sizeof factor_name, "%s.lora_b", name);
	add_factor(to, factor_name, b, b_size, b_dim);
	if (w)
		merge(w, a, b, size, embedding, set.scale * factor);
}

static void add_invocation(struct mkgguf *to)
{
	const char *at = set.invocation;
	int32_t id[IDS_MAX];
	size_t n = 0;
	char *end;

	for (; n < IDS_MAX; at = end) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		id[n++] = (int32_t)next;
	}
	mkgguf_array(to, "adapter.alora.invocation_tokens", GGUF_U32, n);
	for (size_t i = 0; i < n; i++)
		mkgguf_add_i32(to, id[i]);
}

static void add_keys(struct mkgguf *to, const struct gguf *g)
{
	struct gguf_string arch = { "", 0 };
	struct why w;
	char text[64];

	gguf_text(g, "general.architecture", &arch, &w);
	snprintf(text, sizeof text, "%.*s", GGUF_SHOWN(arch));
	mkgguf_text(to, "general.architecture", set.vector ? "controlvector" : text);
	if (set.vector) {
		mkgguf_text(to, "controlvector.model_hint", text);
		return;
	}
	mkgguf_text(to, "general.type", "adapter");
	mkgguf_text(to, "adapter.type", "lora");
	mkgguf_f32(to, "adapter.lora.alpha", (float)set.alpha);
	if (set.invocation)
		add_invocation(to);
	if (set.prefix)
		mkgguf_text(to, "adapter.lora.prompt_prefix", set.prefix);
}

/* ---- control vectors ---- */

/* A direction for the layer whose ffn_down this is, and a bias of it. There is none for layer 0. */
static void add_direction(struct mkgguf *to, struct mkgguf *merged, const struct gguf_tensor *t, const char *name)
{
	unsigned long layer = strtoul(name + 4, NULL, 10);
	uint64_t dim[3] = { t->dim[1], 0, 0 };
	size_t n = (size_t)t->dim[1];
	float *x = numbers(n, 0.5, (uint64_t)set.seed + layer), *bias = numbers(n, 0, 0);
	char text[64];

	if (!layer)
		return;
	snprintf(text, sizeof text, "direction.%lu", layer);
	add(to, text, x, dim);
	if (!merged)
		return;
	for (size_t i = 0; i < n; i++)
		bias[i] = (float)set.scale * x[i];
	snprintf(text, sizeof text, "blk.%lu.ffn_down.bias", layer);
	add(merged, text, bias, dim);
}

/* A copy of the tensor's elements. */
static float *copy_tensor(const struct gguf_tensor *t)
{
	size_t n = (size_t)(t->dim[0] * t->dim[1] * t->dim[2]);
	float *w = numbers(n, 0, 0);

	if (t->type != FORMAT_F32)
		cli_die(&c, "%.*s: not F32", GGUF_SHOWN(t->name));
	return memcpy(w, t->data, n * sizeof *w);
}

/* merged NULL: only the adapter. */
static void make(const struct gguf *g, struct mkgguf *adapter, struct mkgguf *merged)
{
	size_t targets = 0;

	add_keys(adapter, g);
	for (uint64_t i = 0; merged && i < g->n_values; i++)
		copy_value(merged, &g->values[i]);
	for (uint64_t i = 0; i < g->n_tensors; i++) {
		const struct gguf_tensor *t = &g->tensors[i];
		uint64_t dim[3] = { t->dim[0], t->n_dims > 1 ? t->dim[1] : 0, t->n_dims > 2 ? t->dim[2] : 0 };
		float *w = merged ? copy_tensor(t) : NULL;
		char name[96];

		snprintf(name, sizeof name, "%.*s", GGUF_SHOWN(t->name));
		if (merged && !strcmp(name, "token_embd.weight") && !gguf_tensor(g, "output.weight"))
			add(merged, "output.weight", copy_tensor(t), dim);
		if (!set.vector && is_target(t, name))
			add_factors(adapter, t, name, w, targets++);
		if (merged)
			add(merged, name, w, dim);
		if (set.vector && strstr(name, "ffn_down.weight"))
			add_direction(adapter, merged, t, name);
	}
}

static void read_options(int argc, char **argv)
{
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		switch (o->letter) {
		case 'r': set.rank = cli_integer(&c, o, 1, 1024); break;
		case ALPHA: set.alpha = cli_real(&c, o, 0, 1e6); break;
		case 's': set.scale = cli_real(&c, o, -1e6, 1e6); break;
		case ONLY: set.only = c.value; break;
		case TYPE: set.type = cli_choice(&c, o); break;
		case 'i': set.invocation = c.value; break;
		case PREFIX: set.prefix = c.value; break;
		case VECTOR: set.vector = 1; break;
		case SEED: set.seed = cli_integer(&c, o, 0, INT32_MAX) * 1000; break;
		}
	if (c.argc < 2 || c.argc > 3)
		cli_usage(&c, "MODEL ADAPTER [MERGED]");
}

int main(int argc, char **argv)
{
	struct mkgguf *adapter = mkgguf_open(), *merged = mkgguf_open();
	struct why w;
	struct gguf *g;

	read_options(argc, argv);
	g = gguf_open(c.argv[0], 1, &w);
	cli_must(&c, !g, &w);
	make(g, adapter, c.argc > 2 ? merged : NULL);
	mkgguf_write(adapter, c.argv[1], 3, 1);
	if (c.argc > 2)
		mkgguf_write(merged, c.argv[2], 3, 1);
	mkgguf_close(adapter);
	mkgguf_close(merged);
	gguf_close(g);
	arena_free(&memory);
	return cli_end(&c);
}
