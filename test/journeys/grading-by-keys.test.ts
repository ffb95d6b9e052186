import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readSlices } from '../media/recordings.ts'
import { desktop, expectAccessible, isBrowserInstalled, overflow, startBrowser, watch } from '../support/browser.ts'
import { handInAnother, makeRecorded } from '../support/grading.ts'
import { signInAs } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { PATIENT, waitUntil } from '../support/wait-until.ts'

let service: Service
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  service = await startService()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
})

/** Sum of the browser's layout shifts. */
const WATCH_SHIFTS = `
  globalThis.shifted = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** The queue of a grader who has not begun, with a candidate who has recorded two answers. */
async function openQueue() {
  const [audio, video] = await Promise.all([readSlices('audio'), readSlices('video-0')])
  const made = await makeRecorded(service, { audio, video })
  const { organization } = made
  service.clock.advance(1_000)
  const other = await service.make.assessment(organization.id)
  await service.make.question(other, { points: 5 })
  const { submissionId: next } = await handInAnother(service, other, { answers: 1, recipientName: 'Ada' })
  const grader = await signInAs(service, organization.id, ['grader'])
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  await context.addInitScript(WATCH_SHIFTS)
  const page = await context.newPage()
  return { ...made, next, page, home: `${origin}${grader.home}` }
}

/** Goes to what has that name, and presses it, as somebody does who has no mouse. */
async function pressByKey(page: Page, role: 'link' | 'button', name: string | RegExp): Promise<void> {
  const element = page.getByRole(role, { name }).first()
  await element.waitFor()
  for (let i = 0; i < 60; i++) {
    if (await element.evaluate((one) => one === one.ownerDocument.activeElement)) break
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
}

/** Loaded part of the video: 1 its length, 2 a picture. */
const readyState = (page: Page) => page.evaluate('document.querySelector("video").readyState')

describe.skipIf(!isBrowserInstalled)('a grading view with recordings (skipped where no chromium is installed)', () => {
  it('is graded and released by keyboard alone, from the queue to the next submission', async () => {
    const { page, home, submissionId, next } = await openQueue()
    const complaints = watch(page)
    await page.goto(`${home}grading?whose=nobody`)
    await pressByKey(page, 'link', 'Mei Tanaka')
    await page.getByText('1 of 2 without a grader').waitFor()
    await page.locator('#saved-1').waitFor()
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key)
    }
    await keys('j', '8', 'j', '7', '4', '+', 'j', 'c')
    await page.keyboard.type('Thin. 9 of 10 would say more')
    await keys('Escape', '9')
    await page.getByText('21.5 of 35', { exact: true }).waitFor()
    expect(await Promise.all([1, 2, 3].map((number) => page.locator(`#points-${number}`).inputValue()))).toEqual([
      '8',
      '4.5',
      '9',
    ])
    await pressByKey(page, 'link', 'Release result')
    await pressByKey(page, 'button', 'Release result')
    await page.getByText('The result is released.').waitFor()
    const release = await service.db.release.findFirstOrThrow({ where: { submissionId } })
    expect([Number(release.points), Number(release.ofPoints)]).toEqual([21.5, 35])
    const grades = await service.db.grade.findMany({ where: { submissionId, questionNumber: 3 }, orderBy: { createdAt: 'asc' } })
    expect(grades.at(-1)).toMatchObject({ comment: 'Thin. 9 of 10 would say more' })
    await page.keyboard.press('n')
    await page.waitForURL(`**/grading/${next}*`)
    expect(complaints).toEqual([])
  })

  it('protects a graded question until it is opened, undoes the last change, and goes to graded questions', async () => {
    const { page, home, submissionId } = await openQueue()
    await page.goto(`${home}grading/${submissionId}`)
    await page.locator('#saved-1').waitFor()
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key)
    }
    const points = () => Promise.all([1, 2, 3].map((number) => page.locator(`#points-${number}`).inputValue()))
    const saved = async (number: number) =>
      (await service.db.grade.findMany({ where: { submissionId, questionNumber: number }, orderBy: { createdAt: 'asc' } })).map(
        (grade) => Number(grade.points),
      )
    await keys('j', '7', 'j', '4', 'j', '9')
    await page.getByText('Every question is graded.').waitFor() // the result says so at once
    await page.reload()
    await page.locator('#saved-1').waitFor()
    await keys('j', '6')
    await page.getByText('Question 1 is graded. Press e to change its points.').first().waitFor()
    expect(await points()).toEqual(['7', '4', '9'])
    service.clock.advance(10_000)
    await keys('e', '6')
    await expect.poll(() => saved(1), PATIENT).toEqual([7, 6])
    service.clock.advance(10_000)
    await keys('j', 'z')
    expect(await points()).toEqual(['7', '4', '9'])
    await expect.poll(() => saved(1), PATIENT).toEqual([7, 6, 7])
  })

  it('shows the length, picture, and loudness of recordings, and plays by a key', async () => {
    const { page, home, submissionId } = await openQueue()
    const complaints = watch(page)
    await page.goto(`${home}grading/${submissionId}`)
    await page.getByText(/^audio, 0:0[23], saved /).waitFor()
    await page.getByText(/^video, 0:0[34], saved /).waitFor()
    await page.getByText(/^9 words, first typed /).waitFor()
    // Neither is loaded as a whole: a picture and the length are enough for the video.
    await expect.poll(() => readyState(page), PATIENT).toBeGreaterThanOrEqual(2)
    expect(await page.locator('video').getAttribute('preload')).toBe('metadata')
    const wave = page.locator('svg[data-waveform] path').first()
    await waitUntil('the waveform', async () => ((await wave.getAttribute('d'))!.length > 1_000 ? true : undefined))
    await page.locator('#saved-1').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('p')
    await expect.poll(() => page.evaluate('document.querySelector("audio").paused'), PATIENT).toBe(false)
    expect(complaints).toEqual([])
  })

  it('does not shift while loading, fits 320 pixels, and is accessible with its keys shown', async () => {
    const { page, home, submissionId } = await openQueue()
    for (const viewport of [desktop, { width: 320, height: 640 }]) {
      await page.setViewportSize(viewport)
      await page.goto(`${home}grading/${submissionId}`)
      await page.locator('#saved-1').waitFor()
      await expect.poll(() => readyState(page), PATIENT).toBeGreaterThan(0)
      expect(await page.evaluate('shifted')).toBeLessThan(0.05)
      expect(await overflow(page)).toBe(0)
      await page.getByText('Keyboard shortcuts', { exact: true }).click()
      await page.getByText('write the comment').waitFor()
      expect(await overflow(page)).toBe(0)
      await expectAccessible(page)
    }
  })
})
