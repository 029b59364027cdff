/* Keys, tensors and tokens, one per line, as text or as JSON. */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/le.h"
#include "lib/base/out.h"
#include "lib/base/quote.h"
#include "lib/gguf/formats.h"

/* How much of strings and arrays the text format shows. */
enum { BYTES_SHOWN = 120, ELEMENTS_SHOWN = 6 };

/* ---- text ---- */

/* Prints at most `most` bytes of s, up to a character boundary, on one line. Returns the number of bytes printed. */
static size_t put_escaped(struct gguf_string s, size_t most, char mark)
{
	char out[QUOTE_ROOM];
	size_t written = 0, n;
	unsigned used;

	for (size_t i = 0; i < s.n && i < most; i += used) {
		n = quote_next(s.s + i, s.n - i, mark, out, &used);
		out_bytes(out, n);
		written += n;
	}
	return written;
}

static void put_quoted(struct gguf_string s)
{
	out_char('"');
	put_escaped(s, BYTES_SHOWN, '\\');
	out_char('"');
	if (s.n > BYTES_SHOWN)
		out_print("... (%zu bytes)", s.n);
}

static void put_name(struct gguf_string name)
{
	size_t n = put_escaped(name, SIZE_MAX, 0);

	out_print("%*s", n < 44 ? (int)(44 - n) : 1, "");
}

/* Spells element i, not a string: the shortest number that reads back as the same value. */
static void spell(const struct gguf_value *v, uint64_t i, char out[32])
{
	int precision = v->of == GGUF_F32 ? 6 : 15, most = v->of == GGUF_F32 ? 9 : 17;
	double x;

	switch (v->of) {
	case GGUF_BOOL:
		strcpy(out, gguf_element_integer(v, i) ? "true" : "false");
		break;
	case GGUF_U64:
		snprintf(out, 32, "%" PRIu64, le64(v->data + 8 * i));
		break;
	case GGUF_F32:
	case GGUF_F64:
		x = gguf_element_real(v, i);
		do
			snprintf(out, 32, "%.*g", precision, x);
		while ((v->of == GGUF_F32 ? (double)strtof(out, NULL) : strtod(out, NULL)) != x && precision++ < most);
		break;
	default:
		snprintf(out, 32, "%" PRId64, gguf_element_integer(v, i));
	}
}

static void print_element(const struct gguf_value *v, uint64_t i, const unsigned char **at)
{
	char number[32];

	if (v->of == GGUF_STRING) {
		put_quoted(gguf_next_string(v, at));
		return;
	}
	spell(v, i, number);
	out_text(number);
}

static void print_key(const struct gguf_value *v)
{
	int array = v->type == GGUF_ARRAY;
	const unsigned char *at = v->data;
	char type[48];

	snprintf(type, sizeof type, array ? "%s[%" PRIu64 "]" : "%s", gguf_type_name(v->of), v->n);
	put_name(v->key);
	out_print("%-14s %s", type, array ? "[" : "");
	for (uint64_t i = 0; i < v->n && i < ELEMENTS_SHOWN; i++) {
		out_text(i ? ", " : "");
		print_element(v, i, &at);
	}
	out_text(v->n > ELEMENTS_SHOWN ? ", ...]\n" : array ? "]\n" : "\n");
}

/* The type's name, or its number if the type is unknown. */
static const char *type_name(const struct gguf_tensor *t, char room[16])
{
	size_t block, bytes;
	const char *name = format_layout(t->type, &block, &bytes);

	snprintf(room, 16, "%" PRIu32, t->type);
	return name ? name : room;
}

static void print_tensor(const struct gguf_tensor *t)
{
	char type[16];

	put_name(t->name);
	out_print("%-8s ", type_name(t, type));
	for (uint32_t i = 0; i < t->n_dims && i < 4; i++)
		out_print("%s%" PRIu64, i ? " x " : "", t->dim[i]);
	if (t->data)
		out_print(", %" PRIu64 " bytes", t->bytes);
	out_char('\n');
}

/* ---- JSON ---- */

static void write_number(struct json_writer *j, const char *key, uint64_t n)
{
	char out[24];

	snprintf(out, sizeof out, "%" PRIu64, n);
	member_raw(j, key, out);
}

static struct json_writer begin(void)
{
	struct json_writer j = json_to_out();

	json_open(&j, '{');
	return j;
}

static void end(struct json_writer *j)
{
	json_close(j, '}');
	out_char('\n');
}

/* NaN and infinity become null, because JSON has no such numbers. */
static void write_element(struct json_writer *j, const struct gguf_value *v, uint64_t i, const unsigned char **at)
{
	struct gguf_string s;
	char number[32];

	if (v->of == GGUF_STRING) {
		s = gguf_next_string(v, at);
		json_string(j, s.s, s.n);
		return;
	}
	spell(v, i, number);
	json_raw(j, strstr(number, "nan") || strstr(number, "inf") ? "null" : number);
}

static void write_key(const struct gguf_value *v)
{
	struct json_writer j = begin();
	const unsigned char *at = v->data;

	member_bytes(&j, "key", v->key.s, v->key.n);
	member_text(&j, "type", gguf_type_name(v->type));
	if (v->type == GGUF_ARRAY)
		member_text(&j, "of", gguf_type_name(v->of));
	json_name(&j, "value");
	if (v->type == GGUF_ARRAY)
		json_open(&j, '[');
	for (uint64_t i = 0; i < v->n; i++)
		write_element(&j, v, i, &at);
	if (v->type == GGUF_ARRAY)
		json_close(&j, ']');
	end(&j);
}

static void write_tensor(const struct gguf_tensor *t)
{
	struct json_writer j = begin();
	char type[16];

	member_bytes(&j, "tensor", t->name.s, t->name.n);
	member_text(&j, "type", type_name(t, type));
	member_open(&j, "shape", '[');
	for (uint32_t i = 0; i < t->n_dims && i < 4; i++)
		json_int(&j, (int64_t)t->dim[i]);
	json_close(&j, ']');
	if (t->data)
		write_number(&j, "bytes", t->bytes);
	end(&j);
}

/* ---- the whole ---- */

static void describe_head(const struct gguf *g, int json)
{
	struct json_writer j;
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < g->n_tensors; i++)
		bytes += g->tensors[i].bytes;
	if (!json) {
		out_print("GGUF version %" PRIu32 ": %" PRIu64 " keys, %" PRIu64 " tensors, %" PRIu64
			" bytes of tensors\n", g->version, g->n_values, g->n_tensors, bytes);
		return;
	}
	j = begin();
	write_number(&j, "version", g->version);
	write_number(&j, "keys", g->n_values);
	write_number(&j, "tensors", g->n_tensors);
	write_number(&j, "bytes", bytes);
	end(&j);
}

void describe_file(const struct gguf *g, int json)
{
	describe_head(g, json);
	for (uint64_t i = 0; i < g->n_values; i++)
		(json ? write_key : print_key)(&g->values[i]);
	for (uint64_t i = 0; i < g->n_tensors; i++)
		(json ? write_tensor : print_tensor)(&g->tensors[i]);
}

static void write_token(uint64_t id, const char *type, struct gguf_string text)
{
	struct json_writer j = begin();

	write_number(&j, "id", id);
	member_text(&j, "type", type);
	member_bytes(&j, "text", text.s, text.n);
	end(&j);
}

int describe_vocab(const struct gguf *g, int json, struct why *w)
{
	static const char *const names[] = { "undefined", "normal", "unknown", "control", "user", "unused", "byte" };
	const char *const key = "tokenizer.ggml.token_type";
	const struct gguf_value *tokens, *types = gguf_find(g, key);
	int found = gguf_array(g, "tokenizer.ggml.tokens", GGUF_STRING, &tokens, w);
	const unsigned char *at;
	struct gguf_string text;

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.tokens: missing: no vocabulary");
	if (types && gguf_array(g, key, types->of == GGUF_U32 ? GGUF_U32 : GGUF_I32, &types, w) < 0)
		return -1;
	if (types && types->n != tokens->n)
		return why(w, "%s: %" PRIu64 " types for %" PRIu64 " tokens", key, types->n, tokens->n);
	at = tokens->data;
	for (uint64_t i = 0; i < tokens->n; i++) {
		uint32_t type = types ? le32(types->data + 4 * i) : 1;
		const char *name = names[type < sizeof names / sizeof *names ? type : 0];

		text = gguf_next_string(tokens, &at);
		if (json) {
			write_token(i, name, text);
			continue;
		}
		out_print("%" PRIu64 "\t%s\t", i, name);
		put_escaped(text, SIZE_MAX, 0);
		out_char('\n');
	}
	return 0;
}

int describe_template(const struct gguf *g, struct why *w)
{
	struct gguf_string template;
	int found = gguf_text(g, "tokenizer.chat_template", &template, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.chat_template: missing: no template");
	out_shown(template.s, template.n);
	out_shown_close();
	return 0;
}
