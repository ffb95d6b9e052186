import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  port: number
  /** From now on swallows what either side sends; connections stay open. */
  swallow: () => void
  /** From now on lets it through again, on new connections; those that swallowed stay as they are. */
  pass: () => void
  /** From now on answers do not come back: the connection breaks as soon as there is one. */
  cutAnswers: () => void
  /** From now on new connections lead there. */
  redirect: (to: Target) => void
  /** Breaks all connections, and refuses new ones. */
  cut: () => Promise<void>
  /** Takes connections again, on the same port. */
  mend: () => Promise<void>
}

type Target = { port: number } | { path: string }

/** A connection that can go bad: passes bytes on to `target`, a port on loopback or a unix socket, until told otherwise. */
export async function startTcpProxy(to: Target): Promise<TcpProxy> {
  let target = to
  let mode: 'pass' | 'swallow' | 'cut' = 'pass'
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = 'port' in target ? connect(target.port, '127.0.0.1') : connect(target.path)
    let swallows = false
    const swallowsNow = () => {
      swallows ||= mode === 'swallow'
      return swallows
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}) // the other side is told by close
      socket.on('close', () => {
        sockets.delete(socket)
        if (!swallows) for (const other of [client, upstream]) other.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (!swallowsNow()) upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (mode === 'cut') client.destroy()
      else if (!swallowsNow()) client.write(bytes)
    })
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    swallow: () => {
      mode = 'swallow'
    },
    pass: () => {
      mode = 'pass'
    },
    cutAnswers: () => {
      mode = 'cut'
    },
    redirect(to) {
      target = to
    },
    async cut() {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    mend: () => listen(port),
  }
}
