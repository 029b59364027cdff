/* Tokens in a grammar's text: <[id]>, or <text> with the brackets as part of the text. */
#include "reader.h"

#include "node.h"

/* The digits of <[id]>, which ends at `end`. */
static int32_t bracketed(struct grammar_reader *r, const struct grammar_tokens *tokens, const char *end)
{
	const char *digits = r->at + 2, *s = digits;
	int64_t id = 0;

	for (; s < end && *s >= '0' && *s <= '9'; s++)
		id = id < tokens->n ? id * 10 + (*s - '0') : id;
	if (s == digits || end - s != 2 || *s != ']')
		return (int32_t)reader_fail(r, r->at, "a token is <[id]> or <text>");
	if (id >= tokens->n)
		return (int32_t)reader_fail(r, r->at, "token %.*s is outside the vocabulary of %d",
			(int)(s - digits < 20 ? s - digits : 20), digits, (int)tokens->n);
	return (int32_t)id;
}

int32_t reader_token(struct grammar_reader *r, const struct grammar_tokens *tokens)
{
	const char *end = r->at;
	int32_t id;

	if (reader_peek(r) != '<')
		return (int32_t)reader_fail(r, r->at, "expected a token after '!': <[id]>, <text> or \"literal\"");
	while (end < r->end && *end != '>' && *end != '\n')
		end++;
	if (end == r->end || *end++ == '\n')
		return (int32_t)reader_fail(r, r->at, "the token does not end on its line");
	if (r->at[1] == '[') {
		id = bracketed(r, tokens, end);
	} else {
		id = tokens->find(tokens->context, r->at, (size_t)(end - r->at));
		if (id < 0)
			reader_fail(r, r->at, "the vocabulary has no token %.*s",
				(int)(end - r->at < 80 ? end - r->at : 80), r->at);
	}
	r->at = end;
	return id;
}
