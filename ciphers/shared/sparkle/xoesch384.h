/* XOESCH384: constants confirmed by the known answers only. */
#define SPARKLE_BRANCHES 8
#define ESCH_PADDED 5
#define ESCH_FULL 6
