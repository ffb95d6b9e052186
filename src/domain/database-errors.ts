/** Apart from errors.ts, so that child processes can throw domain errors without loading the database's client. */
export { isDatabaseBusy, isDatabaseUnavailable } from '../db/errors.ts'
