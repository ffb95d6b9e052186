import { type ChildProcess, execFile } from 'node:child_process'
import { stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { limitProcess } from '../processes/limit-process.ts'

const run = promisify(execFile)
/** The only variable passed on. */
const PATH = process.env.PATH ?? '/usr/bin:/bin'
const QUIET = ['-nostdin', '-v', 'error', '-threads', '1']
/** Restricts ffmpeg to local files, but not to the input: playlists could name others. */
const LOCAL_FILES_ONLY = ['-protocol_whitelist', 'file']
const LIMIT_MS = 60_000

export const hasFfmpeg = (): Promise<boolean> =>
  run('ffmpeg', ['-version'], { env: { PATH } }).then(
    () => true,
    () => false,
  )

/** Limits beyond the process's initial usage. Copying needs only a few seconds of media in memory. */
const LIMITS = { bytes: 128_000_000, cpuSeconds: LIMIT_MS / 1_000 }

/** ffmpeg's exit codes for ENOSPC and EDQUOT (256 minus errno). */
const NO_SPACE: unknown[] = [228, 134]

/**
 * Copies a file's tracks into another one with ffmpeg, without transcoding. ffmpeg is killed after a minute, or when it exceeds its memory limit.
 *
 * @param maxBytes maximum size of the copy.
 * @returns true if there is a copy. @throws a system error if the disk is full, which is not the file's fault.
 */
export async function copyByFfmpeg(from: string, to: string, format: 'webm' | 'mp4', maxBytes: number): Promise<boolean> {
  const demuxer = format === 'webm' ? 'matroska' : 'mov'
  const input = [...LOCAL_FILES_ONLY, '-f', demuxer, '-i', `file:${from}`]
  const tracks = ['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy']
  const output = ['-fs', String(maxBytes), '-f', format, '-y', `file:${to}`]
  const code = await runLimited([...QUIET, ...input, ...tracks, ...output])
  if (NO_SPACE.includes(code) || !(await hasSpace(to, code === 0 ? 1 : maxBytes))) throw noSpaceError()
  return code === 0
}

/** @returns ffmpeg's exit code; null if it was killed. */
async function runLimited(given: string[]): Promise<unknown> {
  const running = run('ffmpeg', given, { env: { PATH }, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 })
  const { child } = running
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end) // it would outlive this process
  const watching = limitMemory(child)
  try {
    await running
    return 0
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : null
  } finally {
    process.off('exit', end)
    const watched = await watching
    watched?.[Symbol.dispose]()
  }
}

const limitMemory = async ({ pid }: ChildProcess) => (pid === undefined ? undefined : limitProcess(pid, LIMITS))

/** True if the disk can hold `bytes` for this file, counting what it holds already. */
async function hasSpace(file: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(path.dirname(file))
  const taken = await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
  return bavail * bsize >= Math.max(bytes - taken, 1)
}

const noSpaceError = (): Error =>
  Object.assign(new Error('The disk has no room for what ffmpeg writes'), { syscall: 'write', code: 'ENOSPC' })
