/* grids: the codebooks of the IQ1, IQ2 and IQ3 types: an index chooses a row, eight codes (four of IQ3), one in each
 * byte, the first lowest. Codes of IQ2 and IQ3 are magnitudes; signs are stored apart. */
#ifndef GRIDS_H
#define GRIDS_H

#include <stdint.h>

enum { GRID_IQ1_BIAS = 16 };    /* added to each code of grid_iq1, which are -8, 0 and 8 */

extern const uint64_t grid_iq2_xxs[256], grid_iq2_xs[512], grid_iq2_s[1024], grid_iq1[2048];
extern const uint32_t grid_iq3_xxs[256], grid_iq3_s[512];

#endif
