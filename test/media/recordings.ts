import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

// What Chromium's MediaRecorder wrote of its artificial camera and microphone, in slices of a second: `<name>.<number>`. Not one of them has
// a length.

/** How long each was recorded, in seconds. */
export const RECORDED = { 'video-0': 4, 'video-1': 2, audio: 3, mp4: 3 }

const folder = path.join(import.meta.dirname, 'fixtures')

/** The slices, in order. */
export async function readSlices(name: keyof typeof RECORDED): Promise<Buffer[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}.`)).sort()
  return Promise.all(files.map((file) => readFile(path.join(folder, file))))
}
