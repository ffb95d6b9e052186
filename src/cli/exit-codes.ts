export const EXIT_FAILED = 1
export const EXIT_WRONG_USAGE = 2
/** sysexits.h: EX_CONFIG. */
export const EXIT_BAD_CONFIGURATION = 78
