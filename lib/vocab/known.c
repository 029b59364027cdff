/* known: tokens recognized by their text. A file names one or two ids that end a generation at most, and gives some
 * control tokens another type. So, like other engines, this recognizes the texts that model makers use. */
#include "encoder.h"

#include <string.h>

enum {
	ENDS = 1,               /* it ends a generation, and is a control token, whatever the file says */
	PRINTS = 2,             /* it is a user-defined token, whatever the file says */
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
	{ "<|eot_id|>", ENDS, 0 }, { "<|im_end|>", ENDS, 0 }, { "<|end|>", ENDS, 0 },
	{ "<end_of_turn>", ENDS, 0 }, { "<|endoftext|>", ENDS, 0 },
	{ "<|eom_id|>", ENDS, 0 }, { "<EOT>", ENDS, 0 },
	{ "<\xef\xbd\x9c" "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>", ENDS, 0 },
	{ "<|return|>", ENDS, 0 }, { "<|call|>", ENDS, 0 }, { "<|flush|>", ENDS, 0 }, { "<|calls|>", ENDS, 0 },
	{ "</s>", ENDS, 0 }, { "_<EOT>", ENDS, 0 }, { "[EOT]", ENDS, 0 }, { "[EOS]", ENDS, 0 },
	{ "<|end_of_text|>", ENDS, 0 }, { "<end_of_utterance>", ENDS, 0 },
	{ "[e~[", ENDS, 0 }, { "<eos>", ENDS, 0 }, { "<turn|>", ENDS, 0 }, { "<|tool_response>", ENDS, 0 },
	{ "<|start|>", PRINTS, 0 }, { "<|channel|>", PRINTS, 0 }, { "<|constrain|>", PRINTS, 0 },
	{ "<|message|>", PRINTS, 0 },
	{ "<|fim_prefix|>", FIM, PRE }, { "<fim-prefix>", FIM, PRE }, { "<fim_prefix>", FIM, PRE },
	{ "<PRE>", FIM, PRE }, { "\xe2\x96\x81<PRE>", FIM, PRE }, { "<|code_prefix|>", FIM, PRE },
	{ "<|prefix|>", FIM, PRE }, { "<\xef\xbd\x9c" "fim\xe2\x96\x81" "begin\xef\xbd\x9c>", FIM, PRE },
	{ "<|fim_suffix|>", FIM, SUF }, { "<fim-suffix>", FIM, SUF }, { "<fim_suffix>", FIM, SUF },
	{ "<SUF>", FIM, SUF }, { "\xe2\x96\x81<SUF>", FIM, SUF }, { "<|code_suffix|>", FIM, SUF },
	{ "<|suffix|>", FIM, SUF }, { "<\xef\xbd\x9c" "fim\xe2\x96\x81hole\xef\xbd\x9c>", FIM, SUF },
	{ "<|fim_middle|>", FIM, MID }, { "<fim-middle>", FIM, MID }, { "<fim_middle>", FIM, MID },
	{ "<MID>", FIM, MID }, { "\xe2\x96\x81<MID>", FIM, MID }, { "<|code_middle|>", FIM, MID },
	{ "<|middle|>", FIM, MID }, { "<\xef\xbd\x9c" "fim\xe2\x96\x81" "end\xef\xbd\x9c>", FIM, MID },
	{ "<|fim_pad|>", FIM, PAD }, { "<fim-pad>", FIM, PAD }, { "<fim_pad>", FIM, PAD }, { "<PAD>", FIM, PAD },
	{ "[PAD]", FIM, PAD },
	{ "<|fim_repo|>", FIM, REP }, { "<|repo_name|>", FIM, REP }, { "<fim-repo>", FIM, REP }, { "<REPO>", FIM, REP },
	{ "<reponame>", FIM, REP },
	{ "<|file_sep|>", FIM, SEP },
};

enum { KNOWN = sizeof known / sizeof *known };

/* The id of each known text, or -1. Few other tokens end with the same characters. */
static void find_known(const struct vocab *v, int32_t id[KNOWN])
{
	size_t length[KNOWN];

	for (int k = 0; k < KNOWN; k++) {
		id[k] = -1;
		length[k] = strlen(known[k].text);
	}
	for (uint32_t i = 0; i < v->tokens.n; i++) {
		struct gguf_string s = names_get(&v->tokens, i);

		if (!s.n || (s.s[s.n - 1] != '>' && s.s[s.n - 1] != ']' && s.s[s.n - 1] != '['))
			continue;
		for (int k = 0; k < KNOWN; k++)
			if (s.n == length[k] && !memcmp(s.s, known[k].text, s.n))
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

static int has(int32_t id[KNOWN], const char *text)
{
	return *id_of(id, text) >= 0;
}

/* The token of this text, if any, ends no generation; it has this type. */
static void retype(struct vocab *v, int32_t id[KNOWN], const char *text, enum vocab_type type)
{
	int32_t *at = id_of(id, text);

	if (*at >= 0)
		v->type[*at] = (unsigned char)type;
	*at = -1;
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
	int32_t given = -1;

	for (int i = 0; i < 2 && role_keys[role][i]; i++)
		if (vocab_read_id(v, role_keys[role][i], &given, w))
			return -1;
	*out = given;
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
	int32_t id[KNOWN], role, given;

	find_known(v, id);
	for (int k = 0; k < KNOWN; k++)
		if (id[k] >= 0 && known[k].what & (ENDS | PRINTS))
			v->type[id[k]] = known[k].what & ENDS ? VOCAB_CONTROL : VOCAB_USER;
	/* Here <|end|> ends a message, not the turn. */
	if ((has(id, "<|return|>") && has(id, "<|call|>")) || (has(id, "<|calls|>") && has(id, "<|flush|>")))
		retype(v, id, "<|end|>", VOCAB_USER);
	/* Here </s> is unused. */
	if (has(id, "<|tool_response>"))
		retype(v, id, "</s>", VOCAB_NORMAL);
	for (int k = 0; k < KNOWN; k++)
		if (known[k].what & ENDS)
			add_end(&v->card, id[k]);
	for (int i = 0; i < 2; i++) {
		given = -1;
		if (vocab_read_id(v, end_keys[i], &given, w))
			return -1;
		add_end(&v->card, given);
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
