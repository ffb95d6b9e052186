import { type LogFn, type Logger, pino } from 'pino'
import { readLogFields } from '../domain/concurrency/tracing.ts'
import { LOG_EVENTS } from '../domain/ports/log-events.ts'
import { version } from './version.ts'

/** Token of a link in a URL. Nothing else that the service logs matches. */
const TOKEN_IN_ADDRESS = /\/[\w-]{43,}(?=[/?"\\\s]|$)/g

/** JSON lines on standard output, each with the release, event, trace, and job. Errors are reduced to message and stack: libraries attach more data, which may be personal. */
export const createLog = (level: string) =>
  pino({
    level,
    base: { version },
    mixin: readLogFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    // A library's error may contain a request's URL, whose token opens the candidate's pages.
    hooks: { streamWrite: (line) => line.replace(TOKEN_IN_ADDRESS, '/[token]'), logMethod: logWithEvent },
  })

const EVENTS: Record<string, string> = LOG_EVENTS

/** Adds the event of the message. Libraries' messages and messages about settings have none. */
function logWithEvent(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [fields, message] = (typeof args[0] === 'string' ? [{}, ...args] : args) as [object, string | undefined]
  const event = EVENTS[message ?? '']
  if (event === undefined) write.apply(this, args)
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
