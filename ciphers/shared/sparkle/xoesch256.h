/* XOESCH256: constants confirmed by the known answers only. */
#define SPARKLE_BRANCHES 6
#define ESCH_PADDED 5
#define ESCH_FULL 6
