import { type ChildProcess, execFile, spawn } from 'node:child_process'
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

/** The demuxer is named, so that a file that pretends to be another format can't choose one. */
const inputOf = (path: string, format: 'webm' | 'mp4'): string[] => [
  ...LOCAL_FILES_ONLY,
  '-f',
  format === 'webm' ? 'matroska' : 'mov',
  '-i',
  `file:${path}`,
]

/** ffmpeg's exit codes for ENOSPC and EDQUOT (256 minus errno). */
const NO_SPACE: unknown[] = [228, 134]

/**
 * Copies a file's tracks into another one with ffmpeg, without transcoding. ffmpeg is killed after a minute, or when it exceeds its memory limit.
 *
 * @param maxBytes maximum size of the copy.
 * @returns true if there is a copy. @throws a system error if the disk is full, which is not the file's fault.
 */
export async function copyByFfmpeg(from: string, to: string, format: 'webm' | 'mp4', maxBytes: number): Promise<boolean> {
  const input = inputOf(from, format)
  const tracks = ['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy']
  const output = ['-fs', String(maxBytes), '-f', format, '-y', `file:${to}`]
  const code = await runLimited([...QUIET, ...input, ...tracks, ...output])
  if (NO_SPACE.includes(code) || !(await hasSpace(to, code === 0 ? 1 : maxBytes))) throw noSpaceError()
  return code === 0
}

/**
 * Decodes a file's sound to one channel with ffmpeg, in a process that is limited already.
 *
 * @param take receives the samples in order. @returns false if ffmpeg is not installed or can't decode it.
 */
export async function decodeByFfmpeg(
  from: string,
  format: 'webm' | 'mp4',
  rate: number,
  take: (samples: Float32Array) => void,
): Promise<boolean> {
  const input = inputOf(from, format)
  const output = [
    '-map',
    '0:a:0',
    '-af',
    'aresample=async=1:first_pts=0',
    '-ac',
    '1',
    '-ar',
    String(rate),
    '-f',
    'f32le',
    'pipe:1',
  ]
  const child = spawn('ffmpeg', [...QUIET, ...input, ...output], {
    env: { PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const watching = limitMemory(child)
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
  let pending: Buffer = Buffer.alloc(0)
  for await (const piece of child.stdout) {
    const bytes = Buffer.concat([pending, piece])
    const whole = bytes.length - (bytes.length % Float32Array.BYTES_PER_ELEMENT)
    take(new Float32Array(Uint8Array.from(bytes.subarray(0, whole)).buffer))
    pending = bytes.subarray(whole)
  }
  const isDecoded = await ended
  const watched = await watching
  watched?.[Symbol.dispose]()
  return isDecoded
}

/** @returns ffmpeg's exit code; null if it was killed. */
async function runLimited(args: string[]): Promise<unknown> {
  const running = run('ffmpeg', args, { env: { PATH }, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 })
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

const limitMemory = async ({ pid }: Pick<ChildProcess, 'pid'>) => (pid === undefined ? undefined : limitProcess(pid, LIMITS))

/** True if the disk can hold `bytes` for this file, counting what it holds already. */
async function hasSpace(file: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(path.dirname(file))
  const existingBytes = await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
  return bavail * bsize >= Math.max(bytes - existingBytes, 1)
}

const noSpaceError = (): Error =>
  Object.assign(new Error('The disk has no room for what ffmpeg writes'), { syscall: 'write', code: 'ENOSPC' })
