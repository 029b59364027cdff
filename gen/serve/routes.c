/* The table of paths. */
#include "routes.h"

#include <string.h>

#include "endpoints.h"

static const struct route {
	const char *path;               /* with a slash at its end: and anything that follows */
	enum http_method method;
	const struct endpoint *endpoint;
	int open;                       /* needs no key */
} routes[] = {
	{ "/v1/chat/completions", HTTP_POST, &endpoint_chat, 0 },
	{ "/v1/completions", HTTP_POST, &endpoint_completions, 0 },
	{ "/v1/responses", HTTP_POST, &endpoint_responses, 0 },
	{ "/v1/messages", HTTP_POST, &endpoint_messages, 0 },
	{ "/v1/messages/count_tokens", HTTP_POST, &endpoint_count_tokens, 0 },
	{ "/v1/models", HTTP_GET, &endpoint_models, 0 },
	{ "/v1/models/", HTTP_GET, &endpoint_model, 0 },
	{ "/v1/embeddings", HTTP_POST, &endpoint_embeddings, 0 },
	{ "/v1/rerank", HTTP_POST, &endpoint_rerank, 0 },
	{ "/v2/rerank", HTTP_POST, &endpoint_rerank, 0 },       /* Cohere's */
	{ "/tokenize", HTTP_POST, &endpoint_tokenize, 0 },
	{ "/detokenize", HTTP_POST, &endpoint_detokenize, 0 },
	{ "/apply-template", HTTP_POST, &endpoint_apply_template, 0 },
	{ "/health", HTTP_GET, &endpoint_health, 1 },
	{ "/metrics", HTTP_GET, &endpoint_metrics, 0 },
	{ "/", HTTP_GET, &endpoint_page, 1 }
};

static const struct route *find(const char *path)
{
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
		size_t n = strlen(routes[i].path);

		if (!strcmp(path, routes[i].path)
		    || (n > 1 && routes[i].path[n - 1] == '/' && !strncmp(path, routes[i].path, n)))
			return &routes[i];
	}
	return NULL;
}

static struct answerer refuse(struct answerer a, int status, const char *message)
{
	a.endpoint = NULL;
	a.failure = (struct failure){ status, message, NULL };
	return a;
}

enum form routes_form(const struct http *h)
{
	int path = h->path && !strncmp(h->path, "/v1/messages", 12);

	return path || http_field(h, "anthropic-version") ? FORM_ANTHROPIC : FORM_OPENAI;
}

struct answerer routes_find(const struct service *s, const struct http *h)
{
	const struct route *r = find(h->path);
	struct answerer a = { .form = routes_form(h) };

	if (!service_allows_origin(s, http_field(h, "Origin"), http_field(h, "Host")))
		return refuse(a, 403, "pages from this origin may not use the server (serve --cors)");
	if (r)
		a.allow = r->method == HTTP_POST ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
	if (h->method == HTTP_OPTIONS)
		return refuse(a, 204, "");
	if (!(r && r->open) && !keys_allow(&s->keys, h))
		return refuse(a, 401, "a valid key is required: Authorization: Bearer KEY, or X-API-Key: KEY");
	if (!r)
		return refuse(a, 404, "there is no such path");
	if (h->method != r->method && !(h->method == HTTP_HEAD && r->method == HTTP_GET))
		return refuse(a, 405, r->method == HTTP_POST ? "the method of this path is POST"
			: "the method of this path is GET");
	a.endpoint = r->endpoint;
	return a;
}
