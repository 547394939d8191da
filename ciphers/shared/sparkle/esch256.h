/* ESCH256 (Algorithm 2.9) */
#define SPARKLE_BRANCHES 6
#define ESCH_PADDED 1
#define ESCH_FULL 2
