/* parser: how the model of a conversation marks the parts of its answers: reasoning, content and tool calls. It is
 * learned from the chat template, as by `chat --parse`, before each answer. A template that shows no reasoning is taken
 * to have <think>. */
#ifndef PARSER_H
#define PARSER_H

#include "lib/chat/answer/answer.h"
#include "lib/chat/chat_setup.h"
#include "gen/request.h"
#include "messages.h"

struct parser {                 /* starts as zeros, with q; parser_close() at the end */
	const struct request *q;
	struct gguf *g;         /* opened at the first need; NULL: cannot be read, which the stages report */
	struct vocab *v;
	struct chat chat;       /* what the answer is to */
	struct format format;
	struct arena arena;     /* of the format */
	struct bytes prompt;    /* what the prompt has of the answer already */
};

void parser_close(struct parser *p);

/* Learns what an answer to the messages will look like. */
void parser_learn(struct parser *p, const struct messages *m);

/* Appends the texts that open and close reasoning, as values of options. 0, or -1 if they have placeholders. */
int parser_thinking(const struct parser *p, struct bytes *open, struct bytes *close);

/* Tells sample what opens and closes reasoning, for --think-budget, unless its options do. The texts are appended to
 * *open and *close, which must last as long as the options. 0, or -1 with a reason. */
int parser_name_thinking(struct parser *p, struct stage *sample, struct bytes *open, struct bytes *close,
	struct why *w);

/* Begins to read an answer. NULL with a reason: out of memory. The caller closes it before the parser learns again. */
struct answer *parser_begin(const struct parser *p, const struct answer_sink *sink, struct why *w);

/* Appends the message that the answer text[n] is, as a line. 0, or -1 with a reason. */
int parser_message(const struct parser *p, const char *text, size_t n, struct bytes *out, struct why *w);

#endif
