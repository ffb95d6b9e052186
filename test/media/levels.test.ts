import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { joinRecording } from '../../src/domain/submissions/media/join-recording.ts'
import {
  decodeLevel,
  encodeLevel,
  findRecordingProblem,
  findSilences,
  LEVEL_MS,
  type MeasureLevels,
} from '../../src/domain/submissions/media/levels.ts'
import { hasFfmpeg } from '../../src/media/ffmpeg.ts'
import { measureLevelsInProcess } from '../../src/media/levels-in-process.ts'
import { remuxInProcess } from '../../src/media/remux-in-process.ts'
import { startProgramsInTest } from '../support/programs.ts'
import { startServiceForTest } from '../support/service.ts'
import { takeAssessment } from '../support/submissions.ts'
import { RECORDED, type Recording, readSlices } from './recordings.ts'

async function makeFolder() {
  const folder = await mkdtemp(path.join(tmpdir(), 'levels-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Joins a fixture and returns the path of the file. */
async function joinFixture(name: Recording) {
  const folder = await makeFolder()
  const [from, to] = [path.join(folder, 'recorded'), path.join(folder, 'joined')]
  await writeFile(from, Buffer.concat(await readSlices(name)))
  await remuxInProcess([from], to)
  return to
}

const levelsOf = (...stretches: [milliseconds: number, peak: number][]) =>
  Uint8Array.from(stretches.flatMap(([length, peak]) => Array<number>(length / LEVEL_MS).fill(encodeLevel(peak))))

describe('levels', () => {
  it.each(['audio', 'video-0', 'firefox-video', 'mp4'] as const)('show when there is sound in Opus: %s', async (name) => {
    const levels = (await measureLevelsInProcess(await joinFixture(name)))!
    expect(Math.abs((levels.length * LEVEL_MS) / 1_000 - RECORDED[name])).toBeLessThan(0.5)
    expect(decodeLevel(Math.max(...levels))).toBeGreaterThan(0.05)
    expect(findSilences(levels)).toEqual([])
  })

  it('follow the beeps of the recording, half a second apart', async () => {
    startProgramsInTest()
    const levels = (await measureLevelsInProcess(await joinFixture('audio')))!
    const beeps = [...levels.keys()].filter((at) => decodeLevel(levels[at]!) > 0.5)
    expect(beeps).toEqual([0, 5, 10, 15, 20, 25])
  })

  it('are measured by ffmpeg for AAC, and unknown where it is not installed', async () => {
    const levels = await measureLevelsInProcess(await joinFixture('webkit-audio'))
    if (!(await hasFfmpeg())) return expect(levels).toBeNull()
    expect(Math.abs((levels!.length * LEVEL_MS) / 1_000 - RECORDED['webkit-audio'])).toBeLessThan(0.5)
    expect(decodeLevel(Math.max(...levels!))).toBeGreaterThan(0.5)
  })

  it('find silences from 2.5 seconds', () => {
    const levels = levelsOf([3_000, 0], [1_000, 0.5], [2_400, 0.01], [1_000, 0.5], [2_500, 0.01])
    expect(findSilences(levels)).toEqual([
      { from: 0, to: 3_000 },
      { from: 7_400, to: 9_900 },
    ])
  })

  it.each<[problem: string | null, ...stretches: [milliseconds: number, peak: number][]]>([
    ['silent', [10_000, 0], [200, 0.9]],
    ['short', [1_500, 0.5]],
    ['quiet', [10_000, 0.03], [100, 0.9]],
    ['clipped', [2_000, 1], [8_000, 0.4]],
    [null, [10_000, 0.3], [500, 1]],
  ])('find the problem of a recording: %s', (problem, ...stretches) => {
    const levels = levelsOf(...stretches)
    expect(findRecordingProblem({ levels, milliseconds: levels.length * LEVEL_MS })).toBe(problem)
  })
})

describe('levels of a recorded answer', () => {
  async function makeComplete(name: Recording = 'audio') {
    const idle = await startServiceForTest({ ROLE: 'api' })
    const candidate = await takeAssessment(idle)
    const mediaId = await candidate.beginAttempt('audio')
    const slices = await readSlices(name)
    for (const [number, slice] of slices.entries()) await candidate.putPart(mediaId, 0, number, slice)
    await candidate.post(`media/${mediaId}/complete`, { segments: [slices.length] })
    const { organizationId, key } = await candidate.media(mediaId)
    const join = (measureLevels: MeasureLevels) =>
      joinRecording(idle.system, { mediaId, organizationId, key }, { remux: remuxInProcess, measureLevels })
    return { idle, join, media: () => candidate.media(mediaId), mediaId }
  }

  it('are stored with the joined recording, and deleted with it', async () => {
    const { idle, join, media, mediaId } = await makeComplete()
    await join(measureLevelsInProcess)
    const { levels, milliseconds, state } = await media()
    expect(state).toBe('ready')
    expect(levels).toHaveLength(Math.ceil(milliseconds! / LEVEL_MS))
    await idle.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'deleted' } })
    expect((await media()).levels).toBeNull()
  })

  it("stay unknown if they can't be measured, and the recording is ready", async () => {
    const { idle, join, media } = await makeComplete()
    await join(() => measureLevelsInProcess('/nowhere'))
    await join(() => Promise.reject(new Error('not reached: it is ready')))
    expect(await media()).toMatchObject({ state: 'ready', levels: null, parts: [] })
    expect(idle.logLines.some((line) => line.includes('the levels of a recording could not be measured'))).toBe(true)
  })
})
