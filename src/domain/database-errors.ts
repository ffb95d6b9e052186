// Separate from errors.ts, so that child processes can throw domain errors without loading pg and Prisma.
export { isDatabaseBusy, isDatabaseUnavailable } from '../db/errors.ts'
