import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Payload of each of many concurrent connections: this many bytes after its head, in which `#` is its number. */
export type Flood = { port: number; head: string; count: number; bytes: number; stayMs: number }

// A program of its own: whoever attacks must not hold up whoever measures. Its only argument is a Flood. It prints how often which
// status was answered, and 0 for no answer; and, to its standard error, how much of a processor's time it has taken.
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
