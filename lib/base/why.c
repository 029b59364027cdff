/* The reason of a failure, in one clean line. */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"
#include "visible.h"

void why_clean(char *s)
{
	size_t n = strlen(s);
	unsigned used;

	for (; n; s += used, n -= used) {
		int32_t point = utf8_next(s, n, &used);

		if (point >= 0 && (visible_point(point) != point || visible_disguises(point)))
			memset(s, '?', used);
	}
}

int why(struct why *w, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(w->text, sizeof w->text, format, ap);
	va_end(ap);
	why_clean(w->text);
	return -1;
}

int why_tell(const struct faults *f, const struct why *w)
{
	if (!f)
		return -1;
	f->tell(f->context, w->text);
	return 0;
}

int why_in(struct why *w, const char *prefix)
{
	char old[sizeof w->text];

	memcpy(old, w->text, sizeof old);
	return why(w, "%s: %s", prefix, old);
}
