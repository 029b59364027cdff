/* One table has the members that are options of sample under another name. */
#include "opts.h"

#include <stdio.h>
#include <string.h>

#include "fields.h"

struct member {
	const char *name, *option;
};

/* In the names of OpenAI's API and of llama.cpp's server. */
static const struct member numbers[] = {
	{ "temperature", "--temp" }, { "top_k", "--top-k" }, { "top_p", "--top-p" }, { "min_p", "--min-p" },
	{ "typical_p", "--typical" }, { "top_n_sigma", "--top-nsigma" }, { "min_tokens", "--min-tokens" },
	{ "presence_penalty", "--presence-penalty" }, { "frequency_penalty", "--frequency-penalty" },
	{ "repeat_penalty", "--repeat-penalty" }, { "repeat_last_n", "--repeat-last-n" },
	{ "xtc_probability", "--xtc-probability" }, { "xtc_threshold", "--xtc-threshold" },
	{ "dynatemp_range", "--dynatemp-range" }, { "dynatemp_exponent", "--dynatemp-exp" },
	{ "mirostat", "--mirostat" }, { "mirostat_tau", "--mirostat-ent" }, { "mirostat_eta", "--mirostat-lr" },
	{ "dry_multiplier", "--dry-multiplier" }, { "dry_base", "--dry-base" },
	{ "dry_allowed_length", "--dry-allowed-length" }, { "dry_penalty_last_n", "--dry-penalty-last-n" }
};

/* Other members, and their options as reasons of stages begin with them. */
static const struct member others[] = {
	{ "grammar", "--grammar" }, { "kv", "--kv" }, { "logit_bias", "--logit-bias" },
	{ "logit_bias", "-l/--logit-bias" }, { "lora", "--lora" }
};

int opts_add(struct bytes *opts, const char *option, const char *value, size_t n, struct why *w)
{
	if (memchr(value, 0, n))
		return why(w, "a NUL in the text");
	if (strlen(option) + n + 2 > opts->limit - opts->n)
		return why(w, "the options have more than %zu bytes", opts->limit);
	if (bytes_puts(opts, option) || bytes_puts(opts, "=") || bytes_put(opts, value, n) || bytes_put(opts, "", 1))
		return why(w, "out of memory");
	return 0;
}

static const char *find(const struct member *m, size_t n, const char *reason)
{
	size_t length = strcspn(reason, ": ");

	for (size_t i = 0; i < n; i++)
		if (strlen(m[i].option) == length && !memcmp(m[i].option, reason, length))
			return m[i].name;
	return NULL;
}

const char *opts_member(const char *reason)
{
	const char *name = find(numbers, sizeof numbers / sizeof *numbers, reason);

	return name ? name : find(others, sizeof others / sizeof *others, reason);
}

static int is_number(const struct json *v)
{
	return v->type == JSON_INT || v->type == JSON_BIG || v->type == JSON_FLOAT;
}

static int add_numbers(struct job *j, struct why *w)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const char *name = numbers[i].name;
		const struct json *v = field(j, name);
		int all = v && v->type == JSON_INT && v->i == -1 && !strcmp(name, "top_k");

		if (!v)
			continue;
		if (!is_number(v))
			return field_bad(j, name, why(w, "%s: expected a number, not %s", name, json_type_name(v)));
		if (opts_add(&j->opts, numbers[i].option, all ? "0" : v->s, all ? 1 : v->n, w))
			return -1;
	}
	return 0;
}

/* A bias of the token id[n]: a number, or false, which excludes it. */
static int add_bias(struct job *j, const char *id, size_t n, const struct json *bias, struct why *w)
{
	char word[64];
	int excluded = bias->type == JSON_FALSE;

	if ((!excluded && (!is_number(bias) || bias->n > 40)) || !n || n > 10 || strspn(id, "0123456789") != n)
		return field_bad(j, "logit_bias", why(w, "logit_bias: expected token ids with numbers"));
	n = (size_t)snprintf(word, sizeof word, "%s%s%s", id, excluded || bias->s[0] == '-' ? "" : "+",
		excluded ? "-inf" : bias->s);
	return opts_add(&j->opts, "--logit-bias", word, n, w) ? field_bad(j, "logit_bias", -1) : 0;
}

/* An object of ids and biases, or a list of pairs. */
static int add_biases(struct job *j, struct why *w)
{
	const struct json *v = field(j, "logit_bias"), *b, *pair;

	if (v && v->type != JSON_OBJECT && v->type != JSON_ARRAY)
		return field_bad(j, "logit_bias", why(w, "logit_bias: expected an object, not %s", json_type_name(v)));
	for (b = v ? v->child : NULL; b; b = b->next) {
		if (v->type == JSON_OBJECT) {
			if (add_bias(j, b->key, b->key_n, b, w))
				return -1;
			continue;
		}
		pair = b->type == JSON_ARRAY && b->n == 2 && b->child->type == JSON_INT ? b->child : NULL;
		if (!pair)
			return field_bad(j, "logit_bias", why(w, "logit_bias: expected pairs of an id and a number"));
		if (add_bias(j, pair->s, pair->n, pair->next, w))
			return -1;
	}
	return 0;
}

/* An object of fwd's adapters and scales. */
static int add_adapters(struct job *j, struct why *w)
{
	const struct json *v = field(j, "lora"), *scale;
	char word[512];

	if (v && v->type != JSON_OBJECT)
		return field_bad(j, "lora", why(w, "lora: expected an object, not %s", json_type_name(v)));
	for (scale = v ? v->child : NULL; scale; scale = scale->next) {
		int n = is_number(scale) ? snprintf(word, sizeof word, "%.*s=%.*s", (int)scale->key_n, scale->key,
			(int)scale->n, scale->s) : -1;

		if (n < 0 || (size_t)n >= sizeof word)
			return field_bad(j, "lora", why(w, "lora: expected names of adapters with numbers"));
		if (opts_add(&j->opts, "--lora", word, (size_t)n, w))
			return -1;
	}
	return 0;
}

int opts_take(struct job *j, struct why *w)
{
	char most[24];
	int ignore = 0;

	if (add_numbers(j, w) || add_biases(j, w) || add_adapters(j, w) || field_flag(j, "ignore_eos", &ignore, w))
		return -1;
	if (ignore && bytes_put(&j->opts, "--ignore-eos", sizeof "--ignore-eos"))
		return why(w, "out of memory");
	if (j->logprobs < 0 && j->n == j->n_answered)
		return 0;
	return opts_add(&j->opts, "--logprobs", most, (size_t)snprintf(most, sizeof most, "%d",
		j->logprobs < 0 ? 0 : j->logprobs), w);
}
