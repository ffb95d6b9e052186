import { type LogFn, type Logger, pino } from 'pino'
import { readLogFields } from '../domain/concurrency/tracing.ts'
import { LOG_EVENTS } from '../domain/ports/log-events.ts'
import { version } from './version.ts'

/** The token of a link, as it stands in an address. Of what our own lines hold nothing looks like it. */
const TOKEN_IN_ADDRESS = /\/[\w-]{43,}(?=[/?"\\\s]|$)/g

/** The service's log: JSON lines on standard output, each with the release, its event, and the trace and job that it belongs to. Of an error its words and where it arose; what libraries hang on it could tell more. */
export const createLog = (level: string) =>
  pino({
    level,
    base: { version },
    mixin: readLogFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    // A library's error may name the address of a request, which opens a candidate's pages for whoever reads it.
    hooks: { streamWrite: (line) => line.replace(TOKEN_IN_ADDRESS, '/[token]'), logMethod: logWithEvent },
  })

const EVENTS: Record<string, string> = LOG_EVENTS

/** What a library says has no event, nor has what is said of settings. */
function logWithEvent(this: Logger, given: Parameters<LogFn>, write: LogFn): void {
  const [fields, message] = (typeof given[0] === 'string' ? [{}, ...given] : given) as [object, string | undefined]
  const event = EVENTS[message ?? '']
  if (event === undefined) write.apply(this, given)
  else write.call(this, { event, ...fields }, message)
}

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
