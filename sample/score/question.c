/* Reading questions in the layouts of several data sets. */
#include "question.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static const char *text_of(const struct json *line, const char *key, struct why *w)
{
	const char *s = json_get_string(line, key);

	if (!s)
		why(w, "\"%s\" is not a string", key);
	return s;
}

/* The parts, up to the first NULL, joined. */
static char *join(struct arena *a, const char *const part[5], struct why *w)
{
	size_t n = 0, at = 0;
	char *s;

	for (int i = 0; i < 5 && part[i]; i++)
		n += strlen(part[i]);
	if (!(s = arena_text(a, n + 1))) {
		why(w, "out of memory");
		return NULL;
	}
	*s = '\0';
	for (int i = 0; i < 5 && part[i]; i++)
		at += strlen(strcpy(s + at, part[i]));
	return s;
}

/* Room for n choices. */
static int begin_choices(struct question *q, struct arena *a, size_t n, struct why *w)
{
	if (!n || n > QUESTION_CHOICES)
		return why(w, "%zu choices, not 1 to %d", n, QUESTION_CHOICES);
	q->choice = arena_array(a, n, sizeof *q->choice);
	return q->choice ? 0 : why(w, "out of memory");
}

/* The next choice, after `before`. The text is borrowed. */
static int add_choice(struct question *q, struct arena *a, const char *before, const char *text, struct why *w)
{
	if (!*text)
		return why(w, "choice %zu is empty", q->n + 1);
	q->choice[q->n] = *before ? join(a, (const char *[5]){ before, text }, w) : text;
	return q->choice[q->n++] ? 0 : -1;
}

/* ---- answers ---- */

/* The member that counts choices from `first`; it may be missing, null or "". */
static int read_answer(struct question *q, const struct json *line, const char *key, int64_t first, struct why *w)
{
	const struct json *v = json_get(line, key);
	int64_t number = -1;

	q->answer = -1;
	if (!v || v->type == JSON_NULL || (v->type == JSON_STRING && !v->n))
		return 0;
	if (v->type == JSON_INT)
		number = v->i;
	else if (v->type == JSON_STRING && v->n < 5 && strspn(v->s, "0123456789") == v->n)
		number = strtol(v->s, NULL, 10);
	if (number < first || number - first >= (int64_t)q->n)
		return why(w, "\"%s\" is not the number of a choice, from %" PRId64, key, first);
	q->answer = number - first;
	return 0;
}

/* ---- the layouts ---- */

/* Our own. */
static int read_plain(struct question *q, struct arena *a, const struct json *line, struct why *w)
{
	const struct json *choices = json_get(line, "choices"), *after = json_get(line, "after");
	size_t n;
	int single;

	if (!(q->context = text_of(line, "context", w)))
		return -1;
	if (!choices)
		return why(w, "no \"choices\"");
	if (choices->type != JSON_STRING && choices->type != JSON_ARRAY)
		return why(w, "\"choices\" is %s, not a string or an array", json_type_name(choices));
	if (after && !(q->after = text_of(line, "after", w)))
		return -1;
	single = choices->type == JSON_STRING;
	n = single ? 1 : choices->n;
	if (begin_choices(q, a, n, w) < 0)
		return -1;
	for (const struct json *v = single ? choices : choices->child; q->n < n; v = v->next) {
		if (v->type != JSON_STRING)
			return why(w, "\"choices\" has %s, not only strings", json_type_name(v));
		if (add_choice(q, a, "", v->s, w) < 0)
			return -1;
	}
	return read_answer(q, line, "answer", 0, w);
}

/* Texts of HellaSwag without what is left of their web pages: "[title]" ends a sentence, other brackets go with what is
 * in them. */
static char *tidy(char *s)
{
	size_t n, to = 0;

	s += strspn(s, " \t\n\r");
	for (n = strlen(s); n && strchr(" \t\n\r", s[n - 1]); n--)
		;
	s[n] = '\0';
	for (char *p = s; *p; ) {
		size_t inside = *p == '[' ? strcspn(p, "]\n") : 0;

		if (!strncmp(p, " [title]", 8)) {
			s[to++] = '.';
			s[to++] = ' ';
			p += 8;
		} else if (inside && p[inside] == ']') {
			p += inside + 1;
		} else {
			s[to++] = *p++;
		}
	}
	s[n = to] = '\0';
	to = 0;
	for (size_t i = 0; i < n; i++) {
		i += s[i] == ' ' && s[i + 1] == ' ';
		s[to++] = s[i];
	}
	s[to] = '\0';
	return s;
}

/* The second part of a context begins a sentence. */
static void capitalise(char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (i ? s[i] >= 'A' && s[i] <= 'Z' : s[i] >= 'a' && s[i] <= 'z')
			s[i] ^= 'a' ^ 'A';
}

static int read_hellaswag(struct question *q, struct arena *a, const struct json *line, struct why *w)
{
	const struct json *endings = json_get(line, "endings");
	const char *label = json_get_string(line, "activity_label"), *begin = json_get_string(line, "ctx_a");
	const char *last = json_get_string(line, "ctx_b");
	char *end = NULL, *text;

	if (!begin && !(begin = text_of(line, "ctx", w)))
		return -1;
	if (json_get_string(line, "ctx_a") && last && !(end = join(a, (const char *[5]){ last }, w)))
		return -1;
	if (end)
		capitalise(end);
	text = join(a, (const char *[5]){ label ? label : "", label ? ": " : "", begin, end ? " " : NULL, end }, w);
	if (!text)
		return -1;
	q->context = tidy(text);
	if (endings->type != JSON_ARRAY)
		return why(w, "\"endings\" is %s, not an array", json_type_name(endings));
	if (begin_choices(q, a, endings->n, w) < 0)
		return -1;
	for (const struct json *v = endings->child; v; v = v->next) {
		if (v->type != JSON_STRING)
			return why(w, "\"endings\" has %s, not only strings", json_type_name(v));
		if (!(text = join(a, (const char *[5]){ v->s }, w)) || add_choice(q, a, " ", tidy(text), w) < 0)
			return -1;
	}
	return read_answer(q, line, "label", 0, w);
}

static int read_winogrande(struct question *q, struct arena *a, const struct json *line, struct why *w)
{
	const char *sentence = text_of(line, "sentence", w), *gap, *option[2];
	char *context;

	if (!sentence || !(option[0] = text_of(line, "option1", w)) || !(option[1] = text_of(line, "option2", w))
	    || begin_choices(q, a, 2, w) < 0 || add_choice(q, a, "", option[0], w) < 0
	    || add_choice(q, a, "", option[1], w) < 0)
		return -1;
	if (!(gap = strchr(sentence, '_')))
		return why(w, "\"sentence\" has no _");
	if (!(context = join(a, (const char *[5]){ sentence }, w)))
		return -1;
	context[gap - sentence] = '\0';
	q->context = context;
	q->after = gap + 1;
	return read_answer(q, line, "answer", 1, w);
}

/* One of ARC's choices and its label. */
static int add_labelled(struct question *q, struct arena *a, const struct json *text, const struct json *label,
	const char *answer, struct why *w)
{
	if (!text || text->type != JSON_STRING || !label || label->type != JSON_STRING)
		return why(w, "choice %zu: no text and label", q->n + 1);
	if (answer && !strcmp(answer, label->s))
		q->answer = (int64_t)q->n;
	return add_choice(q, a, " ", text->s, w);
}

/* "choices" is an object of two arrays (Hugging Face), or an array of objects within "question" (the authors). */
static int read_arc(struct question *q, struct arena *a, const struct json *line, struct why *w)
{
	const struct json *question = json_get(line, "question");
	const struct json *choices = json_get(question->type == JSON_OBJECT ? question : line, "choices");
	const struct json *text = json_get(choices, "text"), *label = json_get(choices, "label");
	const struct json *key = json_get(line, "answerKey");
	const char *answer = json_get_string(line, "answerKey");
	int paired = text != NULL, status;

	if (!choices || (paired ? text->type != JSON_ARRAY || !label || label->type != JSON_ARRAY
		|| label->n != text->n : choices->type != JSON_ARRAY))
		return why(w, "\"choices\" has no texts and labels");
	q->context = question->type == JSON_OBJECT ? text_of(question, "stem", w) : text_of(line, "question", w);
	if (!q->context || !(q->context = join(a, (const char *[5]){ "Question: ", q->context, "\nAnswer:" }, w))
	    || begin_choices(q, a, paired ? text->n : choices->n, w) < 0)
		return -1;
	q->answer = -1;
	text = paired ? text->child : choices->child;
	label = paired ? label->child : NULL;
	for (; text; text = text->next, label = paired ? label->next : NULL) {
		status = paired ? add_labelled(q, a, text, label, answer, w)
			: add_labelled(q, a, json_get(text, "text"), json_get(text, "label"), answer, w);
		if (status < 0)
			return -1;
	}
	if (!key || key->type == JSON_NULL || (answer && !*answer) || q->answer >= 0)
		return 0;
	return why(w, "\"answerKey\" is not the label of a choice");
}

/* The rest of this file takes texts for C strings. */
static int has_nul(const struct json *v)
{
	if (v->type == JSON_STRING)
		return strlen(v->s) != v->n;
	for (v = v->child; v; v = v->next)
		if (has_nul(v))
			return 1;
	return 0;
}

int question_read(struct question *q, struct arena *a, const struct json *line, struct why *w)
{
	/* By the member that tells a layout from those after it. */
	static const struct {
		const char *member;
		int (*read)(struct question *q, struct arena *a, const struct json *line, struct why *w);
	} layouts[] = {
		{ "endings", read_hellaswag }, { "option1", read_winogrande }, { "question", read_arc }
	};

	*q = (struct question){ .n = 0 };
	if (has_nul(line))
		return why(w, "a text contains a NUL");
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (json_get(line, layouts[i].member))
			return layouts[i].read(q, a, line, w);
	return read_plain(q, a, line, w);
}
