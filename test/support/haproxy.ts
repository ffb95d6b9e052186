import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

/** HAProxy's statistics of a server, or of all servers (`BACKEND`), by column. */
export type Statistics = Record<string, string>

/**
 * Starts HAProxy in front of servers on these ports, with its default checks: every 2 s, down after three failures, up after two successes. It
 * stops with the test.
 *
 * @param ports by the servers' names.
 */
export async function startHaproxy(ports: Record<string, number>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-haproxy-'))
  const [port, control] = [await findFreePort(), path.join(folder, 'control.sock')]
  const servers = Object.entries(ports).map(([name, port]) => `  server ${name} 127.0.0.1:${port} check`)
  const configuration = `
global
  stats socket ${control}
defaults
  mode http
  timeout connect 30s
  timeout client 120s
  timeout server 120s
listen service
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
${servers.join('\n')}
`
  await writeFile(path.join(folder, 'haproxy.cfg'), configuration)
  const child = spawn('haproxy', ['-db', '-f', path.join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true })
  })
  const read = async (name: string) => (await readStatistics(control)).find(({ svname }) => svname === name)
  await waitUntil('haproxy', async () => (await read('BACKEND').catch(() => undefined)) && true)
  return {
    url: `http://127.0.0.1:${port}`,
    read,
    /** Waits until HAProxy sees all of these servers in this state. */
    waitFor: (status: 'UP' | 'DOWN', names: string[]) =>
      waitUntil(`${names} ${status}`, async () => {
        const states = await Promise.all(names.map(async (name) => (await read(name))?.status))
        return states.every((state) => state === status) || undefined
      }),
  }
}

async function readStatistics(control: string): Promise<Statistics[]> {
  const socket = connect(control)
  socket.end('show stat\n')
  const [heading = '', ...lines] = (await text(socket)).trim().split('\n')
  const names = heading.replace(/^# /, '').split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, column) => [names[column]!, value])))
}
