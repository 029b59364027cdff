/* Lines of the engine find their exchange here. */
#include "service.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange.h"
#include "lib/base/members.h"

enum { DESCRIPTION_MAX = 1 << 20, ANSWER_MEMORY = 1 << 30 };

int service_begin(struct service *s)
{
	struct bytes line;
	struct json_writer to = engine_request(&s->engine, &line);

	s->started = (int64_t)time(NULL);
	s->model.limit = DESCRIPTION_MAX;
	member_flag(&to, "model", 1);
	json_close(&to, '}');
	if (engine_ask(&s->engine, &line, NULL, 0))
		return -1;
	s->describing = s->engine.pending;
	return 0;
}

size_t service_requests(const struct service *s)
{
	return s->waiting + s->engine.n_given_up;
}

static void take_description(struct service *s, const struct json *line)
{
	const struct json *model = json_get(line, "model");
	const char *name = json_get_string(model, "name");
	struct json_writer to = members_to(&s->model);

	if (model && model->type == JSON_OBJECT)
		json_value(&to, model);
	else
		json_raw(&to, "{}");
	name = name && *name ? name : "default";
	memcpy(s->name, name, strnlen(name, sizeof s->name - 1));
}

static double number(const struct json *v, const char *key)
{
	v = json_get(v, key);
	return v && v->type >= JSON_INT && v->type <= JSON_FLOAT && v->d > 0 ? v->d : 0;
}

static void count(struct counts *c, const struct json *line)
{
	const struct json *usage = json_get(line, "usage"), *timings = json_get(line, "timings");

	c->prompt += (uint64_t)number(usage, "prompt_tokens");
	c->cached += (uint64_t)number(json_get(usage, "prompt_tokens_details"), "cached_tokens");
	c->generated += (uint64_t)number(usage, "completion_tokens");
	c->prompt_ms += number(timings, "prompt_ms");
	c->generation_ms += number(timings, "predicted_ms");
}

static void take_line(struct service *s, struct pending *pending, const struct json *line)
{
	struct exchange *x = pending->exchange;
	int last = !pending->stream || json_get(line, "usage") || json_get(line, "error");

	count(&s->counts, line);
	if (pending == s->describing) {
		s->describing = NULL;
		take_description(s, line);
	}
	if (last)
		engine_finish(&s->engine, pending);
	if (x)
		exchange_take(x, line, last);
}

int service_take(struct service *s, struct why *w)
{
	struct arena a = { .limit = ANSWER_MEMORY };
	const struct json *line;
	struct pending *pending;

	while ((line = engine_next(&s->engine, &a, &pending, w))) {
		if (pending)
			take_line(s, pending, line);
		arena_free(&a);
	}
	arena_free(&a);
	return w->text[0] ? -1 : 0;
}

void service_free(struct service *s)
{
	bytes_free(&s->model);
	keys_free(&s->keys);
}

/* Whether a name, with or without a port, is a number or localhost. */
static int is_local(const char *host)
{
	size_t n = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");

	return *host == '[' || strspn(host, "0123456789.") == n || (n == 9 && !strncmp(host, "localhost", n));
}

int service_allows_origin(const struct service *s, const char *origin, const char *host)
{
	const char *name = origin ? strstr(origin, "://") : NULL;

	if (!origin || (s->origin && (!strcmp(s->origin, "*") || !strcmp(s->origin, origin))))
		return 1;
	return name && http_same(name + 3, host) && (!s->local || is_local(host));
}
