import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

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

/**
 * Has ffmpeg write the pictures and sounds of a file into another, as they are. Its memory and its time on a processor are limited as those
 * of the process that calls it; it is ended after a minute.
 *
 * @param maxBytes what the other file is ended at.
 * @returns whether there is another file now.
 */
export async function copyByFfmpeg(from: string, to: string, format: 'webm' | 'mp4', maxBytes: number): Promise<boolean> {
  const demuxer = format === 'webm' ? 'matroska' : 'mov'
  const input = [...NO_OTHERS, '-f', demuxer, '-i', `file:${from}`]
  const tracks = ['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy']
  const output = ['-fs', String(maxBytes), '-f', format, '-y', `file:${to}`]
  const given = [...QUIET, ...input, ...tracks, ...output]
  return run('ffmpeg', given, { env: { PATH }, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 }).then(
    () => true,
    () => false,
  )
}
