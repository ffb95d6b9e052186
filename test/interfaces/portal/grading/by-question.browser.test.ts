import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeAnswers } from '../../../support/answers.ts'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'
import { RUBRIC, RUBRIC_POINTS } from '../../../support/rubrics.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Signs in a grader, and opens the questions of an assessment with this many answers. */
async function openQuestions(count: number) {
  const texts = Array.from({ length: count }, (_, i) => `Answer ${i + 1}: I would listen first, and then ask.`)
  const made = await makeAnswers(service, texts, { points: RUBRIC_POINTS, rubric: RUBRIC })
  service.clock.advance(1_000) // grades must be newer than the submission
  const grader = await signInAs(service, made.organization.id, ['grader'])
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  await page.goto(`${origin}${grader.home}grading/by-question/${made.assessment.id}`)
  return { ...made, page }
}

/** Waits for the message below the question. */
const says = (page: Page, text: string) => page.locator('#saved-1', { hasText: text }).waitFor()
const ready = (page: Page) => page.locator('#saved-1').waitFor()

/** Presses keys without pauses. @returns the number of keys. */
async function press(page: Page, ...keys: string[]): Promise<number> {
  for (const key of keys) await page.keyboard.press(key)
  return keys.length
}

describe.skipIf(!isBrowserInstalled)('grading by question in a browser (skipped where no chromium is installed)', () => {
  it(
    'needs four keys for each of 40 answers with a rubric of three criteria, and saves each once',
    async () => {
      const { page, grades, submissions } = await openQuestions(40)
      const complaints = watch(page)
      await page.getByRole('link', { name: 'Grade question 1' }).press('Enter')
      let keys = 0
      for (let i = 0; i < 40; i++) {
        await page.getByText(`${i} of 40 answers`).waitFor()
        await ready(page)
        service.clock.advance(20_000)
        keys += await press(page, '3', '2', String(1 + (i % 2)), 'Enter')
      }
      await page.getByText('You have graded 40 answers to this question.').waitFor()
      expect(keys).toBe(160)
      const all = await grades()
      expect(new Set(all.map(({ submissionId }) => submissionId))).toEqual(new Set(submissions.map(({ id }) => id)))
      expect(all.map(({ points, levels }) => [Number(points), levels.join()])).toEqual(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? [7.5, '3,2,1'] : [9, '3,2,2'])),
      )
      expect(complaints).toEqual([])
    },
    PATIENT.timeout,
  )

  it('skips, goes back, undoes a level, writes a comment, and accepts other points with a comment', async () => {
    const { page, grades } = await openQuestions(3)
    await page.getByRole('link', { name: 'Grade question 1' }).click()
    await ready(page)
    const first = page.url()
    await press(page, 'Enter')
    expect(await page.getByText('Not graded yet. Press n to skip this answer.').count()).toBe(1)
    await press(page, 'n')
    await page.waitForURL((url) => url.href !== first && /[0-9a-f-]{36}$/.test(url.pathname))
    await ready(page)
    await press(page, '1', '1', '2', 'z', 'k', '2', '1')
    await waitUntil('the points to follow', async () => (await page.locator('#points-1').inputValue()) === '3.5' || undefined)
    await page.locator('#points-1').hover()
    await page.mouse.wheel(0, 300)
    expect(await page.locator('#points-1').inputValue()).toBe('3.5')
    await page.locator('#points-1').fill('8')
    await says(page, 'Not saved: Say in the comment why: the chosen levels make 3.5 points.')
    await page.locator('#comment-1').fill('Saved the call')
    await says(page, 'Saved.')
    await page.locator('[data-save-next]').dblclick()
    await page.getByText('1 of 3 answers').waitFor()
    expect((await grades()).map(({ points, levels, comment }) => [Number(points), levels, comment])).toEqual([
      [8, [1, 2, 1], 'Saved the call'],
    ])
    await press(page, 'N')
    await page.waitForLoadState()
  })

  it('stays at the answer while the network is down, and loses nothing', async () => {
    const { page, grades } = await openQuestions(2)
    await page.getByRole('link', { name: 'Grade question 1' }).click()
    await ready(page)
    await page.route('**/save', (route) => route.abort())
    await press(page, '2', '2', '2', 'Enter')
    await says(page, 'No connection: not saved yet. What you have typed is kept in this browser.')
    expect(await grades()).toEqual([])
    await page.unroute('**/save')
    await page.getByText('1 of 2 answers').waitFor({ timeout: PATIENT.timeout })
    expect((await grades()).map(({ points }) => Number(points))).toEqual([7])
  })

  it('is accessible, and fits a phone', async () => {
    const { page } = await openQuestions(2)
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Grade question 1' }).click()
    await ready(page)
    await expectAccessible(page)
    await page.setViewportSize(phone)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
  })
})
