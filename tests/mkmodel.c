/* mkmodel: makes a GGUF model with random weights (mkweights.h) and a made-up vocabulary (mkvocab.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/slurp.h"
#include "lib/gguf/formats.h"
#include "mkgguf.h"
#include "mkparts.h"
#include "mkvocab.h"
#include "mkweights.h"

enum { ARCH, TYPE, SHAPE, SEED, EMBD, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FF, VOCAB, CTX, TIED, UNTIED, ROPE,
	ROPE_BASE, SPM, KIND, PRE, ADD_BOS, GGUF_VERSION,
	SHARDS, TEMPLATE, TOOL_TEMPLATE, WITHOUT, REPLACE, KEYS, VECTORS, LACKING, RESHAPE, OUT_BIAS, TYPES, FAMILIES,
	EMBEDDERS, RECURRENT, OUT };

static const struct opt opts[] = {
	[ARCH] = { 0, "arch", "NAME", "one of --families, which may change the layers (default: the shape's)" },
	[TYPE] = { 0, "type", "NAME", "of the matrices: any that fwd reads, as F32 or IQ4_XS; Q3_K_M, Q4_K_M,\n"
		"Q5_K_M; mix for many of them in turn (default: F32)" },
	[SHAPE] = { 0, "shape", "NAME", "tiny (default), tiny256 (rows for K-quants), smol-135m, qwen3-0.6b,\n"
		"llama-1b; the options that follow change it" },
	[SEED] = { 's', "seed", "N", "of the weights and the vocabulary (default: 1)" },
	[EMBD] = { 0, "embd", "N", "n_embd" },
	[LAYERS] = { 0, "layers", "N", "layers" },
	[HEADS] = { 0, "heads", "N", "query heads" },
	[KV_HEADS] = { 0, "kv-heads", "N", "KV heads (gpt2 and the like: as many as query heads)" },
	[HEAD_DIM] = { 0, "head-dim", "N", "elements of a head (gpt2 and the like: n_embd / heads)" },
	[FF] = { 0, "ff", "N", "n_ff" },
	[VOCAB] = { 0, "vocab", "N", "entries of the vocabulary, from 259 on" },
	[CTX] = { 0, "ctx", "N", "context length" },
	[TIED] = { 0, "tied", NULL, "the embedding is the output matrix too" },
	[UNTIED] = { 0, "untied", NULL, "they are two" },
	[ROPE] = { 0, "rope", "NAME", "linear, yarn or freqs" },
	[ROPE_BASE] = { 0, "rope-base", "X", "base of the frequencies" },
	[SPM] = { 0, "spm", NULL, "an SPM vocabulary instead of BPE" },
	[KIND] = { 0, "kind", "NAME", "another kind of vocabulary: llama (SPM), t5, bert, plamo2, rwkv,\n"
		"gemma4, whitespace" },
	[PRE] = { 0, "pre", "NAME", "BPE's pre-tokenizer (default: the family's)" },
	[ADD_BOS] = { 0, "add-bos", NULL, "the model asks for BOS (SPM: always)" },
	[GGUF_VERSION] = { 0, "gguf", "N", "version, 2 or 3 (default: 3)" },
	[SHARDS] = { 0, "shards", "N", "write N files, OUT-0000I-of-0000N.gguf" },
	[TEMPLATE] = { 0, "chat-template", "FILE", "the model's chat template" },
	[TOOL_TEMPLATE] = { 0, "tool-template", "FILE", "the one named tool_use" },
	[WITHOUT] = { 0, "without", "KEY", "leave this key out" },
	[REPLACE] = { 0, "replace", "KEY=VALUE",
		"another value for this key: a U32, [N] (an array of N), true, false, or a string" },
	[KEYS] = { 0, "keys", "KEY=VALUE ...", "further keys of the architecture, as in mkfamilies.c" },
	[VECTORS] = { 0, "vectors", "NAME=N ...", "further tensors, each of N random numbers" },
	[LACKING] = { 0, "lacking", "NAME", "leave this tensor out" },
	[RESHAPE] = { 0, "reshape", "NAME=A,B...", "the same elements of this tensor in another shape" },
	[OUT_BIAS] = { 0, "out-bias", NULL, "a bias of attn_output" },
	[TYPES] = { 0, "types", NULL, "print the tensor types, each with the smallest shape for its rows" },
	[FAMILIES] = { 0, "families", NULL, "print the names for --arch of models that make logits" },
	[EMBEDDERS] = { 0, "embedders", NULL, "print those of models that make embeddings" },
	[RECURRENT] = { 0, "recurrent", NULL, "print those of families whose layers keep a state" },
	[OUT] = { 'o', "output", "FILE", "the file to write" },
	{ 0 }
};

static const char *one_of(const struct cli *c, const struct opt *o, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(*names, c->value))
			return *names;
	cli_usage(c, "--%s: %s: no such name", o->name, c->value);
}

static uint32_t number(const struct cli *c, const struct opt *o, long long low, long long high)
{
	return (uint32_t)cli_integer(c, o, low, high);
}

static struct mkshape shape_named(const struct cli *c)
{
	const struct mkshape *s = mkweights_shape(c->value);

	if (!s)
		cli_usage(c, "--shape: %s: no such shape", c->value);
	return *s;
}

static _Noreturn void list_types(void)
{
	const struct format *f;

	for (size_t i = 0; (f = format_each(i)); i++)
		if (mkweights_type_known(f->name))
			printf("%s %s\n", f->name, f->block > 32 ? "tiny256" : "tiny");
	exit(0);
}

static int has_logits(const struct mkfamily *f)
{
	return !f->embeds;
}

static int embeds(const struct mkfamily *f)
{
	return f->embeds;
}

static int is_recurrent(const struct mkfamily *f)
{
	return !f->embeds && f->mixers && f->mixers[strspn(f->mixers, "ap-")];
}

static _Noreturn void list_families(int belongs(const struct mkfamily *))
{
	const struct mkfamily *f;

	for (size_t i = 0; (f = mkfamilies_each(i)); i++)
		if (belongs(f))
			puts(f->name);
	exit(0);
}

struct file {
	const char *path, *template, *tool_template, *keys, *vectors, *lacking, *reshape;
	char *without, *value;  /* a key, and what stands in its place; or NULL */
	uint32_t version, shards;
	const char *kind;       /* of vocabulary; NULL: BPE */
	int add_bos, out_bias;
};

static void option(const struct cli *c, const struct opt *o, struct mkweights *k, struct file *file)
{
	static const char *const ropes[] = { "linear", "yarn", "freqs", NULL };
	const struct mkfamily *family;
	struct mkshape *s = &k->s;

	switch (o - opts) {
	case ARCH:
		if (!(family = mkfamilies_named(c->value)))
			cli_usage(c, "--arch: %s: no such family", c->value);
		s->arch = family->name;
		s->pre = family->pre ? family->pre : "llama-bpe";
		s->n_layer = family->layers ? family->layers : s->n_layer;
		break;
	case TYPE:
		if (!mkweights_type_known(k->type = c->value))
			cli_usage(c, "--type: %s: no such type", c->value);
		break;
	case TYPES: list_types(); break;
	case FAMILIES: list_families(has_logits); break;
	case RECURRENT: list_families(is_recurrent); break;
	case EMBEDDERS: list_families(embeds); break;
	case SHAPE: *s = shape_named(c); break;
	case SEED: k->seed = (uint64_t)cli_integer(c, o, 0, INT64_MAX); break;
	case EMBD: s->n_embd = number(c, o, 1, 1 << 20); break;
	case LAYERS: s->n_layer = number(c, o, 1, 1000); break;
	case HEADS: s->n_head = number(c, o, 1, 1 << 16); break;
	case KV_HEADS: s->n_head_kv = number(c, o, 1, 1 << 16); break;
	case HEAD_DIM: s->head_dim = number(c, o, 2, 1 << 12); break;
	case FF: s->n_ff = number(c, o, 1, 1 << 20); break;
	case VOCAB: s->n_vocab = number(c, o, MKVOCAB_MIN, 1 << 21); break;
	case CTX: s->n_ctx = number(c, o, 1, 1 << 24); break;
	case TIED: s->tied = 1; break;
	case UNTIED: s->tied = 0; break;
	case ROPE: k->rope = one_of(c, o, ropes); break;
	case ROPE_BASE: s->rope_base = (float)cli_real(c, o, 1, 1e9); break;
	case SPM: file->kind = "llama"; break;
	case KIND:
		if (!mkvocab_has(file->kind = c->value))
			cli_usage(c, "--kind: %s: no such kind", c->value);
		break;
	case PRE: s->pre = c->value; break;
	case ADD_BOS: file->add_bos = 1; break;
	case GGUF_VERSION: file->version = number(c, o, 2, 3); break;
	case SHARDS: file->shards = number(c, o, 1, 999); break;
	case TEMPLATE: file->template = c->value; break;
	case TOOL_TEMPLATE: file->tool_template = c->value; break;
	case WITHOUT: file->without = (char *)c->value; break;
	case REPLACE:
		file->without = (char *)c->value;
		file->value = strchr(file->without, '=');
		if (!file->value)
			cli_usage(c, "--replace: %s: no value", c->value);
		*file->value++ = '\0';
		break;
	case KEYS: file->keys = c->value; break;
	case VECTORS: file->vectors = c->value; break;
	case LACKING: file->lacking = c->value; break;
	case RESHAPE: file->reshape = c->value; break;
	case OUT_BIAS: file->out_bias = 1; break;
	case OUT: file->path = c->value; break;
	}
}

static void template(const struct cli *c, struct mkweights *k, const char *key, const char *path)
{
	struct bytes text = { .limit = 1 << 20 };
	struct why w;

	if (!path)
		return;
	cli_must(c, slurp(path, &text, &w), &w);
	bytes_put(&text, "", 1);
	mkgguf_text(k->m, key, text.p);
	bytes_free(&text);
}

static void vectors(struct mkweights *k, const char *list)
{
	char name[64];
	unsigned n;
	int end;

	for (; sscanf(list, " %63[^=]=%u%n", name, &n, &end) == 2; list += end)
		part_vector(k, name, n, 0, 0.5f);
}

/* NAME=A,B... */
static void reshape(struct mkgguf *m, const char *text)
{
	char name[64];
	uint64_t dim[4];
	uint32_t n = 0;
	int end;

	if (sscanf(text, "%63[^=]%n", name, &end) != 1)
		return;
	for (text += end; *text && n < 4; n++)
		dim[n] = strtoull(text + 1, (char **)&text, 10);
	mkgguf_reshape(m, name, n, dim);
}

static void replace(struct mkgguf *m, const char *key, const char *value)
{
	int array = *value == '[';
	uint32_t n = (uint32_t)strtoul(value + array, NULL, 10);

	mkgguf_without(m, NULL);
	if (!strcmp(value, "true") || !strcmp(value, "false")) {
		mkgguf_bool(m, key, *value == 't');
	} else if (strchr(value, '.') && !value[strspn(value, "0123456789.")]) {
		mkgguf_f32(m, key, strtof(value, NULL));
	} else if (value[strspn(value, "[0123456789]")]) {
		mkgguf_text(m, key, value);
	} else if (array) {
		mkgguf_array(m, key, GGUF_U32, n);
		for (uint32_t i = 0; i < n; i++)
			mkgguf_add_i32(m, 0);
	} else {
		mkgguf_u32(m, key, n);
	}
}

int main(int argc, char **argv)
{
	static struct cli c = { .program = "mkmodel", .synopsis = "[options] -o FILE",
		.purpose = "a random model for tests", .opts = opts };
	struct mkweights k = { .s = *mkweights_shape("tiny"), .type = "F32", .rope = "", .seed = 1 };
	struct file file = { .version = 3, .shards = 1 };
	struct mkfamily more;
	const struct opt *o;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		option(&c, o, &k, &file);
	if (!file.path || c.argc > 0)
		cli_usage(&c, "-o FILE is needed, and nothing else");
	if (mkfamilies_named(k.s.arch)->multi_head) {
		k.s.n_head_kv = k.s.n_head;
		k.s.head_dim = k.s.n_embd / k.s.n_head;
	}
	if (k.s.n_head % k.s.n_head_kv)
		cli_usage(&c, "the KV heads do not divide the query heads");
	k.m = mkgguf_open();
	mkgguf_without(k.m, file.without);
	mkweights_values(&k);
	more = *k.family;
	more.keys = file.keys;
	more.out_bias |= file.out_bias;
	mkfamilies_keys(&more, k.m);
	k.family = &more;
	if (k.family->eos)
		mkgguf_without(k.m, "tokenizer.ggml.eos_token_id");
	if (file.kind)
		mkvocab_plain(k.m, file.kind, k.s.n_vocab, k.seed, 1);
	else
		mkvocab_bpe(k.m, k.s.pre, k.s.n_vocab, k.seed, file.add_bos);
	if (k.family->eos) {
		mkgguf_without(k.m, file.without);
		mkgguf_u32(k.m, "tokenizer.ggml.eos_token_id", k.family->eos);
		mkgguf_bool(k.m, "tokenizer.ggml.add_eos_token", 1);
	}
	template(&c, &k, "tokenizer.chat_template", file.template);
	template(&c, &k, "tokenizer.chat_template.tool_use", file.tool_template);
	if (file.value)
		replace(k.m, file.without, file.value);
	mkweights_tensors(&k);
	vectors(&k, file.vectors ? file.vectors : "");
	if (file.lacking)
		mkgguf_remove(k.m, file.lacking);
	if (file.reshape)
		reshape(k.m, file.reshape);
	mkgguf_write(k.m, file.path, file.version, file.shards);
	mkgguf_close(k.m);
	mkweights_free(&k);
	return cli_end(&c);
}
