import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { signInvitation } from '../../../src/domain/invites/tokens.ts'
import { scaled } from '../../faults/scale.ts'
import { expectAccessible, isBrowserInstalled, overflow, startBrowser } from '../../support/browser.ts'
import { ASKS_NOTHING } from '../../support/candidate.ts'
import { findFreePort } from '../../support/free-port.ts'
import { play } from '../../support/play.ts'
import { openTestDatabase, startProcess, type TestDatabase } from '../../support/processes.ts'
import { SECRET_KEY } from '../../support/service.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

const desktop = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }

/** How much a stored recording may be shorter or longer than what was recorded, in milliseconds. */
const INEXACT_MS = 500
/** How much of a recording a killed tab may lose. */
const LOST_BY_KILL_MS = 4_000

let database: TestDatabase
let dataDir: string
let port: number
let browser: Browser

const launch = (at = port) => startProcess({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: String(at) })

beforeAll(async () => {
  if (!isBrowserInstalled) return
  database = await openTestDatabase()
  dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-media-'))
  port = await findFreePort()
  await launch()
  browser = await startBrowser(
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    '--auto-select-desktop-capture-source=Entire screen',
  )
})
afterAll(async () => {
  await browser?.close()
  await database?.db.$disconnect()
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

type Terms = { responseTypes: string[]; timeLimit?: number; proctored?: boolean; answerRecordLimit?: number; at?: number }

/** A candidate who has accepted an invite to questions that are answered in these ways. */
async function makeCandidate({ responseTypes, timeLimit = 0, proctored = false, answerRecordLimit = 2, at = port }: Terms) {
  const { make, db } = database
  const { id } = await make.organization()
  const assessment = await make.assessment(id, { name: 'Customer support' })
  for (const responseType of responseTypes)
    await make.question(assessment, { script: 'Please introduce yourself.', responseType, timeLimit })
  const invite = await make.invite(assessment, { status: 'accepted', answerRecordLimit, ...(!proctored && ASKS_NOTHING) })
  const token = signInvitation([SECRET_KEY], { inviteId: invite.id, linkVersion: invite.linkVersion })
  const submission = () => db.submission.findFirstOrThrow({ where: { inviteId: invite.id } })
  return {
    link: `http://127.0.0.1:${at}/i/${token}`,
    /** Whether there is something to try or to photograph before the start. */
    isChecked: proctored || responseTypes.some((type) => type === 'audio' || type === 'video'),
    submission,
    takes: async () => db.take.findMany({ where: { submissionId: (await submission()).id }, orderBy: { createdAt: 'asc' } }),
    media: async () => db.media.findMany({ where: { submissionId: (await submission()).id }, orderBy: { createdAt: 'asc' } }),
    notes: async () => db.sessionNote.findMany({ where: { submissionId: (await submission()).id } }),
    status: async () => (await db.invite.findUniqueOrThrow({ where: { id: invite.id } })).status,
  }
}
type Candidate = Awaited<ReturnType<typeof makeCandidate>>

/** Notes in the page how long each recording lasted: since it was asked for, and since the browser said that it had begun. */
const WATCH_RECORDERS = `
  globalThis.recorded = []
  const { start } = MediaRecorder.prototype
  MediaRecorder.prototype.start = function (...given) {
    const asked = performance.now()
    let begun
    this.addEventListener('start', () => (begun = performance.now()))
    this.addEventListener('stop', () => recorded.push({ asked: performance.now() - asked, begun: performance.now() - begun }))
    return start.apply(this, given)
  }`
type Lasted = { asked: number; begun: number }

/** A small screen: how long a machine takes to encode a large one is not what is shown here. */
const SMALL_SCREEN = `
  const media = navigator.mediaDevices
  const share = media?.getDisplayMedia.bind(media)
  if (share) media.getDisplayMedia = ({ video }) => share({ video: { ...video, width: { max: 640 }, height: { max: 400 } } })`

async function openContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: desktop, ...options })
  onTestFinished(() => context.close())
  await context.addInitScript(WATCH_RECORDERS)
  await context.addInitScript(SMALL_SCREEN)
  return context
}

/** What the browser refuses because of the page's policy, and what goes wrong in its scripts. */
function watch(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => void complaints.push(error.message))
  return complaints
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const press = (page: Page, name: string) => button(page, name).click()
/** What is said above every page; what is read aloud says it once more. */
const notice = (page: Page, hasText: string) => page.locator('aside.session .notice', { hasText })
const answerBox = (page: Page) => page.getByLabel('Your answer')

/** From the link to the first question's card. */
async function start({ link, isChecked }: Candidate, page: Page): Promise<void> {
  await page.goto(link)
  await press(page, 'I agree')
  if (isChecked) await prepare(page)
  await press(page, 'Start')
  await button(page, 'Open question 1').waitFor()
}

/** Passes the checks that the page asks for, and takes its photos. */
async function prepare(page: Page): Promise<void> {
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

/** Waits until so many seconds, at least, of what is being recorded are saved. */
const savedUpTo = (page: Page, seconds: number) =>
  expect
    .poll(async () => {
      const [, at] = /saved up to 0:(\d\d)/.exec((await page.locator('[data-recorder]').textContent()) ?? '') ?? []
      return Number(at ?? 0)
    }, PATIENT)
    .toBeGreaterThanOrEqual(seconds)
const recorded = async (page: Page) => ((await page.evaluate('recorded')) as Lasted[]).at(-1)!

/** Waits until the recording of that kind can be played. */
const readyMedia = (candidate: Candidate, kind: string) =>
  waitUntil(`the ${kind} to be ready`, async () => {
    const take = (await candidate.takes()).find((take) => take.kind === kind)
    const isIt = (media: { id: string; kind: string }) => (take ? media.id === take.mediaId : media.kind === kind)
    return (await candidate.media()).find((media) => isIt(media) && media.state === 'ready')
  })

/** What is stored is a file of a player's liking, and as long as what was recorded. */
async function expectWhole(kind: string, { key }: { key: string }, lasted: Lasted): Promise<void> {
  const { duration, canBeSought } = await play(await readFile(path.join(dataDir, 'media', key, 'file')))
  const stored = duration! * 1_000
  const figures = `${kind}: ${stored} ms are stored of ${lasted.begun} to ${lasted.asked} ms`
  expect(stored, figures).toBeGreaterThan(lasted.begun - INEXACT_MS)
  expect(stored, figures).toBeLessThan(lasted.asked + INEXACT_MS)
  expect([kind, canBeSought]).toEqual([kind, true])
}

describe.skipIf(!isBrowserInstalled)('taking an assessment in a browser (skipped where no chromium is installed)', () => {
  it('goes the whole way: text, audio, video, a choice, the screen and both photos', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text', 'audio', 'video', 'mixed'], proctored: true })
    const page = await (await openContext()).newPage()
    const complaints = watch(page)
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('I am Sam.')
    await page.getByText('Saved.').waitFor()
    await press(page, 'Save and go on')
    const lengths: Record<string, Lasted> = {}
    for (const [number, kind] of [
      [2, 'audio'],
      [3, 'video'],
    ] as const) {
      await press(page, `Open question ${number}`)
      await press(page, `Record ${kind}`)
      await savedUpTo(page, 4)
      await press(page, 'Stop recording')
      await page.getByText(/^Saved: /).waitFor()
      lengths[kind] = await recorded(page)
      await press(page, 'Go on')
    }
    await press(page, 'Open question 4')
    await answerBox(page).fill('I write.')
    await press(page, 'Save and go on')
    await page.getByText('You have answered every question.').waitFor()
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    lengths.screen = await recorded(page)
    expect(await candidate.status()).toBe('completed')
    expect((await candidate.takes()).map(({ kind, state, text }) => [kind, state, text])).toEqual([
      ['text', 'complete', 'I am Sam.'],
      ['audio', 'complete', ''],
      ['video', 'complete', ''],
      ['text', 'complete', 'I write.'],
    ])
    for (const kind of ['audio', 'video', 'screen']) {
      await expectWhole(kind, await readyMedia(candidate, kind), lengths[kind]!)
    }
    const kinds = new Set((await candidate.media()).map(({ kind }) => kind))
    expect(kinds).toEqual(new Set(['id_photo', 'face_photo', 'screen', 'answer', 'webcam_still']))
    expect((await candidate.notes()).map(({ kind }) => kind)).toContain('sharing_begun')
    expect(complaints).toEqual([])
  })

  it('loses at most four seconds of a recording when the tab is killed', async () => {
    const candidate = await makeCandidate({ responseTypes: ['video'] })
    const context = await openContext()
    const page = await context.newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await press(page, 'Record video')
    const began = performance.now()
    await page.waitForTimeout(scaled(7_000, 60_000))
    const killed = performance.now() - began
    const cdp = await context.newCDPSession(page)
    const crashed = page.waitForEvent('crash')
    cdp.send('Page.crash').catch(() => {}) // never answered: what would answer is gone
    await crashed
    const next = await context.newPage()
    await next.goto(candidate.link)
    await next.getByText('What you had recorded before is saved.').waitFor()
    const { milliseconds } = await readyMedia(candidate, 'video')
    expect(killed - milliseconds!).toBeLessThan(LOST_BY_KILL_MS)
    expect((await candidate.takes()).map(({ state }) => state)).toEqual(['complete'])
  })

  /** Something is cut while a recording runs, and mended after it has been stopped. */
  async function recordThrough(
    candidate: Candidate,
    { cut, mend }: { cut: (page: Page) => Promise<void>; mend: (page: Page) => Promise<unknown> },
  ) {
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await cut(page)
    await notice(page, 'No connection.').waitFor()
    await page.waitForTimeout(scaled(3_000, 60_000))
    await press(page, 'Stop recording')
    await page.getByText(/Sending your answer, saved up to 0:0\d/).waitFor()
    expect(await page.getByText(/^Saved: /).count()).toBe(0)
    await mend(page)
    await page.getByText(/^Saved: /).waitFor()
    await expectWhole('audio', await readyMedia(candidate, 'audio'), await recorded(page))
  }

  it('loses nothing of a recording while off line, and says what is saved', async () => {
    const setOffline = (is: boolean) => (page: Page) => page.context().setOffline(is)
    await recordThrough(await makeCandidate({ responseTypes: ['audio'] }), { cut: setOffline(true), mend: setOffline(false) })
  })

  it('loses nothing of a recording while the service is killed and started again', async () => {
    const own = await findFreePort()
    const service = await launch(own)
    const cut = async () => {
      service.kill('SIGKILL')
      await service.exited
    }
    await recordThrough(await makeCandidate({ responseTypes: ['audio'], at: own }), { cut, mend: () => launch(own) })
  })

  it('keeps a text that could not be saved, also over a reload, and saves it when there is a connection', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 600 })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('Saved.')
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.route('**/questions/1/text', (route) => route.abort())
    await answerBox(page).fill('Not saved yet.')
    await page.getByText('not saved yet, but kept on this device').waitFor()
    await page.unroute('**/questions/1/text')
    await page.reload()
    await expect.poll(() => answerBox(page).inputValue(), PATIENT).toBe('Not saved yet.')
    await waitUntil('the text', async () => (await candidate.takes()).find(({ text }) => text === 'Not saved yet.'))
    await press(page, 'Save and go on')
    await button(page, 'Finish').waitFor()
    expect((await candidate.takes()).map(({ text }) => text)).toEqual(['Not saved yet.'])
  })

  it('goes on after a reload, and asks for the screen again', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 600, proctored: true })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await page.getByText(/^Time left: 9:5/).waitFor()
    await page.reload()
    await notice(page, 'Your screen is not being recorded.').waitFor()
    await press(page, 'Share my screen')
    await notice(page, 'Your screen is not being recorded.').waitFor({ state: 'hidden' })
    await page.getByText(/^Time left: 9:/).waitFor()
    await waitUntil(
      'both recordings',
      async () => (await candidate.media()).filter(({ kind }) => kind === 'screen').length === 2 || undefined,
    )
    await waitUntil('the note', async () => (await candidate.notes()).find(({ kind }) => kind === 'reloaded'))
  })

  it('lets a second tab take over, and the first one says so', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'] })
    const context = await openContext()
    const first = await context.newPage()
    await start(candidate, first)
    await press(first, 'Open question 1')
    await answerBox(first).waitFor()
    const second = await context.newPage()
    await second.goto(candidate.link)
    await answerBox(second).fill('From the second.')
    await second.getByText('Saved.').waitFor()
    await answerBox(first).fill('From the first.')
    await first.getByRole('heading', { name: 'This assessment is open in another tab' }).waitFor()
    expect(await first.evaluate('document.activeElement.tagName')).toBe('H1')
    expect((await candidate.takes()).map(({ text }) => text)).toEqual(['From the second.'])
    await press(first, 'Go on here instead')
    await expect.poll(() => answerBox(first).inputValue(), PATIENT).toBe('From the second.')
  })

  it.each([-3_600_000, 3_600_000])('gives no more and no less time when the device clock is off by %i ms', async (off) => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 6 })
    const context = await openContext()
    await context.addInitScript(`const now = Date.now; Date.now = () => now() + ${off}`)
    const page = await context.newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).pressSequentially('In time')
    await page.getByText(/^Time left: 0:0[1-5]/).waitFor()
    await button(page, 'Finish').waitFor()
    expect((await candidate.takes()).map(({ text }) => text)).toEqual(['In time'])
  })

  it('can be gone by the keyboard alone', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio', 'text'] })
    const page = await (await openContext()).newPage()
    const pressByKey = async (name: string) => {
      await button(page, name).waitFor()
      for (let i = 0; i < 40; i++) {
        if (await button(page, name).evaluate((element) => element === element.ownerDocument.activeElement)) break
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Enter')
    }
    await page.goto(candidate.link)
    await pressByKey('I agree')
    await page.getByRole('button', { name: 'Try your microphone' }).waitFor()
    await pressByKey('Try your microphone')
    await pressByKey('Record three seconds')
    await page.getByText('Play it back').waitFor()
    await pressByKey('Start')
    await pressByKey('Open question 1')
    await pressByKey('Record audio')
    await savedUpTo(page, 2)
    await pressByKey('Stop recording')
    await pressByKey('Go on')
    await pressByKey('Open question 2')
    await answerBox(page).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('By keys')
    await pressByKey('Save and go on')
    await pressByKey('Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect((await candidate.takes()).map(({ kind, state }) => [kind, state])).toEqual([
      ['audio', 'complete'],
      ['text', 'complete'],
    ])
  })

  it('takes text answers without scripts, and says before the start what needs them', async () => {
    const page = await (await openContext({ javaScriptEnabled: false, viewport: phone })).newPage()
    const written = await makeCandidate({ responseTypes: ['text'] })
    await page.goto(written.link)
    await press(page, 'I agree')
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await answerBox(page).fill('Without scripts')
    await press(page, 'Save and go on')
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect((await written.takes()).map(({ text }) => text)).toEqual(['Without scripts'])
    const spoken = await makeCandidate({ responseTypes: ['audio'] })
    await page.goto(spoken.link)
    await press(page, 'I agree')
    await page.locator('noscript .notice', { hasText: 'This assessment records, and that needs JavaScript' }).waitFor()
    await press(page, 'Start')
    await page.getByText('Not started yet.').waitFor()
    expect(await spoken.status()).toBe('accepted')
  })

  it.each([
    ['NotAllowedError', 'The browser was not allowed to use your camera and microphone.'],
    ['NotFoundError', 'No camera and microphone was found.'],
    ['NotReadableError', 'Another program may be using it'],
    ['OverconstrainedError', 'can’t record in the way that is needed'],
  ])('says what to do when a device fails with %s', async (name, text) => {
    const candidate = await makeCandidate({ responseTypes: ['video'] })
    const context = await openContext()
    await context.addInitScript(`navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', '${name}') }`)
    const page = await context.newPage()
    await page.goto(candidate.link)
    await press(page, 'I agree')
    await press(page, 'Try your camera and microphone')
    await page.getByRole('alert').getByText(text).waitFor()
    await press(page, 'Start')
    await page.getByText('Something is still missing').waitFor()
    expect(await candidate.status()).toBe('accepted')
  })

  it('is accessible on each page, in dark and in light, and never scrolls sideways', async () => {
    const candidate = await makeCandidate({ responseTypes: ['mixed'], proctored: true, timeLimit: 600 })
    const page = await (await openContext({ bypassCSP: true })).newPage() // the check is a script
    const check = async (name: string) => {
      for (const viewport of [desktop, phone])
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme })
          await expectAccessible(page)
          expect([name, await overflow(page)]).toEqual([name, 0])
        }
    }
    await page.goto(candidate.link)
    await check('consent')
    await press(page, 'I agree')
    await page.locator('.step').first().waitFor()
    await check('checks')
    await prepare(page)
    await check('prepared')
    await press(page, 'Start')
    await button(page, 'Open question 1').waitFor()
    await check('begun')
    await press(page, 'Open question 1')
    await button(page, 'Record video').waitFor()
    await check('question')
    await press(page, 'Record video')
    await savedUpTo(page, 2)
    await check('recording')
    await page.context().setOffline(true)
    await notice(page, 'No connection.').waitFor()
    await press(page, 'Stop recording')
    await check('offline')
    await page.context().setOffline(false)
    await page.getByText(/^Saved: /).waitFor()
    await check('saved')
    await page.reload()
    await notice(page, 'Your screen is not being recorded.').waitFor()
    await check('reloaded')
    await press(page, 'Save and go on')
    await button(page, 'Finish').waitFor()
    await check('end')
    const other = await page.context().newPage()
    await other.goto(candidate.link)
    await other.locator('aside.session').waitFor({ state: 'attached' })
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))") // noted, and the note is refused
    await page.getByRole('heading', { name: 'This assessment is open in another tab' }).waitFor()
    await check('taken-over')
    await press(other, 'Finish')
    await other.getByText('You have completed this assessment').waitFor()
    await page.reload()
    await check('completed')
  })
})
