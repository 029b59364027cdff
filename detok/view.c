/* What the ways of reading a stream, and the formats, have in common. */
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/out.h"
#include "lib/base/utf8.h"
#include "lib/base/visible.h"

void view_open(struct view *v, const struct vocab *vocab)
{
	v->vocab = vocab;
	if (vocab)
		vocab_card(vocab, &v->mine);
	v->spelled.limit = v->until.text.limit = SIZE_MAX / 2;
}

void view_begin(struct view *v)
{
	if (!v->begun++ && v->format->start)
		v->format->start(v);
}

int view_stream(struct view *v, int fd, const char *name, struct why *w)
{
	return (v->format->token ? view_tokens : view_frames)(v, fd, name, w);
}

void view_close(struct view *v)
{
	until_end(v);
	if (v->format->end)
		v->format->end(v);
	bytes_free(&v->spelled);
	free(v->best.scratch);
	free(v->row);
	free(v->text);
}

void view_kind(const struct frame *f, int padded)
{
	for (int i = 0; i < 32 && (padded || f->kind >> i != ' '); i += 8)
		out_char((char)(f->kind >> i & 255));
}

const char *view_piece(const struct view *v, int32_t id, char buffer[16], size_t *n)
{
	const char *piece = v->vocab ? vocab_piece(v->vocab, id, 1, n) : NULL;

	if (piece)
		return piece;
	*n = (size_t)snprintf(buffer, 16, "<%" PRId32 ">", id);
	return buffer;
}

size_t view_char(const char *s, size_t n, char out[4], size_t *used)
{
	unsigned length;
	int32_t point = utf8_next(s, n, &length);

	*used = length;
	if ((point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point < 0xfdf0) || visible_disguises(point))
		point = UTF8_BAD;
	point = visible_point(point);
	return utf8_put(out, point);
}

int view_level(const struct shown *s)
{
	static const double from[VIEW_LEVELS] = { 0, 2, 4, 7, 10, 13 };
	int level = 0;

	while (s->predicted && level + 1 < VIEW_LEVELS && s->bits >= from[level + 1])
		level++;
	return level;
}
