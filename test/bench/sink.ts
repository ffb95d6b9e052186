// A mail server in a process of its own that takes every mail, counts it and drops it. It speaks with the process that started it:
// says where it listens, then answers 'reset' by counting anew and 'count' with what it has counted.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** First and last: when they arrived, in milliseconds of this process's clock. */
export type MailCount = { mails: number; first: number; last: number }
export type SinkMessage = { port: number } | { count: MailCount }

let count: MailCount = { mails: 0, first: 0, last: 0 }

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, callback) {
    stream.resume()
    stream.on('end', () => {
      const now = performance.now()
      count = { mails: count.mails + 1, first: count.first || now, last: now }
      callback()
    })
  },
})
server.on('error', () => {}) // a client that went away
server.listen(0, '127.0.0.1', () => tell({ port: (server.server.address() as AddressInfo).port }))

process.on('message', (request: 'reset' | 'count') => {
  if (request === 'reset') count = { mails: 0, first: 0, last: 0 }
  tell({ count })
})
process.on('disconnect', () => process.exit())

function tell(message: SinkMessage): void {
  process.send!(message)
}
