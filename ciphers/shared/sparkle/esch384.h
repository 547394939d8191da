/* ESCH384 (Algorithm 2.10) */
#define SPARKLE_BRANCHES 8
#define ESCH_PADDED 1
#define ESCH_FULL 2
