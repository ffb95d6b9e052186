import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSlices } from '../media/recordings.ts'
import { desktop, expectAccessible, isBrowserInstalled, overflow, watch } from '../support/browser.ts'
import { startBrowserForFile } from '../support/browser-for-file.ts'
import { makeSpoken } from '../support/grading.ts'
import { signInAs } from '../support/portal.ts'
import { PATIENT } from '../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

const LINES = ['First I listen.', 'Then I speak to Zanzibar.', 'At last I rest.']

/** Opens a submission of two recorded answers, with transcripts of three lines in 2.9 s, as a grader who may read them. */
async function openTranscribed(canViewTranscription = true) {
  const made = await makeSpoken(service, await readSlices('audio'), 2)
  const media = await service.db.mediaFile.findMany({ where: { submissionId: made.submissionId, kind: 'answer' } })
  const segments = LINES.map((text, i) => [i * 900, i * 900 + 800, text, i === 1 ? 1 : 0])
  const words = { state: 'ready', language: 'en', model: 'whisper-test', text: LINES.join('\n'), segments }
  for (const { id, organizationId, createdAt } of media)
    await service.db.transcript.create({ data: { ...words, mediaId: id, organizationId, createdAt } })
  const grader = await signInAs(service, made.organization.id, ['grader'])
  await service.db.member.update({ where: { id: grader.member.id }, data: { canViewTranscription } })
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  return { ...made, page, home: `${origin}${grader.home}`, complaints: watch(page) }
}

const secondsOf = (page: Page, question: number) =>
  page.locator(`#question-${question} audio`).evaluate((player: { currentTime: number }) => player.currentTime)

describe.skipIf(!isBrowserInstalled)('a transcript beside a recording (skipped where no chromium is installed)', () => {
  it('leads to the moment of a line, marks the spoken one, and gives the player captions', async () => {
    const { page, home, submissionId, complaints } = await openTranscribed()
    await page.goto(`${home}grading/${submissionId}`)
    const lines = page.locator('#question-1 [data-transcript] li')
    expect(await lines.count()).toBe(3)
    const marked = () => page.locator('#question-1 [data-transcript] li[aria-current]').allInnerTexts()
    expect(await marked()).toEqual([])
    await lines.nth(1).getByRole('link').click()
    await expect.poll(marked, PATIENT).toEqual([expect.stringContaining('Zanzibar')])
    expect(await secondsOf(page, 1)).toBeGreaterThanOrEqual(0.9)
    await expect.poll(marked, PATIENT).toEqual([expect.stringContaining('At last I rest.')]) // continues to play
    const cues = () =>
      page.evaluate(`(() => {
        const [track] = document.querySelector('#question-1 audio').textTracks
        track.mode = 'hidden' // loads the captions
        return [...(track.cues ?? [])].map((cue) => [cue.startTime, cue.text])
      })()`)
    await expect.poll(cues, PATIENT).toEqual(LINES.map((text, i) => [i * 0.9, text]))
    await expectAccessible(page)
    expect(await overflow(page)).toBe(0)
    expect(complaints).toEqual([])
  })

  it('is corrected on a separate page', async () => {
    const { page, home, submissionId } = await openTranscribed()
    await page.goto(`${home}grading/${submissionId}`)
    await page.locator('#question-2').getByRole('link', { name: 'Correct' }).click()
    await page.getByLabel('0:00', { exact: true }).nth(1).fill('Then I speak to Zagreb.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The transcript is saved.').waitFor()
    await expectAccessible(page)
    await page.goto(`${home}grading/${submissionId}`)
    const corrected = page.locator('#question-2 [data-transcript]')
    await corrected.getByText('Corrected by a grader').waitFor()
    expect(await corrected.locator('li').nth(1).innerText()).toContain('Zagreb')
    expect(await page.locator('#question-1 [data-transcript] li').nth(1).innerText()).toContain('Zanzibar')
  })

  it('is found by its words, and opens where they are said', async () => {
    const { page, home, assessment, complaints } = await openTranscribed()
    await page.goto(`${home}grading?queue=nobody&assessment=${assessment.id}`)
    await page.getByLabel('Words said in recorded answers').fill('zanzibar')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mei Tanaka, question 2' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('listitem').filter({ hasText: 'question 2' }).getByRole('link', { name: '0:00' }).click()
    await page.waitForURL('**/grading/*#question-2')
    await expect.poll(() => secondsOf(page, 2), PATIENT).toBe(0.9)
    const marked = page.locator('#question-2 [data-transcript] li[aria-current]')
    await expect.poll(() => marked.allInnerTexts(), PATIENT).toEqual([expect.stringContaining('Zanzibar')])
    expect(await secondsOf(page, 1)).toBe(0)
    expect(complaints).toEqual([])
  })
})
