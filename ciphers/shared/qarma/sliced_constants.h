/* Constants c of the rounds in slices: 0 and 1, 2 and 3; and alpha. */
TABLE(uint32_t) constant[7][2] = {
    { 0x00000000, 0x00000000 },
    { 0x476cf06c, 0x1d00012b },
    { 0x8b98187e, 0x94724012 },
    { 0x3c980a01, 0x5fd718fc },
    { 0x2b8744af, 0x1260c323 },
    { 0xcda2a190, 0xc3357f67 },
    { 0xc291cfd7, 0x6a845d71 }
};
#define ALPHA_LOW 0x2b20076b
#define ALPHA_HIGH 0xb6d391bb
