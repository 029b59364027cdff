/* floats: sixteen elements of each float format as floats: the unpackers of weights that are not quantised. */
#ifndef FLOATS_H
#define FLOATS_H

#include "vocabulary.h"

typedef f32x16 float_reader(const uint8_t *p);

INLINE f32x16 floats_f32(const uint8_t *p)
{
	return vf_load((const float *)p);
}

INLINE f32x16 floats_f16(const uint8_t *p)
{
	return vf_load_f16((const uint16_t *)p);
}

INLINE f32x16 floats_bf16(const uint8_t *p)
{
	return vf_load_bf16(p);
}

/* Does a cache line begin with element e, a multiple of sixteen, so that it is prefetched once? size: bytes of an
 * element. */
INLINE int begins_line(size_t size, size_t e)
{
	return size == 4 || e % 32 == 0;
}

#endif
