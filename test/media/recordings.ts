import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

// MediaRecorder's output from artificial devices, in slices of one or two seconds, named `<name>.<number>`. From Chromium, unless the name says
// otherwise. None has a duration. The two stopped recordings of WebKit have one slice each.

/** Recorded seconds. */
export const RECORDED = {
  'video-0': 4,
  'video-1': 2,
  audio: 3,
  mp4: 3,
  'firefox-audio': 3,
  'firefox-video': 3,
  'webkit-audio': 4.8,
  'webkit-stopped-1': 9.27,
  'webkit-stopped-2': 4.95,
}
export type Recording = keyof typeof RECORDED
export const RECORDINGS = Object.keys(RECORDED) as Recording[]

const folder = path.join(import.meta.dirname, 'fixtures')

/** Reads the slices in order. */
export async function readSlices(name: Recording): Promise<Buffer[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}.`)).sort()
  return Promise.all(files.map((file) => readFile(path.join(folder, file))))
}
