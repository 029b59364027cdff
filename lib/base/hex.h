/* hex: the value of a hexadecimal digit. */
#ifndef HEX_H
#define HEX_H

/* 0 to 15, or -1 if c is not one; c may be -1. */
static inline int hex_digit(int c)
{
	int low = c | 0x20;

	return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

#endif
