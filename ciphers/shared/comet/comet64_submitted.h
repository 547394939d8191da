/* COMET-64 as the submission's code, and its known answers, have it. */
#define COMET_BLOCK 8
#define COMET_SUBMITTED
