import { describe, expect, it } from 'vitest'
import { isBrowserInstalled, press, watch } from '../../support/browser.ts'
import { answerBox, start, useCandidatesBrowser } from '../../support/candidate-browser.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

describe.skipIf(!isBrowserInstalled)('extra time in a browser (skipped where no chromium is installed)', () => {
  it('reaches the open page without a reload, and keeps the typed text', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], timeLimit: 600 })
    const page = await (await openContext()).newPage()
    const complaints = watch(page)
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('I am')
    const clock = page.getByRole('timer')
    await clock.filter({ hasText: /\b(9:\d\d|10:00)/ }).waitFor()
    await page.evaluate('globalThis.isSame = true')
    const { status } = await candidate.giveExtraTime(100)
    expect(status).toBe(200)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`) // the page also asks for the time every minute
    await clock.filter({ hasText: /\b1\d:\d\d/ }).waitFor()
    await page.getByText('You have been given more time.').waitFor({ state: 'attached' })
    expect(await page.evaluate('globalThis.isSame')).toBe(true)
    expect(await answerBox(page).inputValue()).toBe('I am')
    expect(complaints).toEqual([])
  })
})
