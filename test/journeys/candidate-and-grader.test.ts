import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Recording, readSlices } from '../media/recordings.ts'
import { findComplaints } from '../support/decode.ts'
import type { Driven } from '../support/other-browsers.ts'
import { CHROMIUM, OTHER_BROWSERS, pressIn, see } from '../support/other-browsers.ts'
import { signInAs } from '../support/portal.ts'
import { LONG } from '../support/scale.ts'
import { type Service, startService } from '../support/service.ts'
import { takeAssessment } from '../support/submissions.ts'
import { makeAccepted } from '../support/taking.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: Service
let origin: string
beforeAll(async () => {
  service = await startService()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service?.close())

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'other-browsers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const TWENTY = 20
/** Records in the page how long each recording lasts, in milliseconds since its start event and since its request. Can run twice. */
const WATCH_RECORDERS = `(() => {
  const isWatched = 'recorded' in globalThis
  globalThis.recorded = []
  if (isWatched) return
  const { start } = MediaRecorder.prototype
  MediaRecorder.prototype.start = function (...given) {
    const asked = performance.now()
    let begun
    this.addEventListener('start', () => (begun = performance.now()))
    this.addEventListener('stop', () => recorded.push([performance.now() - begun, performance.now() - asked]))
    return start.apply(this, given)
  }
})()`

const ready = (submissionId: string) =>
  waitUntil('the recordings to be ready', async () => {
    const media = await service.db.mediaFile.findMany({
      where: { submissionId },
      include: { parts: true },
      orderBy: { createdAt: 'asc' },
    })
    return media.every(({ state, parts }) => (state === 'ready' && parts.length === 0) || state === 'failed') ? media : undefined
  })

/** Submits an answer with this recording. */
async function submitRecording(name: Recording, kind: 'audio' | 'video') {
  const candidate = await takeAssessment(service, { responseType: kind })
  const mediaId = await candidate.beginAttempt(kind)
  const slices = await readSlices(name)
  for (const [number, slice] of slices.entries()) await candidate.putPart(mediaId, 0, number, slice)
  await candidate.post(`media/${mediaId}/complete`, { segments: [slices.length] })
  await ready(candidate.submissionId)
  await service.db.submission.update({
    where: { id: candidate.submissionId },
    data: { state: 'submitted', submittedAt: service.clock.now() },
  })
  return { organizationId: candidate.organization.id, submissionId: candidate.submissionId }
}

/** Opens the grading view as an admin. @returns its address. */
async function openSheet(
  browser: Driven,
  { organizationId, submissionId }: { organizationId: string; submissionId: string },
): Promise<string> {
  const grader = await signInAs(service, organizationId, ['admin'])
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await browser.open(`${origin}/healthz`)
  await browser.setCookie({ name, value, domain: '127.0.0.1' })
  const page = `${origin}${grader.home}grading/${submissionId}`
  await browser.open(page)
  return page
}

type Player = {
  duration: number
  currentTime: number
  paused: boolean
  seeking: boolean
  readyState: number
  networkState: number
  error?: string
  played?: string
}

/** State of the player, read from outside, to distinguish a hanging browser from a failing page. */
const PLAYER = `(() => {
  const { duration, currentTime, paused, seeking, readyState, networkState, error } = document.querySelector('audio, video')
  return { duration, currentTime, paused, seeking, readyState, networkState, error: error ? 'code ' + error.code + ' ' + error.message : undefined, played: globalThis.played }
})()`

const hasFailed = ({ error, played }: Player) => Boolean(error || played?.startsWith('refused'))

/** Waits until the player is in this state. @throws Error with the player's state, at once if the player has failed. */
async function untilPlayer(browser: Driven, what: string, isSo: (player: Player) => boolean): Promise<Player> {
  let player: Player | undefined
  const ended = await waitUntil(`the player to have ${what}`, async () => {
    player = (await browser.evaluate(PLAYER)) as Player
    return hasFailed(player) || isSo(player) ? player : undefined
  }).catch((cause) => {
    throw new Error(`The player has not ${what}: ${JSON.stringify(player)}`, { cause })
  })
  if (!hasFailed(ended)) return ended
  throw new Error(`The player has failed before it had ${what}: ${JSON.stringify(ended)}`)
}

const PLAY = `(() => {
  const player = document.querySelector('audio, video')
  player.muted = true
  globalThis.played = 'asked'
  player.play().then(() => (globalThis.played = 'begun'), (error) => (globalThis.played = 'refused: ' + error))
})()`

/** A player of WebKitGTK may stop after its first frame on a busy machine. */
const STALLED_MS = 15_000

/** Plays the recording. Reloads the page a limited number of times if the player stops, as a grader would. */
async function play(browser: Driven, page: string, loads = 3): Promise<void> {
  await browser.evaluate(PLAY)
  const since = performance.now()
  let stalled = false
  await untilPlayer(browser, 'played', ({ played, currentTime }) => {
    const isPlaying = played === 'begun' && currentTime > 0.3
    stalled = loads > 1 && !isPlaying && currentTime > 0 && performance.now() - since > STALLED_MS
    return isPlaying || stalled
  })
  if (!stalled) return
  process.stdout.write('The player stands still: loading the page again\n')
  await browser.open(page)
  await play(browser, page, loads - 1)
}

/** Plays the recording, and then seeks to its middle. @returns the distance from the middle in seconds. */
async function playAndSeek(browser: Driven, page: string): Promise<number> {
  await play(browser, page)
  const middle = (await browser.evaluate(`(() => {
    const player = document.querySelector('audio, video')
    player.pause()
    return (player.currentTime = player.duration / 2)
  })()`)) as number
  const { currentTime } = await untilPlayer(
    browser,
    'gone to its middle',
    ({ seeking, readyState }) => !seeking && readyState >= 2,
  )
  return Math.abs(currentTime - middle)
}

/** Goes from the invitation to the first question. */
async function begin(browser: Driven, link: string, isHeard: boolean): Promise<void> {
  await browser.open(link)
  await pressIn(browser, 'I agree')
  if (isHeard) {
    await pressIn(browser, 'Try your')
    await pressIn(browser, 'Record three seconds')
    await see(browser, /Play it back/)
  }
  await pressIn(browser, 'Start')
}

async function recordAnswer(browser: Driven, kind: 'audio' | 'video'): Promise<void> {
  await pressIn(browser, `Record ${kind}`)
  await see(browser, /Saved up to 0:(0[2-9]|[1-5]\d)/)
  await pressIn(browser, 'Stop recording')
  await see(browser, /Saved: /)
}

/** Records an answer and reloads the page in between, which continues the only attempt. */
async function recordThroughReload(browser: Driven, kind: 'audio' | 'video', link: string): Promise<void> {
  await pressIn(browser, `Record ${kind}`)
  await see(browser, /Saved up to 0:(0[2-9]|[1-5]\d)/)
  // A crash asks nothing, but Firefox would ask here and wait.
  await browser.evaluate("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
  await browser.open(link)
  await see(browser, /Your recording was interrupted after about 0:(0[2-9]|[1-5]\d)/)
  await pressIn(browser, `Continue recording ${kind}`)
  await see(browser, /Saved up to 0:(0[4-9]|[1-5]\d)/)
  await pressIn(browser, 'Stop recording')
  await see(browser, /Saved: /)
}

/** Waives the device checks in browsers that can't tell whether they hear something. */
const waive = (isHeard: boolean) => (isHeard ? {} : { waivedChecks: ['camera', 'microphone'] })

describe.each(Object.entries(LONG ? { chromium: CHROMIUM, ...OTHER_BROWSERS } : OTHER_BROWSERS))(
  'recording in %s',
  (name, { isInstalled, start, records, isHeard }) => {
    let browser: Driven
    beforeAll(async () => {
      if (isInstalled) browser = await start()
    })
    afterAll(() => browser?.close())

    it.skipIf(!isInstalled)(
      'works for supported audio and video answers, even through a reload (skipped where it is not installed)',
      async () => {
        const made = await makeAccepted(service, {
          questions: records.map((responseType) => ({ responseType })),
          answerRecordLimit: 1,
          ...waive(isHeard),
        })
        await begin(browser, `${origin}${made.candidate.path}`, isHeard)
        for (const [i, kind] of records.entries()) {
          await pressIn(browser, `Open question ${i + 1}`)
          if (i === 0) await recordThroughReload(browser, kind, `${origin}${made.candidate.path}`)
          else await recordAnswer(browser, kind)
          await pressIn(browser, i < records.length - 1 ? 'Next question' : 'Save and go to the end')
        }
        await pressIn(browser, 'Finish')
        await see(browser, /You have completed this assessment/)
        const { id: submissionId } = await made.submission()
        const media = await ready(submissionId)
        expect(media.map(({ state, contentType }) => [state, contentType.split('/')[0]])).toEqual(
          records.map((kind) => ['ready', kind]),
        )
        const page = await openSheet(browser, { organizationId: made.organization.id, submissionId })
        expect(await playAndSeek(browser, page)).toBeCloseTo(0, 0)
      },
    )

    it.skipIf(!isInstalled || !LONG)('stores twenty recordings completely, as long as the browser delivered them', async () => {
      const made = await makeAccepted(service, {
        questions: records.map((responseType) => ({ responseType })),
        answerRecordLimit: TWENTY,
        ...waive(isHeard),
      })
      await begin(browser, `${origin}${made.candidate.path}`, isHeard)
      const lasted: [sinceBegun: number, sinceAsked: number][] = []
      for (const [i, kind] of records.entries()) {
        await pressIn(browser, `Open question ${i + 1}`)
        await see(browser, /Record /)
        await browser.evaluate(WATCH_RECORDERS)
        for (let n = 0; n < TWENTY / records.length; n++) await recordAnswer(browser, kind)
        lasted.push(...((await browser.evaluate('recorded')) as typeof lasted))
        await pressIn(browser, i < records.length - 1 ? 'Next question' : 'Save and go to the end')
      }
      const [atLeast, atMost] = [0, 1].map((which) => lasted.map((one) => one[which]!).sort((a, b) => a - b))
      const media = await ready((await made.submission()).id)
      expect(media.map(({ state, cuts }) => [state, cuts])).toEqual(media.map(() => ['ready', []]))
      // The test's clock does not advance, so the recordings are matched by their lengths.
      const stored = media.map(({ milliseconds }) => milliseconds!).sort((a, b) => a - b)
      const shorter = stored.map((milliseconds, i) => Math.round(atLeast![i]! - milliseconds))
      const longer = stored.map((milliseconds, i) => Math.round(milliseconds - atMost![i]!))
      process.stdout.write(`${name}: shorter than from the start's event to stop by, in ms: ${shorter.join(' ')}\n`)
      process.stdout.write(`${name}: longer than from asking for the start to stop by, in ms: ${longer.join(' ')}\n`)
      for (const { key } of media) {
        const file = path.join(folder, key.replaceAll('/', '-'))
        await pipeline((await service.deps.media.get(`${key}/file`))!, createWriteStream(file))
        expect(await findComplaints(file), key).toBe('')
      }
      expect(media).toHaveLength(TWENTY)
      // WebKitGTK omits the last second of some recordings.
      expect(Math.max(...shorter)).toBeLessThan(name === 'webkit' ? 1_500 : 500)
      expect(Math.max(...longer)).toBeLessThan(500)
    })

    it.skipIf(!isInstalled).each(
      (
        [
          ['video-0', 'video'],
          ['mp4', 'video'],
          ['firefox-video', 'video'],
          ['webkit-audio', 'audio'],
        ] as const
      ).filter(([recording]) => !recording.startsWith(name)),
    )('plays and seeks recordings of another browser for a grader: %s', async (recording, kind) => {
      const page = await openSheet(browser, await submitRecording(recording, kind))
      expect(await playAndSeek(browser, page)).toBeCloseTo(0, 0)
    })
  },
)
