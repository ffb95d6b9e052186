import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

/** Debian's path. */
const FFMPEG = '/usr/bin/ffmpeg'
export const isFfmpegInstalled = existsSync(FFMPEG)

/** ffmpeg's errors when decoding the whole file; empty if there are none, or no ffmpeg. */
export async function findComplaints(file: string): Promise<string> {
  if (!isFfmpegInstalled) return ''
  // Times as they are in the file: pictures that came at uneven times, rounded to a rate, would be two at one time.
  const asTimed = ['-fps_mode', 'passthrough', '-enc_time_base', '-1']
  const { stderr } = await promisify(execFile)(FFMPEG, ['-nostdin', '-v', 'error', '-i', file, ...asTimed, '-f', 'null', '-'])
  return stderr
}

/** A WebM file with so many seconds of a tone. */
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
