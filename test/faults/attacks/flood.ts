import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Opens `count` connections at once. Each sends its head, with its number in place of `#`, and then this many bytes. */
export type Flood = { port: number; head: string; count: number; bytes: number; stayMs: number }

// The attack runs as a separate process, so that it does not slow down the measurement. Its only argument is a Flood. It prints the number
// of responses by status, with 0 for no response, and its own processor time to standard error.
const { port, head, count, bytes, stayMs }: Flood = JSON.parse(process.argv[2]!)
const body = Buffer.alloc(bytes)

async function send(number: number): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  const closed = once(socket, 'close')
  let text = ''
  socket.on('data', (data) => {
    text ||= String(data)
  })
  socket.write(head.replaceAll('#', String(number)))
  socket.write(body)
  await Promise.race([closed, sleep(stayMs)])
  socket.destroy()
  return text.slice(9, 12) || '0'
}

const statuses = await Promise.all(Array.from({ length: count }, (_, i) => send(i)))
const { user, system } = process.cpuUsage()
process.stderr.write(`${((user + system) / 1e6).toFixed(2)} s`)
process.stdout.write(
  JSON.stringify(Object.entries(Object.groupBy(statuses, (status) => status)).map(([status, all]) => [status, all!.length])),
)
process.exit()
