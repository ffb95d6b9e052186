import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { PromptTimings } from '../../../src/domain/submissions/taking/prompt-timing.ts'
import { expectAccessible, isBrowserInstalled, press } from '../../support/browser.ts'
import { button, type Candidate, readyMedia, savedUpTo, start, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { makeClicks } from '../../support/clicks.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

/** Stores the tracks that the page opens, so that a test can disconnect them. */
const KEEP_TRACKS = `
  globalThis.opened = []
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
  navigator.mediaDevices.getUserMedia = async (asked) => {
    const stream = await open(asked)
    opened.push(...stream.getTracks())
    return stream
  }`
const DISCONNECT = `for (const track of opened) if (track.readyState === 'live') {
  track.stop()
  track.dispatchEvent(new Event('ended'))
}`

/** Opens a simultaneous question after the headphone check has passed. */
async function open(seconds: number) {
  const candidate = await makeCandidate({
    responseTypes: ['audio'],
    answerRecordLimit: 3,
    simultaneousPrompt: makeClicks(seconds, [1, 2, 3]),
  })
  const context = await openContext()
  await context.addInitScript(KEEP_TRACKS)
  const page = await context.newPage()
  await start(candidate, page)
  await page.getByText('You need headphones.').waitFor()
  await press(page, 'Open question 1')
  await press(page, 'Listen and speak')
  await page.getByText('First put on your headphones, confirm it, and play the tone.').waitFor()
  await page.getByLabel('I am wearing headphones').check()
  await press(page, 'Play a tone')
  await page.getByText('Good: your microphone does not hear the tone.').waitFor()
  return { candidate, page }
}

async function begin(page: Page): Promise<void> {
  await press(page, 'Listen and speak')
  await page.getByText('Playing', { exact: true }).waitFor(PATIENT)
}

const timingsOf = async (candidate: Candidate) =>
  ((await candidate.attempts())[0]!.promptTiming ?? {}) as unknown as PromptTimings
const positionOf = (page: Page) => page.evaluate<number>("document.querySelector('[data-simultaneous] audio').currentTime")

describe.skipIf(!isBrowserInstalled)('a simultaneous question (skipped where no chromium is installed)', () => {
  it('records while its prompt plays, and stops by itself after it', async () => {
    const { candidate, page } = await open(4)
    await expectAccessible(page)
    await begin(page)
    await expectAccessible(page)
    await page.getByText('The question is over. Recording stops by itself in 10 seconds.').waitFor()
    await page.getByText(/^Saved: 0:1[3-6]\.$/).waitFor({ timeout: 20_000 })
    await page.getByText('You can’t record this answer again.').waitFor()
    const { milliseconds, segmentEnds } = await readyMedia(candidate, 'audio')
    expect(segmentEnds).toEqual([milliseconds])
    const { 0: timing } = await timingsOf(candidate)
    expect(timing).toMatchObject({ from: 0, headphones: 'unheard' })
    expect(timing!.zero).toBeGreaterThan(-50)
    expect(timing!.zero).toBeLessThan(1_500)
    expect(timing!.elapsed).toBeGreaterThan(13_900)
  })

  it('continues five seconds earlier after a reload, once', async () => {
    const { candidate, page } = await open(30)
    await begin(page)
    await savedUpTo(page, 8)
    const stoppedAt = await positionOf(page)
    await page.reload()
    await page.getByText('It continues 5 seconds before it stopped. You can continue once.').waitFor()
    await expectAccessible(page)
    await press(page, 'Continue recording audio')
    await page.getByText('Playing', { exact: true }).waitFor(PATIENT)
    const second = () => timingsOf(candidate).then(({ 1: timing }) => timing)
    const { from, zero } = await waitUntil('the report of the second segment', second)
    expect(Math.abs(from / 1_000 - (stoppedAt - 5))).toBeLessThan(1.5)
    expect(Math.abs(zero + from)).toBeLessThan(1_500)
    await page.reload()
    await page
      .getByText(/Your answer is saved|^Saved/)
      .first()
      .waitFor()
    expect(await button(page, 'Continue recording audio').count()).toBe(0)
    expect(await candidate.paper()).toMatchObject([{ plays: 2 }])
    expect(await candidate.attempts()).toMatchObject([{ interruptions: 1, wasInterrupted: true }])
  })

  it('stops playing when the microphone disconnects, and continues with another', async () => {
    const { candidate, page } = await open(30)
    await begin(page)
    await savedUpTo(page, 2)
    await page.evaluate(DISCONNECT)
    await page.getByText('It continues 5 seconds before it stopped. You can continue once.').waitFor()
    const stoppedAt = await positionOf(page)
    expect(await page.evaluate("document.querySelector('[data-simultaneous] audio').paused")).toBe(true)
    await press(page, 'Continue recording audio')
    await expect.poll(() => positionOf(page), PATIENT).toBeGreaterThan(0.5)
    expect(await positionOf(page)).toBeLessThan(stoppedAt + 5)
    await savedUpTo(page, 6)
    await page.evaluate(DISCONNECT)
    await page.getByText(/^Saved: /).waitFor()
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: false, interruptions: 1 }])
    const notes = async () => (await candidate.notes()).map(({ kind }) => kind)
    await expect.poll(notes, PATIENT).toEqual(['microphone_lost', 'microphone_lost'])
  })
})
