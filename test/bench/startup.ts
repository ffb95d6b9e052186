import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../support/free-port.ts'
import { atTheEnd } from './endings.ts'
import { judge, type Result } from './measure.ts'
import { answers, stopProcess } from './rivals.ts'

/** The case's name. */
export const STARTUP = 'npm start'
const ROOT = path.join(import.meta.dirname, '../..')
const STARTS_WITHIN_MS = 60_000

/** How long `npm start` takes until it answers: with a new data folder, and with the same once more. No service runs beside. */
export async function measureStartup(): Promise<Result> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-start-'))
  atTheEnd('the data folder', () => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755) // under root the server is another user's
  const fresh = await start(dataDir)
  const warm = await start(dataDir)
  const checks = [
    { what: 'new data folder, s', value: fresh, ...judge(fresh, { atMost: 4 }) },
    { what: 'the same once more, s', value: warm, ...judge(warm, { atMost: 2 }) },
  ]
  return { name: STARTUP, variants: [], checks }
}

async function start(dataDir: string): Promise<number> {
  const port = await findFreePort()
  const begun = performance.now()
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), DATA_DIR: dataDir }
  const child = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] })
  atTheEnd(STARTUP, () => stopProcess(child))
  while (!(await answers(`http://127.0.0.1:${port}`))) {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`)
    if (performance.now() - begun > STARTS_WITHIN_MS) throw new Error(`No answer after ${STARTS_WITHIN_MS / 1000} s`)
    await sleep(10)
  }
  const seconds = (performance.now() - begun) / 1000
  await stopProcess(child)
  return seconds
}
