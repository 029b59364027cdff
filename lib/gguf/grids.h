/* grids: the codebooks of the IQ1, IQ2 and IQ3 types: an index chooses a row, eight codes (four of IQ3), one in each
 * byte, the first lowest. Codes of IQ2 and IQ3 are magnitudes; signs are stored apart. */
#ifndef GRIDS_H
#define GRIDS_H

#include <stdint.h>

enum { GRID_IQ1_BIAS = 16 };    /* added to each code of grids.iq1, which are -8, 0 and 8 */

/* One object, so that vector units may load the bytes around a row of any of them: up to GRID_MARGIN on both sides. */
enum { GRID_MARGIN = 64 };

extern const struct grids {
	unsigned char before[GRID_MARGIN];
	uint64_t iq2_xxs[256], iq2_xs[512], iq2_s[1024], iq1[2048];
	uint32_t iq3_xxs[256], iq3_s[512];
	unsigned char after[GRID_MARGIN];
} grids;

#endif
