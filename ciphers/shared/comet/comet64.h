/* COMET-64 as specified. */
#define COMET_BLOCK 8
