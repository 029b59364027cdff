/* Matches a whole text, for schemas whose constants must fit a grammar; tokens are matched by mask.c. */
#include "match.h"

#include "lib/base/size.h"

/* Bytes per operation, so that the work allowed grows with the text. */
enum { BYTES_AT_ONCE = 64 };

int grammar_matches(const struct grammar *g, const char *text, size_t n, struct why *w)
{
	static const uint32_t reach[MATCHER_NEAR];
	struct matcher m;
	struct held_state here;
	size_t at = 0;
	int status;

	if (matcher_open(&m, g, reach, w))
		return -1;
	matcher_hold(&m, &here, matcher_start(&m));
	while (at < n && here.state != STATE_NONE && here.state != STATE_DEAD) {
		size_t some = size_min(n - at, BYTES_AT_ONCE);
		uint32_t next;

		m.steps = 0;
		next = matcher_walk(&m, here.state, text + at, some);
		if (next == STATE_NONE && m.fault == MATCHER_FULL && !matcher_flush(&m))
			next = matcher_walk(&m, here.state, text + at, some);
		here.state = next;
		at += some;
	}
	status = here.state == STATE_NONE ? matcher_why(&m, w) : matcher_ends(&m, here.state);
	matcher_close(&m);
	return status;
}
