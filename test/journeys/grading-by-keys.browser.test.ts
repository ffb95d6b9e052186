import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSlices } from '../media/recordings.ts'
import { desktop, expectAccessible, isBrowserInstalled, overflow, watch } from '../support/browser.ts'
import { startBrowserForFile } from '../support/browser-for-file.ts'
import { isFfmpegInstalled, makeSound } from '../support/decode.ts'
import { makeRecorded, makeSpoken, submitAnother } from '../support/grading.ts'
import { signInAs } from '../support/portal.ts'
import { LONG } from '../support/scale.ts'
import { PATIENT, waitUntil } from '../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Half a minute at 1.5x takes 20 s. */
const LISTENING = { ...PATIENT, timeout: 120_000 }
const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(0)} s`

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
  const other = await service.make.assessment(organization.id)
  await service.make.question(other, { points: 5 })
  const { submissionId: next } = await submitAnother(service, other, { answers: 1, recipientName: 'Ada' })
  return { ...made, next, ...(await openAsGrader(organization.id)) }
}

async function openAsGrader(organizationId: string, roles = ['grader']) {
  service.clock.advance(1_000) // grades are given later than it was handed in
  const grader = await signInAs(service, organizationId, roles)
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  await context.addInitScript(WATCH_SHIFTS)
  const page = await context.newPage()
  return { page, home: `${origin}${grader.home}`, memberId: grader.member.id }
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
    await page.goto(`${home}grading?queue=nobody`)
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
    // Both waveforms are drawn by the service, from the levels.
    for (const wave of await page.locator('svg[data-waveform=""] path:first-of-type').all())
      expect((await wave.getAttribute('d'))!.length).toBeGreaterThan(1_000)
    expect(await page.locator('svg[data-waveform=""]').count()).toBe(2)
    await page.locator('#saved-1').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('p')
    await expect.poll(() => page.evaluate('document.querySelector("audio").paused'), PATIENT).toBe(false)
    expect(complaints).toEqual([])
  })

  it('draws the waveform in the browser where the levels are unknown', async () => {
    const { page, home, submissionId } = await openQueue()
    await service.db.mediaFile.updateMany({ where: { submissionId }, data: { levels: null } })
    await page.goto(`${home}grading/${submissionId}`)
    const wave = page.locator('svg[data-waveform] path').first()
    await waitUntil('the waveform', async () => ((await wave.getAttribute('d'))!.length > 1_000 ? true : undefined))
  })

  it('takes three keys an answer to hear and grade recordings', async () => {
    const [answers, slices] = LONG && isFfmpegInstalled ? [30, [await makeSound(30)]] : [5, await readSlices('audio')]
    const made = await makeSpoken(service, slices, answers)
    const { submissionId } = made
    const { page, home } = await openAsGrader(made.organization.id)
    await page.goto(`${home}grading/${submissionId}`)
    await page.locator('#saved-1').waitFor()
    const began = Date.now()
    let pressed = 0
    let heardMs = 0
    const press = async (key: string) => {
      pressed++
      await page.keyboard.press(key)
    }
    for (const key of ['>', '>']) await press(key)
    expect(await page.locator('[data-speed]').inputValue()).toBe('1.5')
    for (let number = 1; number <= answers; number++) {
      await press('j')
      const played = Date.now()
      await press('p')
      const player = page.locator(`#question-${number} audio`)
      await expect.poll(() => player.evaluate((one: { ended: boolean }) => one.ended), LISTENING).toBe(true)
      heardMs += Date.now() - played
      expect(await player.evaluate((one: { playbackRate: number }) => one.playbackRate)).toBe(1.5)
      if (number < answers) expect(await page.locator(`#question-${number + 1} audio`).getAttribute('preload')).toBe('auto')
      await press('8')
    }
    await page.getByText('Every question is graded.').waitFor()
    const tookMs = Date.now() - began
    const grades = await service.db.grade.findMany({ where: { submissionId } })
    expect(grades.map(({ points }) => Number(points))).toEqual(Array(answers).fill(8))
    expect(pressed).toBe(2 + 3 * answers)
    const times = `${formatSeconds(tookMs)}, of them ${formatSeconds(heardMs)} listening at 1.5x`
    process.stdout.write(`${answers} recordings graded by keyboard: ${(pressed / answers).toFixed(1)} keys an answer, ${times}\n`)
  })

  it('skips silences by a key, and shows its keys by another', async () => {
    const made = await makeSpoken(service, await readSlices('audio'), 1)
    const levels = Uint8Array.from({ length: 29 }, (_, tenth) => (tenth < 26 ? 0 : 200))
    await service.db.mediaFile.updateMany({ where: { submissionId: made.submissionId }, data: { levels } })
    const { page, home } = await openAsGrader(made.organization.id)
    await page.goto(`${home}grading/${made.submissionId}`)
    await page.getByText('No sound from 0:00 to 0:02.').waitFor()
    await page.locator('#saved-1').waitFor()
    await page.keyboard.press('s')
    expect(await page.getByLabel('Skip silence').isChecked()).toBe(true)
    const began = Date.now()
    await page.keyboard.press('p')
    const hasEnded = () => page.evaluate('document.querySelector("audio").ended')
    await expect.poll(hasEnded, { ...PATIENT, interval: 50 }).toBe(true)
    expect(Date.now() - began).toBeLessThan(2_500) // of 2.9 s
    await page.keyboard.press('?')
    await page.getByText('skip silence, or play it').waitFor()
    await page.keyboard.press('?')
    expect(await page.getByText('skip silence, or play it').isVisible()).toBe(false)
  })

  it('adds notes at the playing time by keys, which stay beside the waveform and in the lines of the transcript', async () => {
    const made = await makeSpoken(service, await readSlices('audio'), 2)
    const { organization, submissionId } = made
    await service.db.organization.update({ where: { id: organization.id }, data: { noteCategories: ['Omission', 'Meaning'] } })
    const { mediaId } = await service.db.answerAttempt.findFirstOrThrow({ where: { submissionId, questionNumber: 1 } })
    const segments = [
      [0, 1_000, 'First I listen.', 0],
      [1_000, 2_900, 'Then I speak.', 0],
    ]
    const words = { state: 'ready', language: 'en', text: 'First I listen.\nThen I speak.', segments }
    const createdAt = service.clock.now()
    await service.db.transcript.create({ data: { ...words, mediaId: mediaId!, organizationId: organization.id, createdAt } })
    const { page, home, memberId } = await openAsGrader(organization.id)
    await service.db.member.update({ where: { id: memberId }, data: { canViewTranscription: true } })
    const complaints = watch(page)
    await page.goto(`${home}grading/${submissionId}`)
    await page.locator('#saved-1').waitFor()
    const player = page.locator('#question-1 audio')
    await player.evaluate((one: { currentTime: number }) => (one.currentTime = 1.25))
    await page.keyboard.press('j')
    await page.keyboard.press('m')
    expect(await page.evaluate('document.activeElement.name')).toBe('text')
    await page.keyboard.type('the date is missing, 9 of 10 say it')
    await page.keyboard.press('Escape')
    await player.evaluate((one: { currentTime: number }) => (one.currentTime = 2.5))
    await page.keyboard.press('M')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Om')
    await page.keyboard.press('Tab')
    await page.keyboard.type('1.5')
    await page.keyboard.press('Enter')
    const list = page.locator('[data-part=notes-1]')
    await list.getByText('the date is missing, 9 of 10 say it').waitFor()
    const [note, ...others] = await service.db.gradingNote.findMany({ where: { submissionId } })
    expect(others).toEqual([])
    expect(note).toMatchObject({ startMs: 1_200, endMs: 2_500, category: 'Omission', mediaId, graderId: memberId })
    expect(Number(note!.pointsOff)).toBe(1.5)
    expect(await page.locator('[data-part=pins-1] circle').count()).toBe(1)
    const lines = page.locator('#question-1 [data-transcript] li')
    expect(await lines.nth(1).innerText()).toContain('the date is missing')
    expect(await lines.nth(0).innerText()).not.toContain('the date is missing')
    // The keys go on working, and no points were given.
    await page.keyboard.press('m')
    await page.keyboard.type('clear')
    await page.keyboard.press('Enter')
    await list.getByText('clear').waitFor()
    expect(await page.locator('#points-1').inputValue()).toBe('')
    await page.keyboard.press('7')
    await expect.poll(() => service.db.grade.count({ where: { submissionId, points: 7 } }), PATIENT).toBe(1)
    await list.getByRole('link', { name: '0:01' }).click()
    await expect.poll(() => player.evaluate((one: { paused: boolean }) => one.paused), PATIENT).toBe(false)
    for (const viewport of [desktop, { width: 390, height: 844 }]) {
      await page.setViewportSize(viewport)
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
      if (process.env.SHOTS) await page.screenshot({ path: `/tmp/notes-${viewport.width}.png`, fullPage: true })
    }
    await list.getByRole('button', { name: 'Delete the note at 0:01' }).first().click()
    await expect.poll(() => service.db.gradingNote.count({ where: { submissionId } }), PATIENT).toBe(1)
    expect(complaints).toEqual([])
  })

  it('marks recordings without speech, also in the queue, and leads admins to another attempt', async () => {
    const made = await makeSpoken(service, await readSlices('audio'), 2)
    const silent = await service.db.answerAttempt.findFirstOrThrow({
      where: { submissionId: made.submissionId, questionNumber: 2 },
    })
    await service.db.mediaFile.update({ where: { id: silent.mediaId! }, data: { levels: new Uint8Array(29) } })
    const grader = await openAsGrader(made.organization.id)
    await grader.page.goto(`${grader.home}grading?queue=nobody`)
    await grader.page.getByText('No speech found: question 2').waitFor()
    await grader.page.goto(`${grader.home}grading/${made.submissionId}`)
    await grader.page.getByText('No speech found: question 2').waitFor()
    await grader.page.getByText('No sound at all.').waitFor()
    expect(await grader.page.getByRole('link', { name: 'Offer another attempt' }).count()).toBe(0)
    const admin = await openAsGrader(made.organization.id, ['admin', 'grader'])
    for (const [name, viewport] of [
      ['1280', desktop],
      ['390', { width: 390, height: 844 }],
    ] as const) {
      await admin.page.setViewportSize(viewport)
      await admin.page.goto(`${admin.home}grading/${made.submissionId}`)
      await expectAccessible(admin.page)
      expect(await overflow(admin.page)).toBe(0)
      if (process.env.SHOTS) await admin.page.screenshot({ path: `/tmp/shot-${name}.png`, fullPage: true })
    }
    await admin.page.getByRole('link', { name: 'Offer another attempt' }).click()
    await admin.page.getByText('Invite to another attempt').first().waitFor({ state: 'attached' })
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
