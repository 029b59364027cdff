/* model: what answers need of the model here; the stages run it. */
#ifndef REQUEST_MODEL_H
#define REQUEST_MODEL_H

#include "lib/chat/chat_setup.h"
#include "lib/gguf/gguf.h"
#include "lib/stream/card.h"
#include "lib/vocab/vocab.h"
#include "gen/request.h"
#include "learned.h"

struct model {                  /* starts as zeros */
	const char *path;
	char name[128];         /* the file's, without .gguf */
	struct gguf *gguf;
	struct vocab *vocab;
	struct card card;       /* of fwd */
	struct chat_setup setup;
	struct lessons *lessons;        /* what is known of its template; borrowed */
	struct arena arena;
	const struct json *schema;      /* of answers to messages that ask for none, or NULL; */
	int lenient;            /* what a grammar cannot express of it is left out */
	struct stage *kv;       /* the command that prints the ids in a segment, but for the name; NULL: none */
};

/* Opens the model of gen's command line, with the options of its template. What is wrong with these is found here, not
 * by each request. lessons: opened here. Returns 0, or -1 with a reason; model_close() in either case. */
int model_open(struct model *m, struct request *q, struct lessons *lessons, struct why *w);
void model_close(struct model *m);

#endif
