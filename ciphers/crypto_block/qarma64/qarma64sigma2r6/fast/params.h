#define SIGMA 2
#define R 6
