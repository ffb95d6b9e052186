import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  isBrowserInstalled,
  leaveQuestion,
  looksOf,
  overflow,
  phone,
  press,
  watch,
} from '../../support/browser.ts'
import {
  answerBox,
  button,
  type Candidate,
  expectStartClosed,
  type Lasted,
  notice,
  prepare,
  readyMedia,
  recorded,
  savedUpTo,
  start,
  useCandidatesBrowser,
} from '../../support/candidate-browser.ts'
import { findFreePort } from '../../support/free-port.ts'
import { scaled } from '../../support/scale.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

/** Longest part of a recording that a killed tab may lose. */
const LOST_BY_KILL_MS = 4_000

const { makeCandidate, openContext, launch, expectWhole } = useCandidatesBrowser()

describe.skipIf(!isBrowserInstalled)('an assessment in a browser (skipped where no chromium is installed)', () => {
  it('works from start to end with text, audio, video, a choice, the screen, and both photos', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text', 'audio', 'video', 'mixed'], proctored: true })
    const page = await (await openContext()).newPage()
    const complaints = watch(page)
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('I am Sam.')
    await page.getByText('Saved.').waitFor()
    await leaveQuestion(page)
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
      await leaveQuestion(page)
    }
    await press(page, 'Open question 4')
    await answerBox(page).fill('I write.')
    await leaveQuestion(page)
    await page.getByText('You have answered every question.').waitFor()
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    lengths.screen = await recorded(page)
    expect(await candidate.status()).toBe('completed')
    expect((await candidate.attempts()).map(({ kind, state, text }) => [kind, state, text])).toEqual([
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
    await page.getByText('Recording', { exact: true }).waitFor()
    const began = performance.now()
    await page.waitForTimeout(scaled(7_000, 60_000))
    const killed = performance.now() - began
    const cdp = await context.newCDPSession(page)
    const crashed = page.waitForEvent('crash')
    cdp.send('Page.crash').catch(() => {}) // the crashed page never responds
    await crashed
    const next = await context.newPage()
    await next.goto(candidate.link)
    await next.getByText(/^Your recording was interrupted after about 0:\d\d\.$/).waitFor()
    await press(next, 'Keep it as it is')
    await next.getByText(/^Saved: /).waitFor()
    const { milliseconds } = await readyMedia(candidate, 'video')
    expect(killed - milliseconds!).toBeLessThan(LOST_BY_KILL_MS)
    expect((await candidate.attempts()).map(({ state }) => state)).toEqual(['complete'])
  })

  /** Breaks something while a recording runs, and repairs it after the recording has stopped. */
  async function recordThrough(
    candidate: Candidate,
    { cut, repair }: { cut: (page: Page) => Promise<void>; repair: (page: Page) => Promise<unknown> },
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
    await repair(page)
    await page.getByText(/^Saved: /).waitFor()
    await expectWhole('audio', await readyMedia(candidate, 'audio'), await recorded(page))
  }

  it('loses nothing of a recording while offline, and shows the saved part', async () => {
    const setOffline = (is: boolean) => (page: Page) => page.context().setOffline(is)
    await recordThrough(await makeCandidate({ responseTypes: ['audio'] }), { cut: setOffline(true), repair: setOffline(false) })
  })

  it('loses nothing of a recording while the service is killed and restarted', async () => {
    const own = await findFreePort()
    const service = await launch(own)
    const cut = async () => {
      service.kill('SIGKILL')
      await service.exited
    }
    await recordThrough(await makeCandidate({ responseTypes: ['audio'], at: own }), { cut, repair: () => launch(own) })
  })

  it('keeps an unsaved text over a reload, and saves it when the connection is back', async () => {
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
    await waitUntil('the text', async () => (await candidate.attempts()).find(({ text }) => text === 'Not saved yet.'))
    await leaveQuestion(page)
    await button(page, 'Finish').waitFor()
    expect((await candidate.attempts()).map(({ text }) => text)).toEqual(['Not saved yet.'])
  })

  it('continues after a reload, and asks for the screen again', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 600, proctored: true })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await page.getByText(/^Time left: 9:/).waitFor()
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

  it('lets a second tab take over, and notifies the first', async () => {
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
    expect((await candidate.attempts()).map(({ text }) => text)).toEqual(['From the second.'])
    await press(first, 'Continue here')
    await expect.poll(() => answerBox(first).inputValue(), PATIENT).toBe('From the second.')
  })

  it.each([-3_600_000, 3_600_000])('grants the same time when the device clock is off by %i ms', async (off) => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 6 })
    const context = await openContext()
    await context.addInitScript(`const now = Date.now; Date.now = () => now() + ${off}`)
    const page = await context.newPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).pressSequentially('In time')
    await page.getByText(/^Time left: 0:0[1-5]/).waitFor()
    await button(page, 'Finish').waitFor()
    expect((await candidate.attempts()).map(({ text }) => text)).toEqual(['In time'])
  })

  it('can be completed by keyboard alone', async () => {
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
    await pressByKey('Next question')
    await pressByKey('Open question 2')
    await answerBox(page).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('By keys')
    await pressByKey('Save and go to the end')
    await pressByKey('Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect((await candidate.attempts()).map(({ kind, state }) => [kind, state])).toEqual([
      ['audio', 'complete'],
      ['text', 'complete'],
    ])
  })

  it('accepts text answers without scripts, and explains before the start which answers need them', async () => {
    const page = await (await openContext({ javaScriptEnabled: false, viewport: phone })).newPage()
    const written = await makeCandidate({ responseTypes: ['text'] })
    await page.goto(written.link)
    await press(page, 'I agree')
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await answerBox(page).fill('Without scripts')
    await leaveQuestion(page)
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect((await written.attempts()).map(({ text }) => text)).toEqual(['Without scripts'])
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
    ['NotFoundError', 'The browser found no camera, or no microphone,'],
    ['NotReadableError', 'Another program may be using it'],
    ['OverconstrainedError', 'can’t record in the way that is needed'],
  ])('explains what to do when a device fails with %s', async (name, text) => {
    const candidate = await makeCandidate({ responseTypes: ['video'] })
    const context = await openContext()
    await context.addInitScript(`navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', '${name}') }`)
    const page = await context.newPage()
    await page.goto(candidate.link)
    await press(page, 'I agree')
    await press(page, 'Try your camera and microphone')
    await page.getByRole('alert').getByText(text).waitFor()
    await expectStartClosed(page)
    expect(await candidate.status()).toBe('accepted')
  })

  it('is accessible on each page, in dark and light, and never scrolls sideways', async () => {
    const candidate = await makeCandidate({ responseTypes: ['mixed'], proctored: true, timeLimit: 600 })
    const page = await (await openContext()).newPage()
    let checked = 0
    const check = async (name: string) => {
      for (const { viewport, colorScheme } of looksOf(checked++)) {
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
    expect(await page.locator('[data-prepare] > .notice').count()).toBe(0) // nothing is missing any more
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
    await leaveQuestion(page)
    await page.getByText('You can continue when your screen is shared again').waitFor()
    await check('stopped')
    await press(page, 'Share my screen')
    await notice(page, 'Your screen is not being recorded.').waitFor({ state: 'hidden' })
    await leaveQuestion(page)
    await button(page, 'Finish').waitFor()
    await check('end')
    const other = await page.context().newPage()
    await other.goto(candidate.link)
    await notice(other, 'Your screen is not being recorded.').waitFor() // the other tab has taken over
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))") // sends a note, which is rejected
    await page.getByRole('heading', { name: 'This assessment is open in another tab' }).waitFor()
    await check('taken-over')
    await press(other, 'Finish')
    await other.getByText('You have completed this assessment').waitFor()
    await page.reload()
    await check('completed')
  })
})
