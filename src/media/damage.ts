/** System errors that only a damaged recording causes. */
const DAMAGE_ERRORS = ['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERANGE']

/** True if the recording is at fault, and not the system. */
export const isDamage = (error: unknown): boolean =>
  !(error instanceof Error && 'syscall' in error && 'code' in error && !DAMAGE_ERRORS.includes(String(error.code)))
