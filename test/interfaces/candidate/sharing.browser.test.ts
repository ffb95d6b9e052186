import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isBrowserInstalled, leaveQuestion, press } from '../../support/browser.ts'
import { answerBox, button, notice, start, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { waitUntil } from '../../support/wait-until.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

/** Simulates a screen whose sharing the candidate can refuse, or end with the browser's own button. */
const ENDABLE = `
  const media = navigator.mediaDevices
  const share = media.getDisplayMedia.bind(media)
  let shared = []
  media.getDisplayMedia = async (wanted) => {
    if (sessionStorage.refuses) throw new DOMException('', 'NotAllowedError')
    const stream = await share(wanted)
    shared = stream.getTracks()
    return stream
  }
  globalThis.endSharing = () => {
    for (const track of shared) track.stop()
    for (const track of shared) track.dispatchEvent(new Event('ended'))
  }`

const missing = (page: Page) => notice(page, 'Your screen is not being recorded.')
const stopped = (page: Page) => page.getByRole('alert').getByText('You can continue when your screen is shared again')

/** Opens the first of two questions while the screen is being recorded. */
async function startSharing() {
  const candidate = await makeCandidate({ responseTypes: ['text', 'text'], screenRecording: true })
  const context = await openContext()
  await context.addInitScript(ENDABLE)
  const page = await context.newPage()
  await start(candidate, page)
  await press(page, 'Open question 1')
  await answerBox(page).fill('Mine.')
  return { candidate, page }
}

describe.skipIf(!isBrowserInstalled)('required screen sharing (skipped where no chromium is installed)', () => {
  it('blocks moving on while it is stopped, and loses nothing of the answer', async () => {
    const { candidate, page } = await startSharing()
    await page.evaluate('endSharing()')
    await missing(page).waitFor()
    await leaveQuestion(page)
    await stopped(page).waitFor()
    await answerBox(page).fill('Mine, and more.')
    await waitUntil('the text', async () => (await candidate.attempts()).find(({ text }) => text === 'Mine, and more.'))
    await press(page, 'Share my screen')
    await missing(page).waitFor({ state: 'hidden' })
    await stopped(page).waitFor({ state: 'hidden' })
    await leaveQuestion(page)
    await press(page, 'Open question 2')
    await answerBox(page).waitFor()
    const noted = async () => (await candidate.notes()).map(({ kind }) => kind).filter((kind) => kind.startsWith('sharing'))
    await waitUntil('the notes', async () => ((await noted()).length === 3 ? true : undefined))
    expect((await noted()).sort()).toEqual(['sharing_begun', 'sharing_begun', 'sharing_ended'])
  })

  it('is requested before the first question opens, even if the button is pressed at once', async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], screenRecording: true })
    const page = await (await openContext()).newPage()
    await page.route('**/session', async (route) => {
      await wait(1_000)
      await route.continue()
    })
    await start(candidate, page)
    await press(page, 'Open question 1')
    await answerBox(page).fill('Mine.')
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('blocks moving on if it is refused after a reload, until the organization waives it', async () => {
    const { candidate, page } = await startSharing()
    await leaveQuestion(page)
    await button(page, 'Open question 2').waitFor()
    await page.evaluate('sessionStorage.refuses = "yes"')
    await page.reload()
    await missing(page).waitFor()
    await press(page, 'Share my screen')
    await missing(page).getByText('Sharing was canceled').waitFor()
    await press(page, 'Open question 2')
    await stopped(page).waitFor()
    await candidate.waive('screen')
    await missing(page).waitFor({ state: 'hidden' })
    await press(page, 'Open question 2')
    await answerBox(page).fill('By a waiver.')
    await leaveQuestion(page)
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect((await candidate.attempts()).map(({ text }) => text)).toEqual(['Mine.', 'By a waiver.'])
  })
})
