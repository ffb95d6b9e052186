import type { Page, Route } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chooseAnswer } from '../../../src/domain/submissions/choose-answer.ts'
import { readSlices } from '../../media/recordings.ts'
import { expectAccessible, isBrowserInstalled, leaveQuestion, press } from '../../support/browser.ts'
import {
  answerBox,
  button,
  type Candidate,
  readyMedia,
  recorded,
  savedUpTo,
  start,
  useCandidatesBrowser,
} from '../../support/candidate-browser.ts'
import { startLosingProxy } from '../../support/losing-proxy.ts'
import { PATIENT, waitUntil } from '../../support/wait-until.ts'

const { port, makeCandidate, openContext, expectWhole } = useCandidatesBrowser()

const SAMPLES_A_SECOND = 8_000
/** Half a second of silence. */
const SOUND = (() => {
  const samples = Buffer.alloc(SAMPLES_A_SECOND / 2, 128)
  const header = Buffer.alloc(44)
  header.write('RIFF')
  header.writeUInt32LE(36 + samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [1, 32],
    [8, 34],
  ] as const)
    header.writeUInt16LE(value, at)
  header.writeUInt32LE(SAMPLES_A_SECOND, 24)
  header.writeUInt32LE(SAMPLES_A_SECOND, 28)
  header.write('data', 36)
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, samples])
})()

/** Counts how often a question's prompt was played to its end. */
const COUNT_PLAYS = `
  globalThis.played = 0
  document.addEventListener('ended', ({ target }) => { if (target.classList.contains('prompt')) played++ }, true)`
const played = (page: Page) => page.evaluate('played')

async function openPage(): Promise<Page> {
  const context = await openContext({ bypassCSP: true }) // the prompt comes from another port, which the policy blocks
  await context.addInitScript(COUNT_PLAYS)
  return context.newPage()
}

async function startLine(alsoLose?: (asked: string, before: number) => boolean) {
  const video = { type: 'video/webm', content: Buffer.concat(await readSlices('video-1')) }
  const files = { '/sound.wav': { type: 'audio/wav', content: SOUND }, '/video.webm': video }
  const line = await startLosingProxy(port(), { files, ...(alsoLose && { alsoLose }) })
  onTestFinished(line.close)
  return { ...line, at: Number(new URL(line.origin).port) }
}

/** Lets the service process the requests, but loses their responses. @returns a function that ends this. */
async function loseAnswers(page: Page, to: string): Promise<() => Promise<void>> {
  const losing: Promise<void>[] = []
  const loseOne = async (route: Route) => {
    await route.fetch()
    await route.abort()
  }
  const lose = (route: Route) => void losing.push(loseOne(route))
  await page.route(to, lose)
  return async () => {
    await Promise.all(losing) // all responses must be lost before the next ones are let through
    await page.unroute(to, lose)
  }
}

const playsOf = async (candidate: Candidate) => (await candidate.paper()).map(({ plays }) => plays)
const option = (page: Page, label: RegExp | string) => page.getByRole('radio', { name: label })

describe.skipIf(!isBrowserInstalled)('an assessment with lost responses (skipped where no chromium is installed)', () => {
  it('loses no play and no attempt, and grants none twice, if every third response is lost', async () => {
    const line = await startLine((asked, before) => before === 0 && /\/(plays|attempts|stop)$/.test(asked))
    const prompts = [
      { audioUrl: `${line.origin}/sound.wav` },
      { audioUrl: `${line.origin}/sound.wav` },
      { videoUrl: `${line.origin}/video.webm` },
    ]
    const limits = { answerRecordLimit: 1, questionReplayLimit: 1 }
    const candidate = await makeCandidate({ responseTypes: ['text', 'audio', 'video'], prompts, at: line.at, ...limits })
    const page = await openPage()
    await start(candidate, page)
    const answer = async (number: number, prompt: string, give: () => Promise<void>) => {
      await press(page, `Open question ${number}`)
      await press(page, prompt)
      await expect.poll(() => played(page), PATIENT).toBe(number)
      await page.getByText('It can’t be played again.').waitFor()
      await give()
    }
    await answer(1, 'Listen to the question', async () => {
      await answerBox(page).fill('Written through a bad line.')
      await leaveQuestion(page)
    })
    for (const [number, kind, prompt] of [
      [2, 'audio', 'Listen to the question'],
      [3, 'video', 'Watch the question'],
    ] as const)
      await answer(number, prompt, async () => {
        await press(page, `Record ${kind}`)
        await savedUpTo(page, 2)
        await press(page, 'Stop recording')
        await page.getByText('You can’t record this answer again.').waitFor()
        await page.getByText(/^Saved: /).waitFor()
        const lasted = await recorded(page)
        await leaveQuestion(page)
        await expectWhole(kind, await readyMedia(candidate, kind), lasted)
      })
    await page.getByText('You have answered every question.').waitFor()
    await press(page, 'Finish')
    await page.getByText('You have completed this assessment').waitFor()
    expect(await candidate.status()).toBe('completed')
    expect(await playsOf(candidate)).toEqual([1, 1, 1])
    expect(
      (await candidate.attempts()).map(({ kind, state, wasInterrupted, text }) => [kind, state, wasInterrupted, text]),
    ).toEqual([
      ['text', 'complete', false, 'Written through a bad line.'],
      ['audio', 'complete', false, ''],
      ['video', 'complete', false, ''],
    ])
    for (const what of ['plays', 'attempts', 'stop'])
      expect(line.lost.filter((asked) => asked.endsWith(what)).length, what).toBeGreaterThan(1)
  })

  it('plays a granted play once, even if the page was reloaded before it knew', async () => {
    const line = await startLine()
    const prompts = [{ audioUrl: `${line.origin}/sound.wav` }]
    const candidate = await makeCandidate({ responseTypes: ['text'], prompts, questionReplayLimit: 1 })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    const mend = await loseAnswers(page, '**/plays')
    await press(page, 'Listen to the question')
    await waitUntil('the grant', async () => ((await playsOf(candidate))[0] === 1 ? true : undefined))
    expect(await played(page)).toBe(0)
    await mend()
    await page.reload()
    await press(page, 'Listen to the question')
    await expect.poll(() => played(page), PATIENT).toBe(1)
    await page.getByText('It can’t be played again.').waitFor()
    await page.reload()
    await page.getByText('It can’t be played again.').waitFor()
    expect(await button(page, 'Listen to the question').isVisible()).toBe(false)
    expect(await playsOf(candidate)).toEqual([1])
  })

  it('counts no play that could not be loaded, and explains it', async () => {
    const line = await startLine()
    const prompts = [{ audioUrl: `${line.origin}/sound.wav` }]
    const candidate = await makeCandidate({ responseTypes: ['text'], prompts, questionReplayLimit: 1 })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await page.route('**/sound.wav', (route) => route.fulfill({ status: 404, body: 'gone' }))
    await press(page, 'Listen to the question')
    const explanation = page.getByText('It could not be loaded; this does not count as a play.')
    await explanation.waitFor()
    await page.unroute('**/sound.wav')
    expect([await explanation.isVisible(), await playsOf(candidate)]).toEqual([true, [0]])
    await press(page, 'Listen to the question')
    await expect.poll(() => played(page), PATIENT).toBe(1)
    expect(await playsOf(candidate)).toEqual([1])
  })

  it('records a granted attempt, even if the page was reloaded before it knew', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], answerRecordLimit: 1 })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    const mend = await loseAnswers(page, '**/attempts')
    await press(page, 'Record audio')
    await waitUntil('the grant', async () => (await candidate.attempts())[0])
    await mend()
    await page.reload()
    await page.getByText('You can record your answer once.').waitFor()
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    await expectWhole('audio', await readyMedia(candidate, 'audio'), await recorded(page))
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: false }])
    expect(await button(page, 'Record audio again').isVisible()).toBe(false)
  })

  it.each([
    ['in the page', false],
    ['by the page that is loaded next', true],
  ])('reports a stop %s to a process that supports it, after processes of an earlier release', async (_by, reloads) => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    let answered = 0
    let areEarlier = true
    const code = 'path_not_found'
    await page.route('**/stop', async (route) => {
      if (!areEarlier) return route.fallback()
      await route.fulfill({ status: 404, json: { code, message: 'There is nothing here' } })
      answered++
    })
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    await waitUntil('answers of the earlier release', () => (answered >= 2 ? true : undefined))
    expect(await candidate.attempts()).toMatchObject([{ state: 'complete', wasInterrupted: true }])
    areEarlier = false
    if (reloads) await page.reload()
    await waitUntil('the stop', async () => (await candidate.attempts())[0]!.wasInterrupted === false || undefined)
  })

  it('dates an unsaved text by its typing: a later recording stays the answer', async () => {
    const candidate = await makeCandidate({ responseTypes: ['mixed'] })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await page.route('**/text', (route) => route.abort())
    await answerBox(page).fill('Typed first.')
    await page.getByText('not saved yet, but kept on this device').first().waitFor()
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    await page.unroute('**/text')
    await page.reload()
    const texts = async () => (await candidate.attempts()).find(({ text }) => text === 'Typed first.')
    await waitUntil('the text', texts)
    expect(chooseAnswer(await candidate.attempts())).toMatchObject({ kind: 'audio', state: 'complete' })
  })

  it('lets the candidate choose between attempts by keyboard, even if one was interrupted', async () => {
    const candidate = await makeCandidate({ responseTypes: ['mixed'], answerRecordLimit: 2 })
    const page = await openPage()
    await start(candidate, page)
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 2)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
    expect(await page.getByRole('group', { name: /Which one is your answer|Your recording/ }).isVisible()).toBe(false)
    await press(page, 'Record audio again')
    await savedUpTo(page, 2)
    await page.reload()
    await press(page, 'Keep it as it is')
    await option(page, /^Attempt 2: audio, 0:0\d$/).waitFor()
    expect(await option(page, /^Attempt 2/).isChecked()).toBe(true)
    expect(await option(page, /^Attempt 1: audio, 0:0\d$/).isChecked()).toBe(false)
    const attempts = await candidate.attempts()
    expect(chooseAnswer(attempts)?.id).toBe(attempts[1]!.id)
    await expectAccessible(page)
    await option(page, /^Attempt 2/).focus()
    await page.keyboard.press('ArrowUp')
    await page.getByText(/^Saved. What counts: Attempt 1/).waitFor()
    expect(chooseAnswer(await candidate.attempts())?.id).toBe(attempts[0]!.id)
    await answerBox(page).fill('Or rather in words.')
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.keyboard.press('Tab')
    await option(page, 'Your text').waitFor()
    expect(await option(page, 'Your text').isChecked()).toBe(true)
    await option(page, /^Attempt 1/).click()
    await leaveQuestion(page)
    await button(page, 'Finish').waitFor()
    expect(chooseAnswer(await candidate.attempts())?.id).toBe(attempts[0]!.id)
  })
})
