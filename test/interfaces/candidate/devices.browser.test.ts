import { describe, expect, it } from 'vitest'
import { isBrowserInstalled, press } from '../../support/browser.ts'
import { button, expectStartClosed, savedUpTo, useCandidatesBrowser } from '../../support/candidate-browser.ts'
import { PATIENT } from '../../support/wait-until.ts'

const { makeCandidate, openContext } = useCandidatesBrowser()

/** Simulates Firefox without audio output: the audio context never runs, and measures zeros. */
const WITHOUT_OUTPUT = `
  Object.defineProperty(BaseAudioContext.prototype, 'state', { get: () => 'suspended' })
  AudioContext.prototype.resume = () => new Promise(() => {})
  AnalyserNode.prototype.getFloatTimeDomainData = (samples) => void samples.fill(0)`
const MUTE = `
  const media = navigator.mediaDevices
  const open = media.getUserMedia.bind(media)
  media.getUserMedia = async (wanted) => {
    const stream = await open(wanted)
    for (const track of stream.getAudioTracks()) track.enabled = false
    return stream
  }`
/** Records the names of the opened devices. */
const OPENED = `
  globalThis.opened = []
  const { mediaDevices } = navigator
  const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices)
  mediaDevices.getUserMedia = async (wanted) => {
    const stream = await getUserMedia(wanted)
    opened.push(...stream.getTracks().map(({ label }) => label))
    return stream
  }`
const DENIED_MICROPHONE = `
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
  navigator.permissions.query = async ({ name }) => ({ state: name === 'microphone' ? 'denied' : 'granted' })`
const UNLISTED = "navigator.mediaDevices.enumerateDevices = () => Promise.reject(new DOMException('', 'NotAllowedError'))"
const WITHOUT_TYPES = 'MediaRecorder.isTypeSupported = () => false'
const NO_BYTES = "Object.defineProperty(Blob.prototype, 'size', { get: () => 0 })"

/** Opens the page before the start of an assessment with this answer type, after these scripts have run. */
async function openChecks(responseType: string, ...scripts: string[]) {
  const candidate = await makeCandidate({ responseTypes: [responseType] })
  const context = await openContext()
  for (const script of scripts) await context.addInitScript(script)
  const page = await context.newPage()
  await page.goto(candidate.link)
  await press(page, 'I agree')
  await page.getByRole('region', { name: 'Connection' }).or(button(page, 'Start')).first().waitFor()
  return { candidate, page }
}

describe.skipIf(!isBrowserInstalled)('the device check (skipped where no chromium is installed)', () => {
  it.each(['audio', 'video'])('measures sound by the sample without audio output, and warns of no silence: %s', async (kind) => {
    const { page } = await openChecks(kind, WITHOUT_OUTPUT)
    await page.getByRole('button', { name: /^Try your / }).click()
    await press(page, 'Record three seconds')
    await page.getByText('Play it back').waitFor()
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await press(page, `Record ${kind}`)
    await savedUpTo(page, 4)
    expect(await page.getByText('No sound is coming in').count()).toBe(0)
    await press(page, 'Stop recording')
    await page.getByText(/^Saved: /).waitFor()
  })

  it('records with the chosen microphone, and plays the sample only when asked', async () => {
    const { page } = await openChecks('audio', OPENED)
    await press(page, 'Try your microphone')
    const list = page.getByRole('combobox', { name: 'Microphone' })
    await list.waitFor()
    const [first, ...others] = await list.locator('option').allTextContents()
    const other = others.at(-1)!
    expect(first).not.toBe(other)
    await list.selectOption({ label: other })
    await expect.poll(() => page.evaluate('opened.at(-1)'), PATIENT).toBe(other)
    await press(page, 'Record three seconds')
    await page.getByText('Your microphone works. Play it back').waitFor()
    const player = page.getByLabel('What was recorded')
    type Player = { paused: boolean; played: { length: number } }
    expect(await player.evaluate((one) => [(one as unknown as Player).paused, (one as unknown as Player).played.length])).toEqual(
      [true, 0],
    )
    await page.getByText('What was recorded', { exact: true }).waitFor()
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await press(page, 'Record audio')
    await savedUpTo(page, 1)
    expect(await page.evaluate('opened')).toEqual([first, other, other])
  })

  it('explains that the browser does not list its devices, and records anyway', async () => {
    const { page } = await openChecks('audio', UNLISTED)
    await press(page, 'Try your microphone')
    await page.getByText('This browser did not list your devices. It uses the ones that it is set to.').waitFor()
    await press(page, 'Record three seconds')
    await page.getByText('Your microphone works. Play it back').waitFor()
  })

  it('names the denied device if both are needed', async () => {
    const { page } = await openChecks('video', DENIED_MICROPHONE)
    await press(page, 'Try your camera and microphone')
    await page.getByRole('alert').getByText('The browser was not allowed to use your microphone.').waitFor()
  })

  it('reports a silent sample, even without audio output', async () => {
    const { candidate, page } = await openChecks('audio', WITHOUT_OUTPUT, MUTE)
    await press(page, 'Try your microphone')
    await press(page, 'Record three seconds')
    await page.getByText('Your recording has no sound.').waitFor()
    await expectStartClosed(page)
    expect(await candidate.status()).toBe('accepted')
  })

  it('reports an unsupported recording format before the start, and for a chosen answer type', async () => {
    const { candidate, page } = await openChecks('video', WITHOUT_TYPES)
    await page.getByRole('alert').getByText('This browser can’t record in a supported format.').waitFor()
    await expectStartClosed(page)
    expect(await candidate.status()).toBe('accepted')
    const chosen = await openChecks('mixed', WITHOUT_TYPES)
    await press(chosen.page, 'Start')
    await press(chosen.page, 'Open question 1')
    await press(chosen.page, 'Record audio')
    await chosen.page.getByRole('alert').getByText('This browser can’t record in a supported format.').waitFor()
    expect(await chosen.candidate.attempts()).toEqual([])
  })

  it('reports an empty recording without blaming other programs', async () => {
    const { page } = await openChecks('audio', NO_BYTES)
    await press(page, 'Try your microphone')
    await press(page, 'Record three seconds')
    await page.getByText('Your microphone works, but this browser recorded nothing.').waitFor()
  })

  it('reports a part of the script that did not load, and loads it again', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'] })
    const page = await (await openContext()).newPage()
    const missing = '**/assets/prepare.*.js'
    await page.route(missing, (route) => route.abort())
    await page.goto(candidate.link)
    await press(page, 'I agree')
    await page.getByRole('heading', { name: 'This page did not load completely' }).waitFor()
    await page.unroute(missing)
    await press(page, 'Load it again')
    await button(page, 'Try your microphone').waitFor()
  })

  it("shows times in the reader's time zone", async () => {
    const candidate = await makeCandidate({ responseTypes: ['text'], expiresAt: new Date('2099-03-02T20:30:00Z') })
    const page = await (await openContext({ timezoneId: 'Asia/Tokyo' })).newPage()
    await page.goto(candidate.link)
    await page.getByText('Tuesday, 3 March 2099 at 05:30 your time').waitFor()
    await press(page, 'I agree')
    await page.getByText('Tuesday, 3 March 2099 at 05:30 your time').waitFor()
    const unscripted = await (await openContext({ timezoneId: 'Asia/Tokyo', javaScriptEnabled: false })).newPage()
    await unscripted.goto(candidate.link)
    await unscripted.getByText(/^Tuesday, 3 March 2099 at 05:30 GMT\+9$/).waitFor()
  })

  it('opens only the next step, folds finished steps, and enables Start after all of them', async () => {
    const candidate = await makeCandidate({ responseTypes: ['audio'], requireIdCapture: true, facePhotoRequired: true })
    const page = await (await openContext()).newPage()
    await page.goto(candidate.link)
    await press(page, 'I agree')
    const open = () => page.locator('.step:has(details[open]) h3').allTextContents()
    const take = async (name: string) => {
      const step = page.getByRole('region', { name })
      for (const label of ['Open the camera', 'Take the photo', 'Use this photo'])
        await step.getByRole('button', { name: label }).click()
      await step.getByText('the photo is sent').waitFor()
    }
    await expectStartClosed(page)
    expect((await open())[0]).toMatch(/icrophone$/)
    await page.getByRole('button', { name: /^Try your / }).click()
    await press(page, 'Record three seconds')
    await page.getByText('Play it back').waitFor()
    expect(await open()).toEqual([expect.stringMatching(/icrophone$/), 'Photo of your identity document'])
    await take('Photo of your identity document')
    expect(await open()).toEqual(['Photo of your face'])
    await take('Photo of your face')
    await page.getByText('Everything is ready: you can start.').waitFor()
    expect([await open(), await button(page, 'Start').isEnabled()]).toEqual([[], true])
  })
})
