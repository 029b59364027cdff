/* half: 16-bit floats. Conversions round to nearest, ties to even; a NaN stays a NaN. */
#ifndef HALF_H
#define HALF_H

#include <stdint.h>

float f16_to_f32(uint16_t h);   /* IEEE half precision */
uint16_t f32_to_f16(float f);
float bf16_to_f32(uint16_t h);

#endif
