/* COMET-128 as the submission's code, and its known answers, have it. */
#define COMET_BLOCK 16
#define COMET_SUBMITTED
