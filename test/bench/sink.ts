// A mail server and a receiver of webhooks, in a process of its own, that take everything, count it and drop it. It speaks with the process that started it:
// says where it listens, then answers 'reset' by counting anew and 'count' with what it has counted.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** First and last: when they arrived, in milliseconds of this process's clock. */
export type SinkCount = { mails: number; first: number; last: number; hooks: number }
export type SinkMessage = { port: number; hooksPort: number } | { count: SinkCount }

const NOTHING: SinkCount = { mails: 0, first: 0, last: 0, hooks: 0 }
let count = NOTHING

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, callback) {
    stream.resume()
    stream.on('end', () => {
      const now = performance.now()
      count = { ...count, mails: count.mails + 1, first: count.first || now, last: now }
      callback()
    })
  },
})
server.on('error', () => {}) // a client that went away
const hooks = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    count = { ...count, hooks: count.hooks + 1 }
    response.end()
  })
})
server.listen(0, '127.0.0.1', () =>
  hooks.listen(0, '127.0.0.1', () =>
    tell({ port: (server.server.address() as AddressInfo).port, hooksPort: (hooks.address() as AddressInfo).port }),
  ),
)

process.on('message', (request: 'reset' | 'count') => {
  if (request === 'reset') count = NOTHING
  tell({ count })
})
process.on('disconnect', () => process.exit())

function tell(message: SinkMessage): void {
  process.send!(message)
}
