import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

/** Debian's path. */
const FFMPEG = '/usr/bin/ffmpeg'
export const isFfmpegInstalled = existsSync(FFMPEG)

/** Decodes the whole file with ffmpeg. @returns its errors; an empty string if there are none or ffmpeg is not installed. */
export async function findComplaints(file: string): Promise<string> {
  if (!isFfmpegInstalled) return ''
  // Keep the timestamps of the file. Rounded to a frame rate, two frames at irregular times could get the same timestamp.
  const asTimed = ['-fps_mode', 'passthrough', '-enc_time_base', '-1']
  const { stderr } = await promisify(execFile)(FFMPEG, ['-nostdin', '-v', 'error', '-i', file, ...asTimed, '-f', 'null', '-'])
  return stderr
}

/** Creates a WebM file with a tone of this many seconds. */
export async function makeSound(seconds: number): Promise<Buffer> {
  const tone = [
    '-f',
    'lavfi',
    '-i',
    `sine=frequency=440:duration=${seconds}`,
    '-c:a',
    'libopus',
    '-b:a',
    '32k',
    '-f',
    'webm',
    '-',
  ]
  const { stdout } = await promisify(execFile)(FFMPEG, ['-nostdin', '-v', 'error', ...tone], {
    encoding: 'buffer',
    maxBuffer: 64_000_000,
  })
  return stdout
}
