/* Prompts of texts are encoded as tok does it, messages as chat and tok --no-bos do. */
#include "prompts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/members.h"
#include "lib/chat/answer/learn.h"
#include "lib/chat/answer/rules.h"
#include "lib/chat/answer/tools.h"
#include "lib/grammar/grammar.h"
#include "lib/schema/schema.h"
#include "fields.h"
#include "kept.h"
#include "opts.h"

/* ---- texts and ids ---- */

int prompts_encode(const struct model *m, const char *text, size_t n, enum prompts_part part, struct ids *to,
	struct why *w)
{
	const struct vocab_rules *rules = vocab_rules(m->vocab);
	int ends = part == PROMPTS_WHOLE;

	if (ends && rules->add_bos && ids_add(to, rules->bos))
		return why(w, "out of memory");
	if (vocab_encode(m->vocab, text, n, VOCAB_SPECIAL | (part == PROMPTS_REST ? VOCAB_CONTINUE : 0), to, w))
		return -1;
	return ends && rules->add_eos && ids_add(to, rules->eos) ? why(w, "out of memory") : 0;
}

static int check_length(struct job *j, const struct model *m, const struct prompt *p, const char *param, struct why *w)
{
	if (!p->ids.n)
		return field_bad(j, param, why(w, "%s: empty", param));
	if (m->card.n_ctx && p->ids.n > (size_t)m->card.n_ctx)
		return field_bad(j, param, why(w, "%s: %zu tokens do not fit the context of %" PRId32 " (-c)", param,
			p->ids.n, m->card.n_ctx));
	return 0;
}

static int add_prompt(struct job *j, const struct model *m, const struct json *v, struct why *w)
{
	struct prompt *p = &j->prompt[j->n_prompts++];
	struct ids kept = { 0 };
	int failed;

	kept_read(j, m, &kept);
	if (v->type == JSON_ARRAY) {
		failed = field_ids(j, "prompt", v, m->card.n_vocab, &p->ids, w);
	} else {
		p->text = v->s;
		p->n = v->n;
		failed = prompts_encode(m, v->s, v->n, j->appends && kept.n ? PROMPTS_REST : PROMPTS_WHOLE, &p->ids, w)
			? field_bad(j, "prompt", -1) : 0;
	}
	failed = failed || kept_join(j, &kept, &p->ids, w) || check_length(j, m, p, "prompt", w);
	free(kept.id);
	return failed ? -1 : 0;
}

/* A text, a list of ids, or a list of these. */
static int make_texts(struct job *j, const struct model *m, struct why *w)
{
	const struct json *v = field(j, "prompt"), *first = v->child;
	int many = v->type == JSON_ARRAY && first && (first->type == JSON_STRING || first->type == JSON_ARRAY);

	if (v->type != JSON_STRING && v->type != JSON_ARRAY)
		return field_bad(j, "prompt", why(w, "prompt: expected a text or a list of ids, not %s",
			json_type_name(v)));
	if (many && v->n * (size_t)j->n > JOB_CHOICES_MAX)
		return field_bad(j, "prompt", why(w, "prompt: more than %d choices", JOB_CHOICES_MAX));
	if (!(j->prompt = calloc(many ? v->n : 1, sizeof *j->prompt)))
		return why(w, "out of memory");
	if (!many)
		return add_prompt(j, m, v, w);
	if (j->kv && v->n > 1)
		return field_bad(j, "kv", why(w, "kv: only with one prompt"));
	for (; first; first = first->next) {
		if (first->type != JSON_STRING && first->type != JSON_ARRAY)
			return field_bad(j, "prompt", why(w, "prompt: expected texts or lists of ids, not %s",
				json_type_name(first)));
		if (add_prompt(j, m, first, w))
			return -1;
	}
	return 0;
}

/* ---- messages ---- */

/* The type of a part if that is not text, or NULL. */
static const char *media_type(const struct json *part)
{
	static const char *const types[] = { "image_url", "image", "input_audio", "audio_url", "audio", "video_url",
		"video", "file" };

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (member_is(part, types[i]))
			return types[i];
	return NULL;
}

/* Refuses what cannot be evaluated: the template may have a mark for it, or leave it out. */
static int check_parts(struct job *j, struct why *w)
{
	size_t number = 1;

	for (const struct json *m = member_first(field(j, "messages")); m; m = m->next, number++) {
		const struct json *content = json_get(m, "content"), *part = member_first(content);
		const char *type = media_type(content);

		for (; part && !type; part = part->next)
			type = media_type(part);
		if (type)
			return field_bad(j, "messages", why(w, "message %zu: parts of type %s are not supported",
				number, type));
	}
	return 0;
}

/* Adds the members that a template reads, as an object in JSON. */
static int add_messages(struct job *j, struct why *w)
{
	static const char *const names[] = { "messages", "tools", "reasoning_effort", NULL };
	const struct json *more = field(j, "chat_template_kwargs"), *v;
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	struct json_writer to = json_to_bytes(&text);
	int failed;

	if (more && more->type != JSON_OBJECT)
		return field_bad(j, "chat_template_kwargs", why(w, "chat_template_kwargs: expected an object, not %s",
			json_type_name(more)));
	json_open(&to, '{');
	for (v = more ? more->child : NULL; v; v = v->next)
		if (strcmp(v->key, "messages"))
			member_copy(&to, v);
	members_copy(&to, j->body, names);
	json_close(&to, '}');
	failed = to.failed ? why(w, "the conversation is too long") : chat_add_json(&j->chat, text.p, text.n, w);
	bytes_free(&text);
	return failed ? field_bad(j, "messages", -1) : 0;
}

/* The conversation and its template. */
static int open_chat(struct job *j, const struct model *m, struct bytes *template, struct why *w)
{
	const struct json *tools = field(j, "tools");
	int continued = 0;

	if (tools && tools->type != JSON_ARRAY)
		return field_bad(j, "tools", why(w, "tools: expected a list, not %s", json_type_name(tools)));
	if (check_parts(j, w) || chat_open(&j->chat, &m->setup, m->vocab, w) || add_messages(j, w)
	    || field_flag(j, "continue_final_message", &continued, w))
		return -1;
	if (continued && chat_continue(&j->chat, w))
		return field_bad(j, "messages", -1);
	return chat_choose(&j->chat, &m->setup, m->gguf, template, w) < 0 ? -1 : 0;
}

/* ---- grammars ---- */

/* The schema that the answer must match: *json, or NULL. */
static int find_schema(struct job *j, const struct json **schema, struct why *w)
{
	static const struct json any = { .type = JSON_OBJECT };
	const struct json *form = field(j, "response_format");
	const char *type = form ? json_get_string(form, "type") : NULL;

	*schema = field(j, "json_schema");
	if (!form)
		return 0;
	if (!type || (strcmp(type, "text") && strcmp(type, "json_object") && strcmp(type, "json_schema")))
		return field_bad(j, "response_format", why(w, "response_format: expected a type: text, json_object or "
			"json_schema"));
	if (!strcmp(type, "text"))
		return 0;
	*schema = json_get(form, "schema");
	if (!strcmp(type, "json_schema") && !*schema)
		*schema = json_get(json_get(form, "json_schema"), "schema");
	if (!*schema && !strcmp(type, "json_schema"))
		return field_bad(j, "response_format", why(w, "response_format: no schema"));
	if (!*schema || (*schema)->type == JSON_NULL)
		*schema = &any;
	return 0;
}

/* The text of a schema; {} stands for any object. */
static int spell_schema(const struct json *schema, struct bytes *to)
{
	struct json_writer json = json_to_bytes(to);

	if (schema->type == JSON_OBJECT && !schema->n)
		return bytes_puts(to, "{\"type\": \"object\"}");
	json_value(&json, schema);
	return json.failed;
}

/* tool_choice: a word, or an object that names the tool. */
static int take_choice(struct job *j, struct rules_wish *wish, struct why *w)
{
	const struct json *v = field(j, "tool_choice");
	const char *name = v && v->type == JSON_OBJECT ? json_get_string(json_get(v, "function"), "name") : NULL;
	int parallel = 1;

	if (field_flag(j, "parallel_tool_calls", &parallel, w))
		return -1;
	wish->one_call = !parallel;
	if (name) {
		wish->choice = RULES_NAMED;
		wish->name = name;
		return 0;
	}
	if (v && (v->type != JSON_STRING || (strcmp(v->s, "auto") && strcmp(v->s, "none") && strcmp(v->s, "required"))))
		return field_bad(j, "tool_choice", why(w, "tool_choice: expected auto, none, required or a function"));
	wish->choice = !v || !strcmp(v->s, "auto") ? RULES_AUTO : !strcmp(v->s, "none") ? RULES_NONE : RULES_REQUIRED;
	return 0;
}

/* The grammar of answers to messages, which may reason and call tools. lenient: see --lenient. */
static int make_rules(struct job *j, const struct model *m, const struct bytes *schema, int lenient,
	struct bytes *grammar, struct why *w)
{
	struct bytes left_out = { .limit = GRAMMAR_TEXT };
	struct rules_wish wish = { .schema = schema, .left_out = schema && !lenient ? NULL : &left_out };
	int tools = tools_any(j->chat.variables), failed;

	if (take_choice(j, &wish, w))
		return -1;
	if (!tools && (wish.choice == RULES_REQUIRED || wish.choice == RULES_NAMED))
		return field_bad(j, "tool_choice", why(w, "tool_choice: there are no tools"));
	if (!tools && !schema)
		return 0;
	failed = learned_grammar(m->lessons, j->learned, j->chat.variables, &j->begun, m->vocab, &wish, grammar, w);
	bytes_free(&left_out);
	/* where the template has no form for calls, the model may still have one */
	if (failed && !schema && (wish.choice == RULES_AUTO || wish.choice == RULES_NONE)) {
		grammar->n = 0;
		return 0;
	}
	return failed ? field_bad(j, schema ? "response_format" : "tools", -1) : 0;
}

/* Appends the grammar, if there is one, to the options. */
static int add_grammar(struct job *j, const struct model *m, struct why *w)
{
	struct bytes grammar = { .limit = GRAMMAR_TEXT }, schema = { .limit = GRAMMAR_TEXT };
	const struct json *own = field(j, "grammar"), *of;
	int failed;

	if (find_schema(j, &of, w))
		return -1;
	if (own && own->type != JSON_STRING)
		return field_bad(j, "grammar", why(w, "grammar: expected a text, not %s", json_type_name(own)));
	if (own && of)
		return field_bad(j, "grammar", why(w, "grammar: not with a schema"));
	if (own && own->n)
		return opts_add(&j->opts, "--grammar", own->s, own->n, w) ? field_bad(j, "grammar", -1) : 0;
	if (!of && j->kind == JOB_CHAT)
		of = m->schema;
	failed = of && spell_schema(of, &schema) ? why(w, "the schema is too long") : 0;
	if (!failed && j->kind == JOB_CHAT)
		failed = make_rules(j, m, of ? &schema : NULL, m->lenient && of == m->schema, &grammar, w);
	else if (!failed && of && schema_grammar(schema.p, schema.n, NULL, &grammar, w))
		failed = field_bad(j, "json_schema", -1);
	if (!failed && grammar.n)
		failed = opts_add(&j->opts, "--grammar", grammar.p, grammar.n, w);
	bytes_free(&schema);
	bytes_free(&grammar);
	return failed;
}

/* ---- all of it ---- */

/* Appends the text for the messages by the template text[n], which has been learned. */
static int render(struct job *j, const char *template, size_t n, struct bytes *text, struct why *w)
{
	return chat_render_parsed(&j->chat, j->learned->template, NULL, text, w) ? chat_explain(template, n, w) : 0;
}

int prompts_render(struct job *j, const struct model *m, struct bytes *text, struct why *w)
{
	struct bytes template = { .limit = CHAT_FILE_MAX };
	int failed = open_chat(j, m, &template, w);

	j->lessons = m->lessons;
	if (!failed && (!(j->learned = learned_find(m->lessons, &j->chat, template.p, template.n, w))
	    || render(j, template.p, template.n, text, w)))
		failed = field_bad(j, "messages", -1);
	bytes_free(&template);
	return failed;
}

/* The ids of the conversation's text, the first of them those that its segment has. */
static int encode_chat(struct job *j, const struct model *m, const struct bytes *text, struct why *w)
{
	struct ids kept = { 0 }, *ids = &j->prompt->ids;
	size_t same = 0;
	int failed;

	kept_read(j, m, &kept);
	failed = kept_match(j, m, &kept, text, &same, w) || ids_append(ids, kept.id, j->had, w)
		|| prompts_encode(m, text->p + same, text->n - same, j->had ? PROMPTS_REST : PROMPTS_PART, ids, w)
		|| check_length(j, m, j->prompt, "messages", w);
	free(kept.id);
	return failed ? -1 : 0;
}

static int make_chat(struct job *j, const struct model *m, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	int failed = prompts_render(j, m, &text, w);

	if (!failed && learn_prompt(&j->chat, j->learned->template, NULL, &text, &j->begun, w))
		failed = field_bad(j, "messages", -1);
	if (!failed && !(j->prompt = calloc(1, sizeof *j->prompt)))
		failed = why(w, "out of memory");
	if (!failed) {
		j->n_prompts = 1;
		failed = encode_chat(j, m, &text, w);
	}
	bytes_free(&text);
	return failed;
}

int prompts_make(struct job *j, const struct model *m, struct why *w)
{
	return (j->kind == JOB_CHAT ? make_chat : make_texts)(j, m, w) || add_grammar(j, m, w) ? -1 : 0;
}
