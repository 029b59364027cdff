/* Content that is null, a string, a part, or a list of parts, as text: parts are lines. */
#include "content.h"

int content_has_parts(const struct json *content)
{
	return content && (content->type == JSON_ARRAY || content->type == JSON_OBJECT);
}

static int put_part(const struct json *part, struct bytes *out)
{
	const struct json *text = part->type == JSON_OBJECT ? json_get(part, "text") : part;

	return !text || text->type != JSON_STRING || bytes_put(out, text->s, text->n) ? -1 : 0;
}

int content_text(const struct json *content, struct bytes *out)
{
	if (!content || content->type == JSON_NULL)
		return 0;
	if (content->type != JSON_ARRAY)
		return put_part(content, out);
	for (const struct json *part = content->child; part; part = part->next)
		if (put_part(part, out) || (part->next && bytes_put(out, "\n", 1)))
			return -1;
	return 0;
}
