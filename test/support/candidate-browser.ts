import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { newMediaKey } from '../../src/domain/files/media-keys.ts'
import { signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { desktop, isBrowserInstalled, press, startBrowser } from './browser.ts'
import { NO_REQUIREMENTS } from './candidate.ts'
import { findFreePort } from './free-port.ts'
import { play } from './play.ts'
import { openTestDatabase, startProcess, type TestDatabase } from './processes.ts'
import { SECRET_KEY } from './service.ts'
import { PATIENT, waitUntil } from './wait-until.ts'

/** Tolerated difference in milliseconds between a stored recording and the original. */
const INEXACT_MS = 500

type Terms = {
  responseTypes: string[]
  timeLimit?: number
  preparationTime?: number
  proctored?: boolean
  answerRecordLimit?: number
  questionReplayLimit?: number
  at?: number
  /** Media of the questions, in order. */
  prompts?: { audioUrl?: string; videoUrl?: string }[]
  /** A WAV file that the service stores and plays while answers are recorded. */
  simultaneousPrompt?: Buffer
  expiresAt?: Date
} & Partial<typeof NO_REQUIREMENTS>

/** Counts the page's started recordings, and measures how long each lasted, both since the call of start() and since the start event. */
const WATCH_RECORDERS = `
  globalThis.begun = 0
  globalThis.recorded = []
  const { start } = MediaRecorder.prototype
  MediaRecorder.prototype.start = function (...given) {
    const asked = performance.now()
    let began
    this.addEventListener('start', () => {
      began = performance.now()
      begun++
    })
    this.addEventListener('stop', () => recorded.push({ asked: performance.now() - asked, begun: performance.now() - began }))
    return start.apply(this, given)
  }`
export type Lasted = { asked: number; begun: number }

/** Limits the size of the shared screen, because encoding a large one takes long. */
const SMALL_SCREEN = `
  const media = navigator.mediaDevices
  const share = media?.getDisplayMedia.bind(media)
  if (share) media.getDisplayMedia = ({ video }) => share({ video: { ...video, width: { max: 640 }, height: { max: 400 } } })`

export type Stage = ReturnType<typeof useCandidatesBrowser>
export type Candidate = Awaited<ReturnType<Stage['makeCandidate']>>

const startWithFakeDevices = (): Promise<Browser> =>
  startBrowser(
    '--use-fake-device-for-media-stream=fps=5', // a higher rate costs processor time, and tests nothing more
    '--use-fake-ui-for-media-stream',
  )

/**
 * Starts the service in a separate process, and a browser, for the tests of one file.
 *
 * @param startOne starts the browser; by default one with a fake camera, microphone, and screen.
 */
export function useCandidatesBrowser(startOne: () => Promise<Browser> = startWithFakeDevices) {
  let database: TestDatabase
  let dataDir: string
  let port: number
  let browser: Browser

  const launch = (at = port, env: Record<string, string> = {}) =>
    startProcess({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: String(at), ...env })

  beforeAll(async () => {
    if (!isBrowserInstalled) return
    database = await openTestDatabase()
    dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-media-'))
    port = await findFreePort()
    await launch()
    browser = await startOne()
  })
  afterAll(async () => {
    await browser?.close()
    await database?.db.$disconnect()
    if (dataDir) await rm(dataDir, { recursive: true, force: true })
  })

  /** Creates a candidate who has accepted an invite to questions with these response types. */
  async function makeCandidate({
    responseTypes,
    timeLimit = 0,
    preparationTime = 0,
    proctored = false,
    answerRecordLimit = 2,
    at = port,
    prompts = [],
    simultaneousPrompt,
    ...asked
  }: Terms) {
    const { make, db } = database
    const { id, key } = await make.organization()
    const assessment = await make.assessment(id, { name: 'Customer support' })
    for (const [i, responseType] of responseTypes.entries())
      await make.question(assessment, {
        script: 'Please introduce yourself.',
        responseType,
        timeLimit,
        preparationTime,
        ...prompts[i],
        ...(simultaneousPrompt && { audioUrl: await storePrompt(id, simultaneousPrompt), simultaneous: true }),
      })
    const invite = await make.invite(assessment, {
      status: 'accepted',
      answerRecordLimit,
      ...(!proctored && NO_REQUIREMENTS),
      ...asked,
    })
    const token = signInvitation([SECRET_KEY], { inviteId: invite.id, linkVersion: invite.linkVersion })
    const submission = () => db.submission.findFirstOrThrow({ where: { inviteId: invite.id } })
    return {
      link: `http://127.0.0.1:${at}/i/${token}`,
      /** True if there are devices to test or photos to take before the start. */
      isChecked:
        proctored ||
        asked.webcamMonitoring === true ||
        asked.screenRecording === true ||
        responseTypes.some((type) => type === 'audio' || type === 'video'),
      submission,
      paper: async () =>
        db.submissionQuestion.findMany({ where: { submissionId: (await submission()).id }, orderBy: { number: 'asc' } }),
      attempts: async () =>
        db.answerAttempt.findMany({ where: { submissionId: (await submission()).id }, orderBy: { createdAt: 'asc' } }),
      /** Completes all attempts, as the service does with abandoned recordings. */
      endTakes: async () =>
        db.answerAttempt.updateMany({
          where: { submissionId: (await submission()).id },
          data: { state: 'complete', completedAt: new Date() },
        }),
      media: async () =>
        db.mediaFile.findMany({ where: { submissionId: (await submission()).id }, orderBy: { createdAt: 'asc' } }),
      notes: async () => db.sessionEvent.findMany({ where: { submissionId: (await submission()).id } }),
      /** Revokes the invite, as the organization would. */
      withdraw: () =>
        fetch(`http://127.0.0.1:${at}/api/v1/invites/${invite.id}/revoke`, { method: 'POST', headers: { 'x-api-key': key } }),
      giveExtraTime: (extraTimePercent: number) =>
        fetch(`http://127.0.0.1:${at}/api/v1/invites/${invite.id}/accommodations`, {
          method: 'PUT',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({ extraTimePercent }),
        }),
      /** Waives a requirement, as an admin does in the portal. */
      waive: (requirement: string) => db.invite.update({ where: { id: invite.id }, data: { waivedChecks: [requirement] } }),
      status: async () => (await db.invite.findUniqueOrThrow({ where: { id: invite.id } })).status,
    }
  }

  /** Stores a WAV file as a prompt. @returns its URL. */
  async function storePrompt(organizationId: string, content: Buffer): Promise<string> {
    const id = randomUUID()
    const key = newMediaKey({ id: organizationId })
    const now = new Date()
    const file = { kind: 'audio', state: 'ready', contentType: 'audio/wav', bytes: content.length }
    await database.db.asset.create({ data: { organizationId, id, key, ...file, createdAt: now, checkedAt: now } })
    const folder = path.join(dataDir, 'media', key)
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'file'), content)
    return `/api/v1/question-media/${id}`
  }

  async function openContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: desktop, ...options })
    onTestFinished(() => context.close())
    await context.addInitScript(WATCH_RECORDERS)
    await context.addInitScript(SMALL_SCREEN)
    return context
  }

  /** Expects the stored file to be playable and as long as the recording. */
  async function expectWhole(kind: string, { key }: { key: string }, lasted: Lasted): Promise<void> {
    const { duration, canBeSought } = await play(await readFile(path.join(dataDir, 'media', key, 'file')))
    const stored = duration! * 1_000
    const figures = `${kind}: ${stored} ms are stored of ${lasted.begun} to ${lasted.asked} ms`
    expect(stored, figures).toBeGreaterThan(lasted.begun - INEXACT_MS)
    expect(stored, figures).toBeLessThan(lasted.asked + INEXACT_MS)
    expect([kind, canBeSought]).toEqual([kind, true])
  }

  return {
    /** Returns the port of the service. */
    port: () => port,
    makeCandidate,
    openContext,
    launch,
    expectWhole,
    fileOf: ({ key }: { key: string }) => path.join(dataDir, 'media', key, 'file'),
  }
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** The page's status line, whose text is also announced to screen readers. */
export const notice = (page: Page, hasText: string) => page.locator('aside.session .notice', { hasText })
export const answerBox = (page: Page) => page.getByLabel('Your answer')

/** Opens the link, and goes on to the first question's card. */
export async function start({ link, isChecked }: Candidate, page: Page): Promise<void> {
  await page.goto(link)
  await press(page, 'I agree')
  if (isChecked) await prepare(page)
  await press(page, 'Start')
  await button(page, 'Open question 1').waitFor()
}

/** Passes the device checks on the page, and takes the photos. */
export async function prepare(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Connection' }).waitFor()
  const tries = page.getByRole('button', { name: /^Try your / })
  if (await tries.count()) {
    await tries.click()
    await press(page, 'Record three seconds')
    await page.getByText('Play it back').waitFor()
  }
  const share = button(page, 'Share your screen')
  if (await share.count()) {
    await share.click()
    await page.getByText('Your screen stays shared').waitFor()
  }
  for (const name of ['Photo of your identity document', 'Photo of your face']) {
    const step = page.getByRole('region', { name })
    if (!(await step.count())) continue
    await step.getByRole('button', { name: 'Open the camera' }).click()
    await step.getByRole('button', { name: 'Take the photo' }).click()
    await step.getByRole('button', { name: 'Use this photo' }).click()
    await step.getByText('the photo is sent').waitFor()
  }
}

/** Expects Start to be disabled before the checks are done, and to explain why when pressed by keyboard. */
export async function expectStartClosed(page: Page): Promise<void> {
  const start = button(page, 'Start')
  await page.locator('.step').first().waitFor()
  await page.getByText('Start opens when all steps above are done.').waitFor()
  expect([await start.getAttribute('aria-disabled'), await start.isEnabled()]).toEqual(['true', false])
  await start.press('Enter')
  await page.getByText('Something is still missing').waitFor()
}

/** Returns the page's recording status. */
const recorderSays = (page: Page) => page.locator('[data-recorder]').innerText()
const secondsIn = (words: string) => Number(/Saved up to 0:(\d\d)/.exec(words)?.[1] ?? 0)
/** Returns the seconds that the page reports as saved. */
export const savedSeconds = async (page: Page): Promise<number> => secondsIn(await recorderSays(page))
/** Waits until at least this many seconds of the recording are saved. A failure shows the page's recording status. */
export const savedUpTo = (page: Page, seconds: number) =>
  expect.poll(() => recorderSays(page), PATIENT).toSatisfy((words) => secondsIn(words) >= seconds)
export const recorded = async (page: Page) => ((await page.evaluate('recorded')) as Lasted[]).at(-1)!

/** Waits until the recording of this kind is ready. */
export const readyMedia = (candidate: Candidate, kind: string) =>
  waitUntil(`the ${kind} to be ready`, async () => {
    const attempt = (await candidate.attempts()).find((attempt) => attempt.kind === kind)
    const isIt = (media: { id: string; kind: string }) => (attempt ? media.id === attempt.mediaId : media.kind === kind)
    return (await candidate.media()).find((media) => isIt(media) && media.state === 'ready')
  })
