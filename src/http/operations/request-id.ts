import type { IncomingMessage } from 'node:http'

const ACCEPTED = /^(?!.*ak_(live|test)_)[\w.-]{1,64}$/

/** The client's own X-Request-Id when it is harmless in a log line, and not a key sent by mistake; else a new one. */
export const requestId =
  (newId: () => string) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
    const given = headers['x-request-id']
    return typeof given === 'string' && ACCEPTED.test(given) ? given : newId()
  }
