import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chooseAnswer } from '../../../src/domain/submissions/choose-answer.ts'
import { expectAccessible, isBrowserInstalled, leaveQuestion, press } from '../../support/browser.ts'
import { button, type Candidate, readyMedia, savedUpTo, start, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { PATIENT } from '../../support/wait-until.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

/** Opens the first question, and records until two seconds are saved. */
async function record(candidate: Candidate): Promise<Page> {
  const page = await (await openContext()).newPage()
  await start(candidate, page)
  await press(page, 'Open question 1')
  await press(page, 'Record audio')
  await savedUpTo(page, 2)
  return page
}

const INTERRUPTED = /^Your recording was interrupted after about 0:0\d\.$/

describe.skipIf(!isBrowserInstalled)('an interrupted recording (skipped where no chromium is installed)', () => {
  it('continues after a reload as the same attempt, and becomes one file', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], answerRecordLimit: 1, timeLimit: 120 })
    const page = await record(candidate)
    await page.reload()
    await page.getByText(INTERRUPTED).waitFor()
    expect(await page.getByText(/Your (earlier recording|answer) is saved/).count()).toBe(0)
    expect(await page.getByText('Do you need another attempt?').isVisible()).toBe(true)
    await expectAccessible(page)
    await press(page, 'Continue recording audio')
    await savedUpTo(page, 4)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: 0:0[4-9]\.$/).waitFor()
    await page.getByText('You can’t record this answer again.').waitFor()
    const { milliseconds } = await readyMedia(candidate, 'audio')
    expect(milliseconds).toBeGreaterThan(3_000)
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: false, interruptions: 1 }])
    const player = page.locator('video[aria-label^="Attempt 1: audio, 0:0"]')
    await player.waitFor({ timeout: PATIENT.timeout })
    const readyState = () => page.evaluate('document.querySelector(\'video[aria-label^="Attempt 1"]\').readyState')
    await expect.poll(readyState, PATIENT).toBeGreaterThan(0)
  })

  it('restarts once in a new tab, without costing an attempt', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], answerRecordLimit: 1 })
    const page = await record(candidate)
    const next = await page.context().newPage()
    await page.close()
    await next.goto(candidate.link)
    await press(next, 'Start over')
    await savedUpTo(next, 2)
    await next.reload()
    await button(next, 'Continue recording audio').waitFor()
    expect(await button(next, 'Start over').isVisible()).toBe(false)
    await press(next, 'Keep it as it is')
    await next.getByText(/^Saved: /).waitFor()
    const attempts = await candidate.attempts()
    expect(attempts).toMatchObject([
      { restarted: true, wasInterrupted: true },
      { restarted: false, wasInterrupted: false },
    ])
    expect(chooseAnswer(attempts)).toBe(attempts[1])
  })

  it('is reported as ended when it can no longer be continued', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await record(candidate)
    await page.reload()
    await button(page, 'Continue recording audio').waitFor()
    await candidate.endTakes()
    await press(page, 'Continue recording audio')
    await page.getByText('This recording has already ended, so you can’t continue it.').waitFor()
    expect(await page.getByText('The time for this question').count()).toBe(0)
  })

  it('stays interrupted if the candidate moves on', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio', 'text'], answerRecordLimit: 1 })
    const page = await record(candidate)
    await page.reload()
    await page.getByText(INTERRUPTED).waitFor()
    await leaveQuestion(page)
    await press(page, 'Leave it')
    await button(page, 'Open question 2').waitFor()
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: true }])
  })
})

describe.skipIf(!isBrowserInstalled)('the end of the time (skipped where no chromium is installed)', () => {
  it('ends a second attempt, explains that the first counts, and waits before continuing', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio', 'text'], answerRecordLimit: 2, timeLimit: 10 })
    const page = await (await openContext()).newPage()
    await start(candidate, page)
    await page.getByText('You answer with an audio recording. You can record it 2 times.').waitFor()
    await page.getByText('Reading the question, opening your device, and all your attempts share this time.').waitFor()
    await press(page, 'Open question 1')
    await page.getByText(/If the time runs out while you record, your last finished attempt stays your answer\.$/).waitFor()
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    await press(page, 'Record audio again')
    await page.getByRole('heading', { name: 'Time is up.' }).waitFor({ timeout: PATIENT.timeout })
    await page.getByText(/^Your recording of 0:0\d was saved\.$/).waitFor()
    await page.getByText(/^What counts: Attempt 1: audio, 0:0\d\.$/).waitFor()
    await page.getByText(/^Continues by itself in \d seconds?\.$/).waitFor()
    await expectAccessible(page)
    expect((await candidate.paper())[1]!.openedAt).toBe(null)
    await press(page, 'Continue')
    await button(page, 'Open question 2').waitFor()
    const attempts = await candidate.attempts()
    expect(attempts).toMatchObject([{ wasInterrupted: false }, { wasInterrupted: true }])
    expect(chooseAnswer(attempts)).toBe(attempts[0])
  })
})
