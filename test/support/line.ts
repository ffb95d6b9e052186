import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A line over TCP to the database server, for faults: what is on it can be cut, and made good again. */
export type DatabaseLine = { url: string; cut: () => Promise<void>; mend: () => Promise<void> }

/** A line to that database, mended already unless told otherwise. It ends with the test. */
export async function layDatabaseLine(databaseUrl: string, { mended = true } = {}): Promise<DatabaseLine> {
  const socketPath = path.join(new URL(databaseUrl).searchParams.get('host')!, '.s.PGSQL.5432')
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(socketPath)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      from.on('error', () => {}) // its end is what counts
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  let port = 0
  const mend = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of open) socket.destroy()
    await closed
  }
  await mend()
  if (!mended) await cut()
  onTestFinished(async () => {
    if (server.listening) await cut()
  })
  const url = new URL(databaseUrl)
  url.search = ''
  url.host = `127.0.0.1:${port}`
  return { url: url.href, cut, mend }
}
