import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

/** Where Debian installs it. */
const FFMPEG = '/usr/bin/ffmpeg'
export const isFfmpegInstalled = existsSync(FFMPEG)

/** What ffmpeg complains of when it decodes all of a file; empty where it is whole, and where there is no ffmpeg. */
export async function findComplaints(file: string): Promise<string> {
  if (!isFfmpegInstalled) return ''
  const { stderr } = await promisify(execFile)(FFMPEG, ['-nostdin', '-v', 'error', '-i', file, '-f', 'null', '-'])
  return stderr
}
