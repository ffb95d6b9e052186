import { type ChildProcess, execFile } from 'node:child_process'
import { stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { limitProcess } from '../processes/limit-process.ts'

const run = promisify(execFile)
/** Where the system's programs are: nothing else of the environment is told. */
const PATH = process.env.PATH ?? '/usr/bin:/bin'
const QUIET = ['-nostdin', '-v', 'error', '-threads', '1']
/** It reads the file that it is given, and nothing that a playlist or a reference in it might name. */
const NO_OTHERS = ['-protocol_whitelist', 'file']
const LIMIT_MS = 60_000

/** Whether ffmpeg is installed. */
export const hasFfmpeg = (): Promise<boolean> =>
  run('ffmpeg', ['-version'], { env: { PATH } }).then(
    () => true,
    () => false,
  )

/** Beyond what it has when it begins: it copies, and holds some seconds at a time. */
const LIMITS = { bytes: 128_000_000, cpuSeconds: LIMIT_MS / 1_000 }

/** The codes that it ends with where the disk takes no more: 256 less the system's, ENOSPC and EDQUOT. */
const NO_SPACE: unknown[] = [228, 134]

/**
 * Has ffmpeg write the pictures and sounds of a file into another, as they are. It is ended after a minute, and when it uses more memory than
 * copying takes: by the system or, where that limits nobody, by looking at it.
 *
 * @param maxBytes what the other file is ended at.
 * @returns whether there is another file now. @throws Error of the system's where the disk does not take it: that is no fault of the file.
 */
export async function copyByFfmpeg(from: string, to: string, format: 'webm' | 'mp4', maxBytes: number): Promise<boolean> {
  const demuxer = format === 'webm' ? 'matroska' : 'mov'
  const input = [...NO_OTHERS, '-f', demuxer, '-i', `file:${from}`]
  const tracks = ['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy']
  const output = ['-fs', String(maxBytes), '-f', format, '-y', `file:${to}`]
  const code = await runLimited([...QUIET, ...input, ...tracks, ...output])
  if (NO_SPACE.includes(code) || !(await hasRoom(to, code === 0 ? 1 : maxBytes))) throw noSpace()
  return code === 0
}

/** @returns the code that it ends with, null where it was ended. */
async function runLimited(given: string[]): Promise<unknown> {
  const running = run('ffmpeg', given, { env: { PATH }, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 })
  const { child } = running
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end) // nobody would end it then
  const watching = watch(child)
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

const watch = async ({ pid }: ChildProcess) => (pid === undefined ? undefined : limitProcess(pid, LIMITS))

/** Whether the disk takes so much for the file, with what it has taken. */
async function hasRoom(file: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(path.dirname(file))
  const taken = await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
  return bavail * bsize >= Math.max(bytes - taken, 1)
}

const noSpace = (): Error =>
  Object.assign(new Error('The disk has no room for what ffmpeg writes'), { syscall: 'write', code: 'ENOSPC' })
