/* known: tokens recognized by their text. A file names one or two ids that end a generation at most, and gives some
 * control tokens another type. So, like other engines, this recognizes the texts that model makers use. */
#include "priv.h"

#include <string.h>

enum {
	ENDS = 1,               /* it ends a generation */
	CONTROL = 2,            /* it is a control token, whatever the file says */
	FIM = 4                 /* it has a role and is a control token, unless a key gives the role to another */
};

/* Roles of fill-in-the-middle tokens; the last three end a generation. */
enum { PRE, SUF, MID, PAD, REP, SEP, ROLES };

static const char *const role_keys[ROLES][2] = {
	[PRE] = { "tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id" },
	[SUF] = { "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id" },
	[MID] = { "tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id" },
	[PAD] = { "tokenizer.ggml.fim_pad_token_id", NULL },
	[REP] = { "tokenizer.ggml.fim_rep_token_id", NULL },
	[SEP] = { "tokenizer.ggml.fim_sep_token_id", NULL },
};

static const struct known {
	const char *text;
	unsigned char what, role;
} known[] = {
	{ "<|eot_id|>", ENDS | CONTROL, 0 }, { "<|im_end|>", ENDS | CONTROL, 0 }, { "<|end|>", ENDS | CONTROL, 0 },
	{ "<end_of_turn>", ENDS | CONTROL, 0 }, { "<|endoftext|>", ENDS | CONTROL, 0 },
	{ "<|eom_id|>", ENDS | CONTROL, 0 }, { "<EOT>", ENDS | CONTROL, 0 },
	{ "<\xef\xbd\x9c" "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>", ENDS | CONTROL, 0 },
	{ "<|return|>", ENDS, 0 }, { "<|call|>", ENDS, 0 }, { "<|flush|>", ENDS, 0 }, { "<|calls|>", ENDS, 0 },
	{ "</s>", ENDS, 0 }, { "_<EOT>", ENDS, 0 }, { "[EOT]", ENDS, 0 }, { "[EOS]", ENDS, 0 },
	{ "<|end_of_text|>", ENDS, 0 }, { "<end_of_utterance>", ENDS, 0 },
	{ "<eos>", ENDS, 0 }, { "<turn|>", ENDS, 0 }, { "<|tool_response>", ENDS, 0 },
	{ "<|fim_prefix|>", FIM, PRE }, { "<fim-prefix>", FIM, PRE }, { "<PRE>", FIM, PRE },
	{ "<\xef\xbd\x9c" "fim\xe2\x96\x81" "begin\xef\xbd\x9c>", FIM, PRE },
	{ "<|fim_suffix|>", FIM, SUF }, { "<fim-suffix>", FIM, SUF }, { "<SUF>", FIM, SUF },
	{ "<\xef\xbd\x9c" "fim\xe2\x96\x81hole\xef\xbd\x9c>", FIM, SUF },
	{ "<|fim_middle|>", FIM, MID }, { "<fim-middle>", FIM, MID }, { "<MID>", FIM, MID },
	{ "<\xef\xbd\x9c" "fim\xe2\x96\x81" "end\xef\xbd\x9c>", FIM, MID },
	{ "<|fim_pad|>", FIM, PAD }, { "<fim-pad>", FIM, PAD }, { "<PAD>", FIM, PAD },
	{ "<|fim_repo|>", FIM, REP }, { "<|repo_name|>", FIM, REP }, { "<fim-repo>", FIM, REP }, { "<REPO>", FIM, REP },
	{ "<|file_sep|>", FIM, SEP },
};

enum { KNOWN = sizeof known / sizeof *known };

/* The id of each known text, or -1. Few other tokens begin and end with the same characters. */
static void find_known(const struct vocab *v, int32_t id[KNOWN])
{
	for (int k = 0; k < KNOWN; k++)
		id[k] = -1;
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = names_get(&v->tokens, i);

		if (!s.n || (*s.s != '<' && *s.s != '[' && *s.s != '_') || (s.s[s.n - 1] != '>' && s.s[s.n - 1] != ']'))
			continue;
		for (int k = 0; k < KNOWN; k++)
			if (gguf_is(s, known[k].text))
				id[k] = (int32_t)i;
	}
}

/* Where the id of this text is, which is in the table. */
static int32_t *id_of(int32_t id[KNOWN], const char *text)
{
	int k = 0;

	while (strcmp(known[k].text, text))
		k++;
	return &id[k];
}

static void add_end(struct card *card, int32_t id)
{
	int i = card->n_eog;

	if (id < 0 || card_is_eog(card, id) || card->n_eog == FRAME_EOG_MAX)
		return;
	for (; i > 0 && card->eog[i - 1] > id; i--)
		card->eog[i] = card->eog[i - 1];
	card->eog[i] = id;
	card->n_eog++;
}

/* The token with a role: the one that a key names, or else the first with a known text, which then is a control
 * token. */
static int fill_role(struct vocab *v, const int32_t id[KNOWN], int role, int32_t *out, struct why *w)
{
	int64_t given = -1;

	for (int i = 0; i < 2 && role_keys[role][i]; i++)
		if (gguf_integer(v->g, role_keys[role][i], 0, (int64_t)v->tokens.n - 1, &given, w) < 0)
			return -1;
	*out = (int32_t)given;
	for (int k = 0; k < KNOWN && given < 0; k++)
		if (known[k].what & FIM && known[k].role == role && id[k] >= 0 && (*out < 0 || id[k] < *out))
			*out = id[k];
	if (given < 0 && *out >= 0)
		v->type[*out] = VOCAB_CONTROL;
	return 0;
}

int known_read(struct vocab *v, struct why *w)
{
	static const char *const end_keys[] = { "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id" };
	int32_t id[KNOWN], role;
	int64_t given;

	find_known(v, id);
	/* Here <|end|> ends a message, not the turn. */
	if (*id_of(id, "<|return|>") >= 0 && *id_of(id, "<|call|>") >= 0)
		*id_of(id, "<|end|>") = -1;
	/* Here </s> is unused. */
	if (*id_of(id, "<|tool_response>") >= 0)
		*id_of(id, "</s>") = -1;
	for (int k = 0; k < KNOWN; k++) {
		if (id[k] >= 0 && known[k].what & CONTROL)
			v->type[id[k]] = VOCAB_CONTROL;
		if (known[k].what & ENDS)
			add_end(&v->card, id[k]);
	}
	for (int i = 0; i < 2; i++) {
		given = -1;
		if (gguf_integer(v->g, end_keys[i], 0, (int64_t)v->tokens.n - 1, &given, w) < 0)
			return -1;
		add_end(&v->card, (int32_t)given);
	}
	add_end(&v->card, v->rules.eos);
	for (int r = 0; r < ROLES; r++) {
		if (fill_role(v, id, r, &role, w))
			return -1;
		if (r >= PAD)
			add_end(&v->card, role);
	}
	return 0;
}
