import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible, isBrowserInstalled, press, watch } from '../../support/browser.ts'
import { answerBox, button, type Candidate, savedUpTo, start, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { PATIENT } from '../../support/wait-until.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

/** Opens the first question, in its preparation time. */
async function openQuestion(candidate: Candidate): Promise<Page> {
  const page = await (await openContext()).newPage()
  await start(candidate, page)
  await press(page, 'Open question 1')
  await page.getByText(/^Time to prepare: /).waitFor()
  await page.evaluate('globalThis.isSame = true')
  return page
}

const isSame = (page: Page) => page.evaluate('globalThis.isSame')

describe.skipIf(!isBrowserInstalled)('a preparation time in a browser (skipped where no chromium is installed)', () => {
  it('is counted down, and turns into the answer without a reload', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], preparationTime: 10, timeLimit: 120 })
    const page = await openQuestion(candidate)
    const complaints = watch(page)
    expect(await page.getByText('Please introduce yourself.').isVisible()).toBe(true)
    expect([await answerBox(page).isVisible(), await page.getByText(/^Time left: /).isVisible()]).toEqual([false, false])
    await expectAccessible(page)
    await answerBox(page).waitFor()
    await page.getByText(/^Time left: (2:00|1:5\d)$/).waitFor()
    await page.getByText('You can answer now.').waitFor({ state: 'attached' })
    expect([await button(page, 'Answer now').count(), await isSame(page)]).toEqual([0, true])
    await answerBox(page).fill('I am ready.')
    await expect.poll(async () => (await candidate.attempts()).map(({ text }) => text), PATIENT).toEqual(['I am ready.'])
    expect(complaints).toEqual([])
  })

  it('ends when “Answer now” is pressed, and stays ended after a reload', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], preparationTime: 600, timeLimit: 120 })
    const page = await openQuestion(candidate)
    await page.reload()
    await page.getByText(/^Time to prepare: (9:5\d|10:00)$/).waitFor()
    expect(await button(page, 'Record audio').isVisible()).toBe(false)
    await button(page, 'Answer now').focus()
    await page.keyboard.press('Enter')
    await button(page, 'Record audio').waitFor()
    expect(await button(page, 'Record audio').evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true)
    await page.getByText(/^Time left: (2:00|1:5\d)$/).waitFor()
    await page.reload()
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
  })

  it('ends by the page’s clock without a connection, and keeps what is typed until it is back', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], preparationTime: 6, timeLimit: 120 })
    const page = await openQuestion(candidate)
    await page.context().setOffline(true)
    await answerBox(page).fill('Typed off line')
    await page.getByText('No connection: not saved yet, but kept on this device.').waitFor()
    await page.context().setOffline(false)
    await expect.poll(async () => (await candidate.attempts()).map(({ text }) => text), PATIENT).toEqual(['Typed off line'])
  })

  it('is longer once extra time is given', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], preparationTime: 300 })
    const page = await openQuestion(candidate)
    await candidate.giveExtraTime(100)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`) // the page also asks for the time every minute
    await page.getByText(/^Time to prepare: (10:00|9:\d\d)$/).waitFor()
    await page.getByText('You have been given more time.').waitFor({ state: 'attached' })
    await press(page, 'Answer now')
    await answerBox(page).waitFor()
    expect([await page.getByRole('timer').count(), await isSame(page)]).toEqual([0, true])
  })
})
