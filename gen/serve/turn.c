/* Items are told apart by what a message has them under. */
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/members.h"

enum { TEXT_MAX = 256 << 20 };

static void close_item(struct turn *t)
{
	if (t->open && t->closed)
		t->closed(t->context, &t->item[t->n - 1]);
	t->open = 0;
}

/* The open item, if it is of this kind, or else a new one; NULL: memory is short. */
static struct turn_item *item_of(struct turn *t, enum turn_kind kind, const struct json *call)
{
	const struct json *index = json_get(call, "index");
	struct turn_item *item = t->open ? &t->item[t->n - 1] : NULL;
	const char *id = json_get_string(call, "id"), *name = json_get_string(json_get(call, "function"), "name");

	if (item && item->kind == kind && (!call || (index && index->i == item->call)))
		return item;
	close_item(t);
	if (t->n == t->room && grow(&t->item, &t->room, sizeof *t->item, 4)) {
		t->failed = 1;
		return NULL;
	}
	item = &t->item[t->n];
	*item = (struct turn_item){ .kind = kind, .number = t->n++, .call = index ? index->i : -1,
		.text.limit = TEXT_MAX, .logprobs.limit = TEXT_MAX };
	snprintf(item->id, sizeof item->id, "%s", id ? id : "");
	snprintf(item->name, sizeof item->name, "%s", name ? name : "");
	t->open = 1;
	if (t->opened)
		t->opened(t->context, item);
	return item;
}

static void add(struct turn *t, enum turn_kind kind, const struct json *call, const struct json *text,
	const struct json *logprobs)
{
	size_t n = text && text->type == JSON_STRING ? text->n : 0, before;
	struct turn_item *item = n || call ? item_of(t, kind, call) : NULL;
	struct json_writer to;

	if (!item)
		return;
	t->failed |= bytes_put(&item->text, n ? text->s : "", n) != 0;
	before = item->logprobs.n;
	to = members_to(&item->logprobs);
	to.items = before > 0;
	for (const struct json *l = member_first(logprobs); l; l = l->next)
		json_value(&to, l);
	t->failed |= bytes_put(&item->logprobs, "", 1) != 0;    /* so that the new ones are a string */
	before += before && !t->failed && item->logprobs.p[before];     /* the comma */
	if (n && t->added && !t->failed)
		t->added(t->context, item, text->s, n, item->logprobs.p + before);
	item->logprobs.n -= !item->logprobs.failed;
}

void turn_take(struct turn *t, const struct json *choice)
{
	const struct json *message = json_get(choice, "delta");
	const struct json *logprobs = json_get(json_get(choice, "logprobs"), "content");

	if (!message)
		message = json_get(choice, "message");
	add(t, TURN_REASONING, NULL, json_get(message, "reasoning_content"), NULL);
	add(t, TURN_TEXT, NULL, json_get(message, "content"), logprobs);
	for (const struct json *call = member_first(json_get(message, "tool_calls")); call; call = call->next)
		if (call->type == JSON_OBJECT)
			add(t, TURN_CALL, call, json_get(json_get(call, "function"), "arguments"), NULL);
}

void turn_end(struct turn *t)
{
	close_item(t);
}

void turn_free(struct turn *t)
{
	for (size_t i = 0; i < t->n; i++) {
		bytes_free(&t->item[i].text);
		bytes_free(&t->item[i].logprobs);
	}
	free(t->item);
}
