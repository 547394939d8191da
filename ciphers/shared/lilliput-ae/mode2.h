/* Lilliput-II */
#define LILLIPUT_TWEAK 16
