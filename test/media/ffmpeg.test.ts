import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { UnreadableRecording } from '../../src/domain/submissions/media/join-recording.ts'
import { remuxWithin } from '../../src/media/remux-in-process.ts'
import { startPrograms } from '../support/programs.ts'
import { waitUntil } from '../support/wait-until.ts'
import { readSlices } from './recordings.ts'

startPrograms()

const LIMITS = { bytes: 128_000_000, cpuSeconds: 60 }

/**
 * Joins a recording with a program in place of ffmpeg.
 *
 * @param program Node script that gets ffmpeg's arguments. `out` is the output file, `note` a file for notes to the test.
 */
async function joinBy(program: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'ffmpeg-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'segment')
  const note = path.join(folder, 'note')
  const [first] = await readSlices('audio')
  await writeFile(file, first!)
  const names = `const out = process.argv.at(-1).slice(5); const note = ${JSON.stringify(note)}; const fs = require('node:fs')`
  await writeFile(path.join(folder, 'ffmpeg'), `#!${process.execPath}\n${names}\n${program}\n`)
  await chmod(path.join(folder, 'ffmpeg'), 0o755)
  const { PATH } = process.env
  process.env.PATH = folder // without prlimit
  onTestFinished(() => {
    process.env.PATH = PATH
  })
  const joined = remuxWithin(LIMITS, [file], path.join(folder, 'joined'), 'ffmpeg')
  return { joined, note }
}

it("doesn't blame the recording if the disk is full", async () => {
  const { joined } = await joinBy('fs.writeFileSync(out, "some"); process.exit(256 - 28)')
  await expect(joined).rejects.toThrow('no room')
  await expect(joined).rejects.not.toBeInstanceOf(UnreadableRecording)
})

it('is killed if it needs more memory than copying, and another reader joins the recording', async () => {
  const { joined, note } = await joinBy(
    'fs.writeFileSync(note, String(process.pid)); const all = []; setInterval(() => { if (all.length < 40) all.push(Buffer.alloc(10_000_000, 1)) }, 10)',
  )
  expect((await joined).contentType).toBe('audio/webm')
  const pid = Number(await readFile(note, 'utf8'))
  expect(() => process.kill(pid, 0)).toThrow()
})

it('ends with its parent process', async () => {
  const { joined, note } = await joinBy(
    'fs.writeFileSync(note, [process.pid, process.ppid].join(" ")); setInterval(() => {}, 1000)',
  )
  const [pid, parent] = await waitUntil('it to run', async () => {
    const pids = (await readFile(note, 'utf8').catch(() => '')).split(' ').map(Number)
    return pids.length === 2 ? pids : undefined
  })
  process.kill(parent!, 'SIGKILL')
  await expect(joined).rejects.toThrow('SIGKILL')
  await waitUntil('its end', async () => ((await readdir('/proc')).includes(String(pid)) ? undefined : true))
})
