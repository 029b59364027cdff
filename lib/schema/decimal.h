/* decimal: numbers of a schema as their digits, so that none is rounded. Private to lib/schema. */
#ifndef SCHEMA_DECIMAL_H
#define SCHEMA_DECIMAL_H

#include "lib/base/json.h"

enum { DECIMAL_WHOLE = 24, DECIMAL_FRACTION = 40 };

struct decimal {                        /* digit[0..whole) . digit[whole..whole + fraction), no zeros at either end */
	int negative;                   /* not for 0 */
	int whole, fraction;            /* numbers of digits */
	char digit[DECIMAL_WHOLE + DECIMAL_FRACTION];   /* each from 0 to 9 */
};

/* The value of a JSON number; one of more than DECIMAL_WHOLE digits before the point becomes the largest there is.
 * -1: it has too many digits after the point. */
int decimal_read(struct decimal *d, const struct json *v);

struct decimal decimal_of(const char *digits);          /* of a whole number, at least 0 */

int decimal_is_zero(const struct decimal *d);
int decimal_compare(const struct decimal *a, const struct decimal *b);  /* <0, 0, >0 */

/* Adds sign * 10^-place to a number that is not negative; what would be negative becomes 0. */
void decimal_step(struct decimal *d, int place, int sign);

#endif
