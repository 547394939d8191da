/* Lilliput-I */
#define LILLIPUT_TWEAK 24
