/* Oribatida-256-64 (Table 1 of the specification) */
#define SIMP_N 32
#define MASKBYTES 8
