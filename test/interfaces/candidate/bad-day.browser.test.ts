import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isBrowserInstalled, leaveQuestion, press, watch } from '../../support/browser.ts'
import {
  answerBox,
  button,
  type Candidate,
  expectStartClosed,
  notice,
  prepare,
  readyMedia,
  recorded,
  savedSeconds,
  savedUpTo,
  start,
  useCandidatesBrowser,
} from '../../support/candidate-browser.ts'
import { findFreePort } from '../../support/free-port.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

const { makeCandidate, openContext, launch, expectWhole } = useCandidatesBrowser()

/** Simulates devices that can be muted or unplugged, also with no replacement. */
const UNPLUGGABLE = `
  const media = navigator.mediaDevices
  const open = media.getUserMedia.bind(media)
  const tracks = []
  let isGone = false
  media.getUserMedia = async (wanted) => {
    if (isGone) throw new DOMException('', 'NotFoundError')
    const stream = await open(wanted)
    tracks.push(...stream.getTracks())
    return stream
  }
  globalThis.plugIn = () => { isGone = false }
  globalThis.unplug = (kinds, isOnly) => {
    isGone = isOnly
    const unplugged = tracks.filter(({ kind, readyState }) => kinds.includes(kind) && readyState === 'live')
    for (const track of unplugged) track.stop()
    for (const track of unplugged) track.dispatchEvent(new Event('ended'))
  }
  globalThis.mute = (is) => {
    for (const track of tracks.filter(({ readyState }) => readyState === 'live')) {
      Object.defineProperty(track, 'muted', { value: is, configurable: true })
      track.dispatchEvent(new Event(is ? 'mute' : 'unmute'))
    }
  }`
const unplug = (page: Page, kinds: ('audio' | 'video')[], { isOnly = false } = {}) =>
  page.evaluate(`unplug(${JSON.stringify(kinds)}, ${isOnly})`)

/** Starts an assessment with devices that can be unplugged. @returns the page, before its first question. */
async function startUnpluggable(candidate: Candidate): Promise<Page> {
  const context = await openContext()
  await context.addInitScript(UNPLUGGABLE)
  const page = await context.newPage()
  await start(candidate, page)
  return page
}

describe.skipIf(!isBrowserInstalled)('an assessment on a bad day (skipped where no chromium is installed)', () => {
  it('records the webcam from the start to the end, also while the microphone and the same camera record answers', async () => {
    const at = await findFreePort()
    await launch(at, { WEBCAM: 'video' })
    const candidate = await makeCandidate({ responseTypes: ['audio', 'video', 'text'], webcamMonitoring: true, at })
    const page = await (await openContext()).newPage()
    const complaints = watch(page)
    await start(candidate, page)
    await waitUntil('the webcam', async () => (await candidate.media()).find(({ kind, bytes }) => kind === 'webcam' && bytes > 0))
    const began = performance.now()
    for (const [number, kind] of [
      [1, 'audio'],
      [2, 'video'],
    ] as const) {
      await press(page, `Open question ${number}`)
      await press(page, `Record ${kind}`)
      await savedUpTo(page, 2)
      await leaveQuestion(page)
      await press(page, 'Stop and continue')
    }
    await press(page, 'Open question 3')
    await answerBox(page).fill('I am watched.')
    await leaveQuestion(page)
    const watched = performance.now() - began
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    const { milliseconds } = await readyMedia(candidate, 'webcam')
    expect(milliseconds).toBeGreaterThan(watched)
    expect((await candidate.media()).filter(({ kind }) => kind === 'webcam')).toHaveLength(1)
    expect(complaints).toEqual([])
  })

  it('continues with another microphone and with the webcam when a microphone is unplugged', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], webcamMonitoring: true })
    const page = await startUnpluggable(candidate)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await unplug(page, ['audio'])
    await savedUpTo(page, 4)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    expect((await readyMedia(candidate, 'audio')).milliseconds).toBeGreaterThan(3_000)
    await waitUntil('the note', async () => (await candidate.notes()).find(({ kind }) => kind === 'microphone_lost'))
    expect(await notice(page, 'Your webcam is off.').count()).toBe(0)
  })

  it('records once, not twice, after camera and microphone are unplugged together', async () => {
    const candidate = await makeCandidate({ responseTypes: ['video'] })
    const page = await startUnpluggable(candidate)
    await press(page, 'Open question 1')
    await press(page, 'Record video')
    await savedUpTo(page, 2)
    await unplug(page, ['audio', 'video'])
    await expect.poll(() => page.evaluate('begun'), PATIENT).toBe(3) // the device check and two parts of the answer
    await expect.poll(() => page.evaluate('recorded.length'), PATIENT).toBe(2)
    await savedUpTo(page, (await savedSeconds(page)) + 2)
    await leaveQuestion(page)
    await press(page, 'Stop and continue')
    await button(page, 'Finish').waitFor()
    expect(await page.evaluate('[begun, recorded.length]')).toEqual([3, 3])
    await readyMedia(candidate, 'video')
  })

  it('records nothing while the microphone is muted, and continues when it is unmuted', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await startUnpluggable(candidate)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await page.evaluate('mute(true)')
    await expect.poll(() => page.evaluate('recorded.length'), PATIENT).toBe(2) // the device check and the first part of the answer
    expect(await page.evaluate('begun')).toBe(2)
    await page.evaluate('mute(false)')
    await expect.poll(() => page.evaluate('begun'), PATIENT).toBe(3)
    await savedUpTo(page, (await savedSeconds(page)) + 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    expect(await page.evaluate('[begun, recorded.length]')).toEqual([3, 3])
    expect((await readyMedia(candidate, 'audio')).milliseconds).toBeGreaterThan(3_000)
  })

  it('keeps the recording when the only microphone is unplugged, and continues when it is back', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await startUnpluggable(candidate)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await unplug(page, ['audio'], { isOnly: true })
    await page.getByText('Connect it again, then continue.').waitFor()
    await page.evaluate('plugIn()')
    await press(page, 'Continue recording audio')
    await savedUpTo(page, 4)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    expect((await readyMedia(candidate, 'audio')).milliseconds).toBeGreaterThan(3_000)
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: false, interruptions: 1 }])
  })

  it.each([
    ['stills', 'webcam_still'],
    ['video', 'webcam'],
  ])('asks for the webcam when it is unplugged, and continues when it is back: %s', async (as, kept) => {
    const at = await findFreePort()
    await launch(at, { WEBCAM: as })
    const candidate = await makeCandidate({ responseTypes: ['text'], webcamMonitoring: true, at })
    const page = await startUnpluggable(candidate)
    await waitUntil('the webcam', async () => (await candidate.media()).find(({ kind, bytes }) => kind === kept && bytes > 0))
    await unplug(page, ['video'], { isOnly: true })
    await notice(page, 'Your webcam is off.').waitFor()
    await press(page, 'Turn my webcam on')
    await notice(page, 'The browser found no camera').waitFor()
    await page.evaluate('plugIn()')
    await press(page, 'Turn my webcam on')
    await notice(page, 'Your webcam is off.').waitFor({ state: 'hidden' })
    await waitUntil('the note', async () => (await candidate.notes()).find(({ kind }) => kind === 'camera_lost'))
  })

  it.each([
    ['is refused', `Object.defineProperty(globalThis, 'indexedDB', { get() { throw new DOMException('', 'SecurityError') } })`],
    [
      'is taken away',
      `const { transaction } = IDBDatabase.prototype
       IDBDatabase.prototype.transaction = function (...given) { this.close(); return transaction.apply(this, given) }`,
    ],
    [
      'is full',
      `const { put } = IDBObjectStore.prototype
       IDBObjectStore.prototype.put = function (...given) {
         const request = put.apply(this, given)
         request.addEventListener('success', () => this.transaction.abort())
         return request
       }`,
    ],
  ])('loses no recorded part when the storage of the browser %s, and asks to keep the page open', async (_, script) => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const context = await openContext()
    await context.addInitScript(script)
    const page = await context.newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await context.setOffline(true)
    await notice(page, 'keep this page open').waitFor()
    await press(page, 'Stop recording')
    await context.setOffline(false)
    await page.getByText(/^Saved: /).waitFor()
    await expectWhole('audio', await readyMedia(candidate, 'audio'), await recorded(page))
  })

  it('stays on the question when a proxy answers instead of the service, and continues by itself afterwards', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text', 'text'] })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('Mine.')
    await page.route('**/next', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }))
    await leaveQuestion(page)
    await page.getByRole('alert').getByText('The service could not be reached. Nothing is lost').waitFor()
    expect(await answerBox(page).inputValue()).toBe('Mine.')
    await answerBox(page).fill('Mine, with more.')
    await page.unroute('**/next')
    await button(page, 'Open question 2').waitFor()
    expect((await candidate.attempts()).map(({ text }) => text)).toEqual(['Mine, with more.'])
  })

  it('continues by itself when the service is unavailable at the end of a question', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text', 'text'], timeLimit: 3 })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).waitFor()
    let refused = 0
    await page.route(candidate.link, (route) => {
      refused++
      return refused > 2 ? route.fallback() : route.fulfill({ status: 503, contentType: 'text/html', body: '<main>Busy</main>' })
    })
    await button(page, 'Open question 2').waitFor({ timeout: PATIENT.timeout })
    expect(refused).toBe(3)
  })

  it('asks for the remaining time after the device has slept', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 600 })
    const context = await openContext()
    await context.addInitScript(`
      globalThis.slept = 0
      const now = performance.now.bind(performance)
      performance.now = () => now() - slept`)
    const page = await context.newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await page.getByText(/^Time left: 9:5/).waitFor()
    await page.evaluate('slept = 120_000') // the page still counts down from before the sleep
    await page.getByText(/^Time left: 1[12]:/).waitFor({ state: 'hidden' })
    await page.getByText(/^Time left: 9:/).waitFor()
  })

  it('reports that the invitation was withdrawn in the middle', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'] })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).waitFor()
    expect((await candidate.withdraw()).status).toBe(200)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await page.getByText('It has been withdrawn or declined').waitFor()
  })

  it('stops reporting missing checks once all are done', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await (await openContext()).newPage()
    await page.goto(candidate.link)
    await press(page, 'I agree')
    await page.getByRole('region', { name: 'Connection' }).waitFor()
    await expectStartClosed(page)
    const missing = page.getByText('Something is still missing')
    await prepare(page)
    await expect.poll(() => missing.isVisible(), PATIENT).toBe(false)
  })
})
