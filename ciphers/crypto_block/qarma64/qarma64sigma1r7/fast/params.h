#define SIGMA 1
#define R 7
