import { pino } from 'pino'
import { version } from './version.ts'

/** The service's log: JSON lines on standard output, each with the release. Of an error its words and where it arose; what libraries hang on it could tell more. */
export const createLog = (level: string) =>
  pino({
    level,
    base: { version },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  })

function describeError(error: Error & { code?: unknown; cause?: unknown }): object {
  const { name, message, stack, code, cause } = error
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: describeError(cause) }),
  }
}
