#define SIMECK_M 24
