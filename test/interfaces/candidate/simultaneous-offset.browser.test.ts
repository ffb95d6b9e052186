import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { alignPrompt } from '../../../src/domain/submissions/taking/align-prompt.ts'
import type { PromptTimings } from '../../../src/domain/submissions/taking/prompt-timing.ts'
import { isBrowserInstalled, press, startBrowserWithSound } from '../../support/browser.ts'
import { start, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { makeClicks } from '../../support/clicks.ts'
import { isFfmpegInstalled } from '../../support/decode.ts'
import { isPulseAudioInstalled, startLoop } from '../../support/pulse-audio.ts'
import { LONG } from '../../support/scale.ts'
import { waitUntil } from '../../support/wait-until.ts'

const isRun = LONG && isBrowserInstalled && isPulseAudioInstalled && isFfmpegInstalled
const RUNS = 10
/** Times of the prompt's clicks in seconds, at irregular intervals, so that a recording can be aligned in one way only. */
const CLICKS = [2, 3.3, 4.1, 5.7, 6.4]
const LENGTH = 8
/** Samples per second of the decoded recording. */
const RATE = 16_000
/** Target for the standard deviation, in milliseconds. */
const GOAL_MS = 50

/** Disables echo cancellation and similar filters, which would remove the looped sound. */
const RAW_SOUND = `
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
  navigator.mediaDevices.getUserMedia = ({ audio, video }) => open({
    video,
    audio: audio && { ...(audio === true ? {} : audio), echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  })`

const loop = isRun ? await startLoop() : null
afterAll(() => loop?.stop())
const { makeCandidate, openContext, fileOf } = useCandidatesBrowser(() =>
  startBrowserWithSound(loop?.server ?? '', '--use-fake-ui-for-media-stream'),
)

/** Times in seconds at which a recording has clicks. */
async function findClicks(file: string): Promise<number[]> {
  const decoded = ['-nostdin', '-v', 'error', '-i', file, '-f', 's16le', '-ac', '1', '-ar', String(RATE), '-']
  const { stdout } = await promisify(execFile)('/usr/bin/ffmpeg', decoded, { encoding: 'buffer', maxBuffer: 64_000_000 })
  const samples = new Int16Array(stdout.buffer, stdout.byteOffset, stdout.byteLength / 2)
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  const clicks: number[] = []
  for (const [i, sample] of samples.entries())
    if (Math.abs(sample) > loudest * 0.3 && i / RATE - (clicks.at(-1) ?? -1) > 0.3) clicks.push(i / RATE)
  return clicks
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const deviation = (values: number[]): number => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)))

describe.skipIf(!isRun)('the offset between prompt and answer (only with TEST_LONG, PulseAudio, and ffmpeg)', () => {
  it('has a constant error with a spread below 50 ms', { timeout: 900_000 }, async () => {
    const candidate = await makeCandidate({
      responseTypes: Array.from({ length: RUNS }, () => 'audio'),
      simultaneousPrompt: makeClicks(LENGTH, CLICKS),
    })
    const context = await openContext()
    await context.addInitScript(RAW_SOUND)
    const page = await context.newPage()
    await candidate.waive('microphone') // the microphone hears nothing before the prompt plays
    await start({ ...candidate, isChecked: false }, page)
    const errors: number[] = []
    for (let number = 1; number <= RUNS; number++) {
      await press(page, `Open question ${number}`)
      if (number === 1) {
        await page.getByLabel('I am wearing headphones').check()
        for (let i = 0; i < 2; i++) {
          await press(page, 'Play a tone')
          await page.locator('[data-tone=heard]').waitFor()
        }
      }
      await press(page, 'Listen and speak')
      await page.getByText('The question is over.').waitFor({ timeout: 60_000 })
      await press(page, 'Stop recording')
      await page.getByText(/^Saved: /).waitFor()
      await page.locator('[data-leave]').click()
      const { media, timings } = await waitUntil('the recording to be ready', async () => {
        const attempt = (await candidate.attempts()).find(({ questionNumber }) => questionNumber === number)
        const media = (await candidate.media()).find(({ id }) => id === attempt?.mediaId)
        const timings = attempt?.promptTiming as unknown as PromptTimings | null
        return media?.state === 'ready' && timings?.[0]?.elapsed ? { media, timings } : undefined
      })
      const heard = await findClicks(fileOf(media))
      expect(heard).toHaveLength(CLICKS.length)
      const [part] = alignPrompt(timings, media.segmentEnds)
      const truth = mean(CLICKS.map((click, i) => (click - heard[i]!) * 1_000))
      errors.push(part!.promptAt - truth)
    }
    const figures = `mean ${mean(errors).toFixed(0)} ms, standard deviation ${deviation(errors).toFixed(0)} ms, ${errors.map((error) => error.toFixed(0)).join(' ')}`
    process.stdout.write(`offset, told minus true: ${figures}\n`)
    expect(deviation(errors), figures).toBeLessThan(GOAL_MS)
  })
})
