// A separate process with a mail server and a receiver of webhooks. Both accept everything and discard it. The process sends its parent the
// ports that it listens on.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { SMTPServer } from 'smtp-server'

const mails = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, callback) {
    stream.resume()
    stream.on('end', callback)
  },
})
mails.on('error', () => {}) // a client disconnected
const hooks = createServer((request, response) => request.resume().on('end', () => response.end()))

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

process.send!({ mails: await listen(mails.server), hooks: await listen(hooks) })
process.on('disconnect', () => process.exit())
