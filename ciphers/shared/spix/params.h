#define SIMECK_M 32
