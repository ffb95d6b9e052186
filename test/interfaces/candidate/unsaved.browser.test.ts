import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isBrowserInstalled, leaveQuestion, press, watch } from '../../support/browser.ts'
import {
  answerBox,
  button,
  notice,
  readyMedia,
  recorded,
  savedUpTo,
  start,
  useCandidatesBrowser,
} from '../../support/candidate-browser.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

// Unsaved answers after failures: the page keeps them, or shows that it has not saved them.

const { makeCandidate, openContext, expectWhole } = useCandidatesBrowser()

type Terms = Parameters<typeof makeCandidate>[0]

/** Opens the first question. */
async function startAnswering(terms: Terms) {
  const candidate = await makeCandidate(terms)
  const context = await openContext()
  const page = await context.newPage()
  await start(candidate, page)
  await press(page, 'Open question 1')
  const texts = async () => (await candidate.attempts()).map(({ text }) => text)
  return { candidate, context, page, texts }
}

/** Records the content of the text box at each input event. */
const noteTyping = (page: Page) =>
  page.evaluate(`
    globalThis.typed = ''
    document.querySelector('textarea').addEventListener('input', ({ target }) => { typed = target.value })`)

describe.skipIf(!isBrowserInstalled)('an unsaved answer (skipped where no chromium is installed)', () => {
  it("survives the clearing of the browser's storage during recording, with a notice and no missing part", async () => {
    const { candidate, context, page } = await startAnswering({ responseTypes: ['audio'] })
    const complaints = watch(page)
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await context.setOffline(true)
    await notice(page, 'it is kept on this device').waitFor()
    const cdp = await context.newCDPSession(page)
    await cdp.send('Storage.clearDataForOrigin', { origin: new URL(candidate.link).origin, storageTypes: 'indexeddb' })
    await page.waitForFunction('indexedDB.databases().then((all) => all.length === 0)')
    await context.setOffline(false)
    await notice(page, 'This browser does not keep what you record.').waitFor()
    await savedUpTo(page, 6)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    await notice(page, 'This browser does not keep what you record.').waitFor({ state: 'hidden' })
    await expectWhole('audio', await readyMedia(candidate, 'audio'), await recorded(page))
    await leaveQuestion(page)
    await page.getByText('You have answered every question.').waitFor()
    expect(complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })

  it('is saved up to the last key that was pressed before the end', async () => {
    const { page, texts } = await startAnswering({ responseTypes: ['text'], timeLimit: 6 })
    await page.getByText('Saved as you type.').waitFor()
    await noteTyping(page)
    const box = answerBox(page)
    await box.focus()
    for (let i = 0; (await box.count()) > 0 && (await box.isEditable().catch(() => false)); i++) await page.keyboard.type(`${i} `)
    await button(page, 'Finish').waitFor()
    expect(await texts()).toEqual([await page.evaluate('typed')])
  })

  it('is sent when the connection is back, even if the time of the text is over by then', async () => {
    const { context, page, texts } = await startAnswering({ responseTypes: ['text'], timeLimit: 6 })
    await answerBox(page).fill('Typed')
    await page.getByText('Saved.', { exact: true }).waitFor()
    await context.setOffline(true)
    await answerBox(page).fill('Typed off line')
    await page.getByText('The time for this question is over').waitFor()
    expect(await answerBox(page).isEditable()).toBe(false)
    await context.setOffline(false)
    await button(page, 'Finish').waitFor()
    expect(await texts()).toEqual(['Typed off line'])
  })

  it('is reported when the page is back and the question is closed, until the candidate has read it', async () => {
    const { candidate, context, page, texts } = await startAnswering({ responseTypes: ['text', 'text'] })
    await answerBox(page).fill('Saved.')
    await page.getByText('Saved.', { exact: true }).waitFor()
    // Offline mode would not do: requests that are sent while a page closes still get through.
    await page.evaluate('globalThis.fetch = () => Promise.reject(new TypeError())')
    await answerBox(page).fill('Saved. Never sent.')
    await page.getByText('not saved yet, but kept on this device').waitFor()
    await page.close()
    const elsewhere = await (await openContext()).newPage()
    await elsewhere.goto(candidate.link)
    await elsewhere.locator('.hint', { hasText: /^Saved\.$/ }).waitFor() // only the script sets this text; the text box contains it earlier
    await leaveQuestion(elsewhere)
    await button(elsewhere, 'Open question 2').waitFor()
    const back = await context.newPage()
    await back.goto(candidate.link)
    const lostText = notice(back, 'The end of your answer to question 1 did not reach the service in time.')
    await lostText.waitFor()
    await lostText.getByText('Your text').click()
    await lostText.getByText('Saved. Never sent.').waitFor()
    await back.reload()
    await lostText.waitFor()
    await press(back, 'I have read this')
    await lostText.waitFor({ state: 'hidden' })
    await back.reload()
    await back.getByText('Question 2 of 2').first().waitFor()
    await waitUntil('the script', () =>
      back.evaluate('document.querySelector("aside.session") && true').then((is) => is || undefined),
    )
    expect(await back.evaluate('Object.keys(localStorage)')).toEqual([])
    expect(await texts()).toEqual(['Saved.'])
  })

  it('is asked about once before a question is left empty or recording, and not when the time is up', async () => {
    const { page, candidate } = await startAnswering({
      responseTypes: ['text', 'audio', 'text'],
      timeLimit: 20,
      answerRecordLimit: 1,
    })
    const dialog = page.getByRole('dialog')
    await page.getByText('Saved as you type.').waitFor()
    await leaveQuestion(page)
    await dialog.getByText('Leave question 1 without an answer?').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Stay on this question')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await leaveQuestion(page)
    await press(page, 'Leave it')
    await press(page, 'Open question 2')
    await press(page, 'Record audio')
    await savedUpTo(page, 1)
    await leaveQuestion(page)
    await dialog.getByText('You are still recording').waitFor()
    await press(page, 'Stop and continue')
    await press(page, 'Open question 3')
    await page.getByText('Saved as you type.').waitFor()
    await leaveQuestion(page)
    await dialog.waitFor()
    await page.getByText('Questions 1 and 3 have no answer.').waitFor() // the time limit has closed the question and the dialog
    expect([await dialog.count(), (await candidate.attempts()).length]).toEqual([0, 1])
  })

  it('is counted if a text is too long, and never cut without a notice', async () => {
    const { page, texts } = await startAnswering({ responseTypes: ['text'] })
    const long = `${'x'.repeat(20_000)} and more`
    await page.getByText('Saved as you type.').waitFor()
    await answerBox(page).fill(long)
    await page.getByText('20,009 of 20,000 characters: too long.').first().waitFor()
    await expect.poll(async () => (await texts())[0]?.length, PATIENT).toBe(20_000)
    await page.reload()
    await expect.poll(() => answerBox(page).inputValue(), PATIENT).toBe(long)
    await leaveQuestion(page)
    await page.getByText('Press again to continue anyway.').waitFor()
    await leaveQuestion(page)
    await button(page, 'Finish').waitFor()
    expect(await texts()).toEqual(['x'.repeat(20_000)])
  })

  it('is submitted automatically if Finish could not be sent, without a contrary notice', async () => {
    const { candidate, context, page } = await startAnswering({ responseTypes: ['text'] })
    await answerBox(page).fill('Mine.')
    await leaveQuestion(page)
    await button(page, 'Finish').waitFor()
    await context.setOffline(true)
    await press(page, 'Finish')
    await page.getByRole('alert').getByText('sending is retried automatically').waitFor()
    await notice(page, 'No connection.').waitFor()
    await context.setOffline(false)
    await page.getByText('You have completed this assessment').waitFor()
    expect(await candidate.status()).toBe('completed')
    expect(await notice(page, 'No connection.').isVisible()).toBe(false)
  })
})
