/* why: the reason of a failure. Library code never prints and never exits. A function that can fail takes a struct why
 * as its last argument, returns -1 or NULL, and stores one line without a newline: the object and the cause ("m.gguf:
 * tensor blk.3.attn_q.weight: offset past the end of the file"). main prints it after the program's name. */
#ifndef WHY_H
#define WHY_H

struct why {
	char text[512];
};

/* Formats the reason into w and returns -1, so that a failing function ends in `return why(w, ...)`. Control characters
 * (names come from untrusted files) become '?'. */
int why(struct why *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before what is already there; returns -1. */
int why_in(struct why *w, const char *prefix);

/* For a caller that wants all faults, not only the first: each is reported to tell(), and the faulty item is skipped or
 * replaced by something that must not be used. */
struct faults {
	void (*tell)(void *context, const char *reason);
	void *context;
};

/* Reports the fault and returns 0. If f is NULL, returns -1, so that the first fault is fatal. */
int why_tell(const struct faults *f, const struct why *w);

/* Replaces control characters by '?'. */
void why_clean(char *text);

#endif
