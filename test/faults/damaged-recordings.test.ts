import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { UnreadableRecording } from '../../src/domain/submissions/media/join-recording.ts'
import { remuxInProcess } from '../../src/media/remux-in-process.ts'
import { createRandom, damage, split } from '../media/damage.ts'
import { RECORDED, RECORDINGS, readSlices } from '../media/recordings.ts'
import { findComplaints } from '../support/decode.ts'
import { play } from '../support/play.ts'
import { LONG, scaled } from '../support/scale.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'damaged-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Joins a segment. @returns null if the recording is unreadable. Any other error fails the test. */
async function join(name: string, content: Buffer) {
  const file = path.join(folder, name)
  const to = `${file}-joined`
  await writeFile(file, content)
  const joined = await remuxInProcess([file], to).catch((error) => {
    if (error instanceof UnreadableRecording) return null
    throw error
  })
  return joined && { ...joined, to }
}

it.each(RECORDINGS)('joins an undamaged recording of a browser without cuts: %s', async (name) => {
  const joined = (await join(name, Buffer.concat(await readSlices(name))))!
  expect(joined.cuts).toEqual([])
  expect(await findComplaints(joined.to)).toBe('')
  const { duration, canBeSought } = await play(await readFile(joined.to))
  expect(Math.abs(duration! - RECORDED[name])).toBeLessThan(0.5)
  expect(canBeSought).toBe(true)
})

it('leaves a recording unjoined if more than half would be lost, such as frames without their keyframe', async () => {
  const [headers, info, tracks, , ...clusters] = split(Buffer.concat(await readSlices('firefox-video')))
  expect(await join('beheaded', Buffer.concat([headers!, info!, tracks!, ...clusters]))).toBeNull()
})

// TEST_LONG=yes tries 1,000 recordings one after another, so that they don't slow each other down.
it(
  'joins randomly damaged recordings, with or without cuts, or leaves them unjoined',
  async () => {
    const outcomes = { whole: 0, cut: 0, kept: 0 }
    for (let seed = 0; seed < scaled(12, 1_000); seed++) {
      const random = createRandom(seed)
      const name = RECORDINGS[Math.floor(random() * RECORDINGS.length)]!
      const { content, done } = damage(Buffer.concat(await readSlices(name)), random, 1 + Math.floor(random() * 3))
      const joined = await join(`seed-${seed}`, content)
      outcomes[joined ? (joined.cuts.length > 0 ? 'cut' : 'whole') : 'kept']++
      if (!joined) continue
      const what = `${name} of seed ${seed}: ${done}`
      expect((await readFile(joined.to)).length, what).toBe(joined.bytes)
      expect(joined.milliseconds, what).toBeGreaterThan(0)
      expect(
        joined.cuts.filter((cut) => cut < 0 || cut > joined.milliseconds + 1_000),
        what,
      ).toEqual([])
      await rm(joined.to)
    }
    if (LONG) process.stdout.write(`${JSON.stringify(outcomes)}\n`)
    expect(outcomes.whole + outcomes.cut).toBeGreaterThan(outcomes.kept)
  },
  scaled(600_000, 5_400_000),
) // a generous timeout, not a goal: each recording takes a separate process
