import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { continueErasure } from '../../src/domain/erasure/continue-erasure.ts'
import { requestErasure } from '../../src/domain/erasure/request-erasure.ts'
import { giveUpRecording, joinRecording, UnreadableRecording } from '../../src/domain/submissions/media/join-recording.ts'
import type { JoinRef } from '../../src/domain/submissions/media/joinable.ts'
import { removeFiles } from '../../src/domain/submissions/media/remove-files.ts'
import { remuxInProcess, remuxWithin } from '../../src/media/remux-in-process.ts'
import { asEraser, listStore } from '../support/erasing.ts'
import { play } from '../support/play.ts'
import { startProgramsInTest } from '../support/programs.ts'
import { type Service, startService, startServiceForFile } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { takeAssessment, webmPart } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'
import { lacedWebm, repeatingMp4 } from './hostile.ts'
import { RECORDED, readSlices } from './recordings.ts'

const service = await startServiceForFile()

type Candidate = Awaited<ReturnType<typeof takeAssessment>>

/** Uploads slices as segments of a recording, and completes it. */
async function record(candidate: Candidate, segments: Buffer[][], kind = 'video'): Promise<string> {
  const mediaId = await candidate.beginAttempt(kind)
  for (const [segment, slices] of segments.entries())
    for (const [number, slice] of slices.entries())
      expect((await candidate.putPart(mediaId, segment, number, slice)).status).toBe(204)
  const complete = await candidate.post(`media/${mediaId}/complete`, { segments: segments.map((slices) => slices.length) })
  expect(complete.status).toBe(202)
  return mediaId
}

const settled = (candidate: Candidate, mediaId: string) =>
  waitUntil('the recording to be joined', async () => {
    const media = await candidate.media(mediaId)
    return media.state === 'joining' || media.parts.length > 0 ? undefined : media
  })

const contentOf = async ({ key }: { key: string }, of = service) => {
  const content = await of.deps.media.get(`${key}/file`)
  return content && buffer(content)
}

describe('a recording', () => {
  it.each([
    ['video-0', 'video', 'video/webm', ['audio', 'video']],
    ['audio', 'audio', 'audio/webm', ['audio']],
    ['mp4', 'video', 'video/mp4', ['audio', 'video']],
    ['firefox-video', 'video', 'video/webm', ['audio', 'video']],
    ['webkit-stopped-1', 'audio', 'audio/mp4', ['audio']],
  ] as const)('becomes a seekable file if it has one segment: %s', async (name, kind, contentType, tracks) => {
    const candidate = await takeAssessment(service)
    const mediaId = await record(candidate, [await readSlices(name)], kind)
    const media = await settled(candidate, mediaId)
    expect(media).toMatchObject({ state: 'ready', contentType, attempts: [{ state: 'complete' }] })
    const content = (await contentOf(media))!
    expect(Number(media.bytes)).toBe(content.length)
    expect((await candidate.submission()).mediaBytes).toBe(media.bytes)
    const played = await play(content)
    expect(played).toMatchObject({ tracks, canBeSought: true })
    expect(Math.abs(played.duration! - RECORDED[name])).toBeLessThan(0.5)
    expect(Math.abs(media.milliseconds! / 1_000 - RECORDED[name])).toBeLessThan(0.5)
  })

  it('becomes one file as long as all its segments if it was interrupted', async () => {
    startProgramsInTest()
    const candidate = await takeAssessment(service)
    const segments = [await readSlices('video-0'), await readSlices('video-1')]
    const media = await settled(candidate, await record(candidate, segments))
    const played = await play((await contentOf(media))!)
    expect(played.canBeSought).toBe(true)
    expect(Math.abs(played.duration! - RECORDED['video-0'] - RECORDED['video-1'])).toBeLessThan(0.5)
    expect(media.cuts).toEqual([])
  })

  it('becomes one file if the camera started later', async () => {
    const candidate = await takeAssessment(service)
    const media = await settled(candidate, await record(candidate, [await readSlices('audio'), await readSlices('video-1')]))
    expect(media).toMatchObject({ state: 'ready', contentType: 'video/webm' })
    const played = await play((await contentOf(media))!)
    expect(Math.abs(played.duration! - RECORDED.audio - RECORDED['video-1'])).toBeLessThan(0.5)
  })

  it('leaves only the joined file', async () => {
    const candidate = await takeAssessment(service)
    const slices = await readSlices('audio')
    const media = await settled(candidate, await record(candidate, [slices], 'audio'))
    expect(media.parts).toEqual([])
    await service.deps.media.deletePrefix(`${media.key}/parts/`)
    expect(await contentOf(media)).not.toBeNull()
  })

  itSlow('fails if it is no recording, and keeps its parts', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await record(candidate, [[webmPart('<script>alert(1)</script>')]])
    const media = await waitUntil('the recording to be given up', async () => {
      const found = await candidate.media(mediaId)
      return found.state === 'joining' ? undefined : found
    })
    expect([media.state, media.parts.length]).toEqual(['failed', 1])
    expect(await contentOf(media)).toBeNull()
    // The failure is counted and logged after it is recorded.
    const isFailureLine = (line: string) => line.includes('a recording cannot be joined') && line.includes(mediaId)
    await waitUntil('the log', () => service.logLines.some(isFailureLine) || undefined)
    expect(await service.metrics.registry.metrics()).toMatch(/recordings_joined_total\{outcome="failed"\} [1-9]/)
  })
})

describe('the joining of recordings', () => {
  let idle: Service
  beforeAll(async () => {
    idle = await startService({ ROLE: 'api' })
  })
  afterAll(() => idle.close())

  it("aborts at a damaged recording without an end, so that later ones don't wait forever", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'endless-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const [damaged] = await readSlices('audio')
    startProgramsInTest()
    damaged![352] = 0 // an element of size 0, which the reader reads again and again
    const file = path.join(folder, 'damaged')
    await writeFile(file, damaged!)
    const limits = { bytes: 128_000_000, cpuSeconds: 2 }
    await expect(remuxWithin(limits, [file], path.join(folder, 'joined'))).rejects.toThrow(/SIGXCPU/)
  })

  /** Creates a complete recording in the service that doesn't join recordings by itself. */
  async function makeComplete() {
    const candidate = await takeAssessment(idle)
    const mediaId = await record(candidate, [await readSlices('video-1')])
    const { organizationId, key } = await candidate.media(mediaId)
    const ref = { mediaId, organizationId, key }
    return { candidate, mediaId, ref, join: (remux = remuxInProcess) => joinRecording(idle.system, ref, { remux }) }
  }

  it.each([
    ['the file was put', 'put'],
    ['the file was known', 'deletePrefix'],
  ] as const)('gives the same result when repeated after dying %s', async (_what, verb) => {
    const { candidate, mediaId, join } = await makeComplete()
    const { media } = idle.deps
    const { put, deletePrefix } = media
    const killed = new Error('killed')
    if (verb === 'put') media.put = async (...given) => put(...given).then(() => Promise.reject(killed))
    else media.deletePrefix = () => Promise.reject(killed)
    await expect(join()).rejects.toThrow('killed')
    expect((await candidate.media(mediaId)).parts).not.toEqual([])
    Object.assign(media, { put, deletePrefix })
    await join()
    const done = await candidate.media(mediaId)
    expect([done.state, done.parts]).toEqual(['ready', []])
    const played = await play((await contentOf(done, idle))!)
    expect(Math.abs(played.duration! - RECORDED['video-1'])).toBeLessThan(0.5)
    await join()
    expect(await candidate.media(mediaId)).toEqual(done)
  })

  it('deletes a file that a process stored just before it died if the candidate was erased meanwhile', async () => {
    const { mediaId } = await makeComplete()
    const { db, deps, system } = idle
    const [job] = await db.$queryRaw<{ data: JoinRef }[]>`SELECT data FROM pgboss.job WHERE data->>'mediaId' = ${mediaId}`
    const { key, organizationId, submission } = await db.mediaFile.findFirstOrThrow({
      where: { id: mediaId },
      include: { submission: { include: { invite: { include: { organization: true } } } } },
    })
    const { organization, recipientEmail: address } = submission.invite
    const { put } = deps.media
    deps.media.put = async (...given) => {
      const { id: erasureId } = await requestErasure(asEraser(idle, organization), { address })
      await continueErasure(system, { organizationId, erasureId })
      const later = new Date(Date.now() + 120_000)
      await removeFiles({ ...system, deps: { ...deps, clock: () => later } })
      expect([await db.mediaFile.count({ where: { id: mediaId } }), await db.deletedMediaFile.count({ where: { key } })]).toEqual(
        [0, 0],
      )
      await put(...given)
      throw new Error('killed')
    }
    await expect(joinRecording(system, job!.data, { remux: remuxInProcess })).rejects.toThrow('killed')
    deps.media.put = put
    expect((await listStore(idle)).filter((file) => file.startsWith(key))).toEqual([`${key}/file`])
    await joinRecording(system, job!.data, { remux: remuxInProcess })
    expect((await listStore(idle)).filter((file) => file.startsWith(key))).toEqual([])
  })

  it('removes temporary folders left by killed processes, and no others', async () => {
    const { join } = await makeComplete()
    const dead = spawn(process.execPath, ['--version'])
    await once(dead, 'exit')
    const prefix = `assessment-recording-${hostname().replace(/[^\w.-]/g, '')}`
    const names = {
      left: `${prefix}-${dead.pid}-abcdef`,
      running: `${prefix}-${process.ppid}-abcdef`,
      own: `${prefix}-${process.pid}-abcdef`,
      elsewhere: `assessment-recording-elsewhere-${dead.pid}-abcdef`,
      longElsewhere: `assessment-recording-elsewhere-${dead.pid}-ghijkl`,
      others: `recording-${dead.pid}-abcdef`,
    }
    for (const name of Object.values(names)) {
      await mkdir(path.join(tmpdir(), name, 'segment'), { recursive: true })
      onTestFinished(() => rm(path.join(tmpdir(), name), { recursive: true, force: true }))
    }
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400
    for (const name of [names.longElsewhere, names.others]) await utimes(path.join(tmpdir(), name), twoDaysAgo, twoDaysAgo)
    await join()
    const there = await readdir(tmpdir())
    const kept = Object.entries(names).filter(([, name]) => there.includes(name))
    expect(kept.map(([which]) => which)).toEqual(['running', 'own', 'elsewhere', 'others'])
  })

  it('keeps the parts while the store returns different content', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    const { media } = idle.deps
    const { put } = media
    media.put = (key, content) => put(key, content instanceof Uint8Array ? content : Buffer.from('half of it'))
    await expect(join()).rejects.toThrow('gives back')
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', parts: [{}, {}] })
    media.put = put
    await join()
    expect((await candidate.media(mediaId)).state).toBe('ready')
  })

  it('gives one result if two processes join at once', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    await Promise.allSettled([join(), join()])
    await join()
    const media = await candidate.media(mediaId)
    expect([media.state, media.parts]).toEqual(['ready', []])
    expect((await candidate.submission()).mediaBytes).toBe(media.bytes)
    expect(await contentOf(media, idle)).not.toBeNull()
  })

  it('tries an unreadable recording twice, then keeps its parts', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    const refuse = () => Promise.reject(new UnreadableRecording('no recording'))
    await expect(join(refuse)).rejects.toThrow('no recording')
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', failedJoins: 1 })
    await join(refuse)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'failed', failedJoins: 2, parts: [{}, {}] })
  })

  it("keeps trying if a failure isn't the recording's fault", async () => {
    const { candidate, mediaId, ref, join } = await makeComplete()
    const refuse = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' }))
    for (let tries = 0; tries < 3; tries++) await expect(join(refuse)).rejects.toThrow('no space')
    await giveUpRecording(idle.system, ref)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', failedJoins: 0 })
    const jobs = await idle.db.$queryRaw`SELECT id FROM pgboss.job WHERE name = 'recording' AND data->>'mediaId' = ${mediaId}`
    expect(jobs).toHaveLength(2)
  })

  it('fails once all tries are used up if a part is lost', async () => {
    const { candidate, ref, mediaId, join } = await makeComplete()
    await idle.deps.media.deletePrefix(`${(await candidate.media(mediaId)).key}/parts/`)
    await expect(join()).rejects.toThrow('not in the store')
    await giveUpRecording(idle.system, ref)
    expect((await candidate.media(mediaId)).state).toBe('failed')
  })

  it('stores nothing if the store returns a changed part', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    const { media } = idle.deps
    const { get } = media
    media.get = async (key, range) => {
      const content = await get(key, range)
      if (!content || !key.includes('/parts/0-1-')) return content
      const bytes = await buffer(content)
      bytes[bytes.length - 1]! ^= 1
      return Readable.from([bytes])
    }
    await expect(join()).rejects.toThrow('than the part')
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', parts: [{}, {}] })
    media.get = get
    await join()
    expect((await candidate.media(mediaId)).state).toBe('ready')
  })

  it('uses the joined file if a restored backup has it without the parts', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    const { parts, attempts: _, ...before } = await candidate.media(mediaId)
    await join()
    const joined = await candidate.media(mediaId)
    // Restores the database to its state before the join, but not the store.
    await idle.db.mediaFile.update({ where: { id: mediaId }, data: before })
    await idle.db.mediaFilePart.createMany({ data: parts })
    await idle.db.submission.update({ where: { id: candidate.submissionId }, data: { mediaBytes: before.bytes } })
    await join()
    expect(await candidate.media(mediaId)).toEqual(joined)
    expect((await candidate.submission()).mediaBytes).toBe(joined.bytes)
    expect((await play((await contentOf(joined, idle))!)).canBeSought).toBe(true)
  })

  it('leaves nothing of a recording deleted while the process died', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    const { media } = idle.deps
    const { put } = media
    media.put = async (...given) => {
      await put(...given)
      await idle.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'deleted', deletedAt: idle.clock.now() } })
      throw new Error('killed')
    }
    await expect(join()).rejects.toThrow('killed')
    media.put = put
    await join()
    expect(await contentOf(await candidate.media(mediaId), idle)).toBeNull()
  })

  it("joins another organization's recording before the second of a busy one", async () => {
    const busy = await takeAssessment(idle)
    const quiet = await takeAssessment(idle)
    const slices = [await readSlices('audio')]
    const names = new Map<string, string>()
    for (const name of ['busy 1', 'busy 2', 'busy 3']) names.set(await record(busy, slices, 'audio'), name)
    names.set(await record(quiet, slices, 'audio'), 'quiet')
    const jobs = await idle.db.$queryRaw<{ id: string }[]>`
      SELECT data->>'mediaId' AS id FROM pgboss.job WHERE name = 'recording' ORDER BY priority DESC, created_on`
    expect(jobs.flatMap(({ id }) => names.get(id) ?? [])).toEqual(['busy 1', 'quiet', 'busy 2', 'busy 3'])
  })

  it('leaves nothing of a recording that is deleted during the join', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    await join(async (segments, to) => {
      await idle.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'deleted', deletedAt: idle.clock.now() } })
      return remuxInProcess(segments, to)
    })
    expect(await contentOf(await candidate.media(mediaId), idle)).toBeNull()
  })

  it('joins the parts up to the first missing one', async () => {
    const { candidate, mediaId, join } = await makeComplete()
    await idle.db.mediaFilePart.updateMany({ where: { mediaId, number: 1 }, data: { number: 2 } })
    await join()
    const media = await candidate.media(mediaId)
    expect(media.state).toBe('ready')
    expect(media.milliseconds).toBeLessThan(1_500)
    expect(media.cuts).toEqual([media.milliseconds])
  })
})

describe('the joining process', () => {
  beforeEach(startProgramsInTest)

  const inFile = async (content: Buffer): Promise<{ file: string; to: string }> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'hostile-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = path.join(folder, 'hostile')
    await writeFile(file, content)
    return { file, to: path.join(folder, 'joined') }
  }

  it('writes no more than its input and an index', async () => {
    const { file, to } = await inFile(repeatingMp4(760_000, 1_500))
    await expect(remuxInProcess([file], to)).rejects.toBeInstanceOf(UnreadableRecording)
    expect((await stat(to)).size).toBeLessThan(2_000_000)
  })

  it('gets no more CPU time than its limit', async () => {
    const { file, to } = await inFile(lacedWebm(772_000))
    await expect(remuxWithin({ bytes: 128_000_000, cpuSeconds: 2 }, [file], to)).rejects.toBeInstanceOf(UnreadableRecording)
  })

  it('gets no more memory than its limit, including buffers', async () => {
    const { file, to } = await inFile(Buffer.concat(await readSlices('video-0')))
    await expect(remuxWithin({ bytes: 100_000, cpuSeconds: 5 }, [file], to)).rejects.toBeInstanceOf(UnreadableRecording)
  })
})

it('fails in a separate process for an empty file, without affecting others', async () => {
  startProgramsInTest()
  const folder = await mkdtemp(path.join(tmpdir(), 'join-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'nothing')
  await writeFile(file, '')
  await expect(remuxInProcess([file], path.join(folder, 'out'))).rejects.toThrow()
})
