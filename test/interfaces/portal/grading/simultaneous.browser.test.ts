import { describe, expect, it, onTestFinished } from 'vitest'
import { newMediaKey } from '../../../../src/domain/files/media-keys.ts'
import { encodeLevel } from '../../../../src/domain/submissions/media/levels.ts'
import { expectAccessible, isBrowserInstalled, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { makeClicks } from '../../../support/clicks.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

const SECONDS = 20
const TIMINGS = {
  0: { zero: 1_500, from: 0, elapsed: 8_000, headphones: 'heard' },
  1: { zero: -3_000, from: 3_000, elapsed: 12_000, headphones: 'unheard' },
}

/** Opens a simultaneous answer in two segments: from the prompt's beginning and from its third second. Speech begins after four seconds. */
async function openAnswer() {
  const { db, deps, clock } = service
  const { organization, submissionId, assign } = await makeSubmitted(service)
  const organizationId = organization.id
  const store = async (content: Buffer) => {
    const key = newMediaKey(organization)
    await deps.media.put(`${key}/file`, content)
    return { organizationId, id: deps.newId(), key, bytes: content.length, contentType: 'audio/wav', createdAt: clock.now() }
  }
  const asset = { ...(await store(makeClicks(15, [1]))), kind: 'audio', state: 'ready', checkedAt: clock.now() }
  await db.asset.create({ data: asset })
  const levels = Uint8Array.from({ length: SECONDS * 10 }, (_, i) => (i < 40 ? 0 : encodeLevel(0.5)))
  const file = { ...(await store(makeClicks(SECONDS, [2]))), kind: 'answer', state: 'ready', submissionId } as const
  await db.mediaFile.create({ data: { ...file, milliseconds: SECONDS * 1_000, segmentEnds: [8_000, 20_000], levels } })
  const question = { responseType: 'audio', simultaneous: true, audioUrl: `/api/v1/question-media/${asset.id}` }
  await db.submissionQuestion.updateMany({ where: { submissionId, number: 1 }, data: question })
  const at = new Date(clock.now().getTime() + 1_000)
  const attempt = {
    kind: 'audio',
    state: 'complete',
    mediaId: file.id,
    createdAt: at,
    completedAt: at,
    interruptions: 1,
  } as const
  const of = { id: deps.newId(), organizationId, submissionId, questionNumber: 1 }
  await db.answerAttempt.create({ data: { ...of, ...attempt, promptTiming: TIMINGS } })
  const grader = await signInAs(service, organizationId, ['grader'])
  await assign(grader.member.id)
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  const complaints = watch(page)
  await page.goto(`${origin}${grader.home}grading/${submissionId}`)
  await page.locator('#saved-1').waitFor()
  return { page, complaints }
}

describe.skipIf(!isBrowserInstalled)('the grading view of a simultaneous answer (skipped where no chromium is installed)', () => {
  it('plays the question in step with the answer, and shows the delay and the interruption', async () => {
    const { page, complaints } = await openAnswer()
    await page.getByText('The question begins at 0:01 of the answer. The first words come 2.5 seconds later.').waitFor()
    await page.getByText('at 0:08 of the answer, the question continues at 0:03, 5 seconds before it had stopped').waitFor()
    await page.getByText('the question may be audible in the answer').waitFor()
    await expectAccessible(page)
    const answer = page.locator('[data-attempt] audio').first()
    const read = () =>
      page.evaluate<{ answer: number; prompt: number; isPaused: boolean }>(`(() => {
        const [answer, prompt] = document.querySelectorAll('[data-attempt] audio')
        return { answer: answer.currentTime, prompt: prompt.currentTime, isPaused: prompt.paused }
      })()`)
    await page.keyboard.press('p')
    await expect.poll(async () => (await read()).answer, PATIENT).toBeGreaterThan(3)
    const first = await read()
    expect(first.isPaused).toBe(false)
    expect(Math.abs(first.prompt - (first.answer - 1.5))).toBeLessThan(0.2)
    await answer.evaluate('(player) => { player.currentTime = 12 }')
    await expect.poll(async () => (await read()).prompt, PATIENT).toBeGreaterThan(7)
    const second = await read()
    expect(Math.abs(second.prompt - (second.answer - 5))).toBeLessThan(0.2)
    await page.getByLabel('Play the question with it').uncheck()
    expect(await read()).toMatchObject({ isPaused: true })
    await page.reload()
    expect(await page.getByLabel('Play the question with it').isChecked()).toBe(false)
    expect(complaints).toEqual([])
  })
})
