/* COMET-128 as specified. */
#define COMET_BLOCK 16
