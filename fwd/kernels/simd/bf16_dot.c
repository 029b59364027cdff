/* bf16_dot: bf16.c with products of pairs. */
#define DOT 1
#include "bf16.c"
