/* Oribatida-192-96 (Table 1 of the specification) */
#define SIMP_N 24
#define MASKBYTES 12
