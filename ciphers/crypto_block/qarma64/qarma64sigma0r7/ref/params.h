#define SIGMA 0
#define R 7
