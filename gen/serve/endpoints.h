/* endpoints: what the paths of routes.c answer with. */
#ifndef ENDPOINTS_H
#define ENDPOINTS_H

#include "exchange.h"

extern const struct endpoint endpoint_chat, endpoint_completions;               /* openai.c */
extern const struct endpoint endpoint_embeddings;                              /* embeddings.c */
extern const struct endpoint endpoint_rerank;                                   /* rerank.c */
extern const struct endpoint endpoint_responses;                                /* responses.c */
extern const struct endpoint endpoint_messages;                                 /* messages.c */
extern const struct endpoint endpoint_tokenize, endpoint_detokenize;            /* plain.c */
extern const struct endpoint endpoint_apply_template, endpoint_count_tokens;
extern const struct endpoint endpoint_models, endpoint_model;                   /* about.c */
extern const struct endpoint endpoint_health, endpoint_metrics, endpoint_page;

#endif
