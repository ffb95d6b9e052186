import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import type { Log } from '../../ports/log-events.ts'

/** Longer than joining a recording takes. An older folder, possibly of another machine or container, is abandoned. */
const ABANDONED_MS = 86_400_000
/** Named by the process that works in it. */
const NAME = /^assessment-recording-(?<host>.+)-(?<pid>\d+)-\w{6}$/
const HOST = hostname().replace(/[^\w.-]/g, '')

/** Creates a folder for joining a recording. Removes folders of killed processes first, which could fill the disk. */
export async function makeJoinFolder(log: Log): Promise<string> {
  await removeLeftFolders(log)
  return mkdtemp(path.join(tmpdir(), `assessment-recording-${HOST}-${process.pid}-`))
}

async function removeLeftFolders(log: Log): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = NAME.exec(name)?.groups
    if (!owner) continue
    const folder = path.join(tmpdir(), name)
    try {
      if (await isLeft(folder, owner)) await rm(folder, { recursive: true, force: true })
    } catch (err) {
      if (err instanceof Error && 'code' in err && err.code === 'ENOENT') continue // its process has finished meanwhile
      log.warn({ err, folder }, 'the folder of a killed process cannot be removed')
    }
  }
}

async function isLeft(folder: string, owner: { host?: string; pid?: string }): Promise<boolean> {
  const found = await stat(folder)
  if (found.uid !== process.getuid?.()) return false
  if (owner.host !== HOST) return found.mtimeMs < Date.now() - ABANDONED_MS
  // After a restart in a container another process has the same number.
  if (Number(owner.pid) === process.pid) return found.birthtimeMs < Date.now() - process.uptime() * 1_000
  return !isRunning(Number(owner.pid))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
