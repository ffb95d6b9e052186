import type { ServiceProcess } from './processes.ts'
import { waitUntil } from './wait-until.ts'

/** Arguments that start the service with an inspector on a free port of loopback. */
export const INSPECTED = ['--inspect=127.0.0.1:0', 'src/server.ts']

/**
 * Measures the heap of a process in megabytes, after a garbage collection. The process's memory as the system counts it is less precise: it
 * includes garbage and freed memory that the allocator keeps.
 */
export async function measureLiveHeap(service: ServiceProcess): Promise<number> {
  const address = await waitUntil('the inspector', () => /Debugger listening on (ws:\S+)/.exec(service.output())?.[1])
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const ask = (id: number, method: string) =>
    new Promise<{ usedSize: number }>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const answer = JSON.parse(String(data))
        if (answer.id === id) resolve(answer.result)
      })
      socket.send(JSON.stringify({ id, method }))
    })
  await ask(1, 'HeapProfiler.collectGarbage')
  const { usedSize } = await ask(2, 'Runtime.getHeapUsage')
  socket.close()
  return usedSize / 1e6
}
