import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  port: number
  /** Drops all further data of both sides, but keeps connections open. */
  swallow: () => void
  /** Forwards data again on new connections. Connections that have dropped data stay silent. */
  pass: () => void
  /** Closes each connection as soon as the target responds, so that no response arrives. */
  cutAnswers: () => void
  /** Connects new connections to another target. */
  redirect: (to: Target) => void
  /** Closes all connections, and refuses new ones. */
  cut: () => Promise<void>
  /** Accepts connections again, on the same port. */
  mend: () => Promise<void>
}

type Target = { port: number } | { path: string }

/** Starts a TCP proxy that can simulate network faults. @param to target: a port on loopback or a Unix socket. */
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
      socket.on('error', () => {}) // the close event closes the other side
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
