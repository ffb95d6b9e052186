import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { newMediaKey } from '../../../src/domain/files/media-keys.ts'
import {
  desktop,
  expectAccessible,
  isBrowserInstalled,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../support/browser.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { makeClicks } from '../../support/clicks.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { PATIENT } from '../../support/wait-until.ts'

const browser = isBrowserInstalled ? await startBrowser() : null
afterAll(() => browser?.close())
const service = await startServiceForFile({ TRANSCRIBE_URL: 'http://127.0.0.1:9/v1/audio/transcriptions' })
const { db, make } = service
const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })

const LINES = [
  [500, 2_500, 'First you <b>listen</b>.', 0],
  [2_500, 6_000, 'Then you speak.', 0],
]

/** A question that plays a sound of six seconds with published captions. */
async function makeCaptioned() {
  const organization = await make.organization()
  const organizationId = organization.id
  const [assetId, key, at] = [randomUUID(), newMediaKey(organization), service.clock.now()]
  const content = makeClicks(6, [1, 3])
  const file = { kind: 'audio', state: 'ready', contentType: 'audio/wav', bytes: content.length, milliseconds: 6_000 }
  await db.asset.create({ data: { organizationId, id: assetId, key, ...file, createdAt: at, checkedAt: at } })
  await service.deps.media.put(`${key}/file`, content)
  const captions = { state: 'ready', language: 'en', segments: LINES, changedAt: at, publishedAt: at, createdAt: at }
  await db.caption.create({ data: { organizationId, assetId, ...captions } })
  const assessment = await make.assessment(organizationId, { name: 'Listening' })
  await make.question(assessment, {
    script: 'What do you hear?',
    inputType: 'audio',
    audioUrl: `/api/v1/question-media/${assetId}`,
  })
  const invite = await make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS, questionReplayLimit: 2 })
  return { organizationId, assetId, candidate: candidateOf(service, invite) }
}

describe.skipIf(!isBrowserInstalled)('captions of a prompt (skipped where no chromium is installed)', () => {
  it('show the line that is being said while it plays, and nothing before and after', async () => {
    const { candidate } = await makeCaptioned()
    await consent(candidate)
    await candidate.press('start')
    await candidate.press('open', { number: '1' })
    for (const viewport of [desktop, phone]) {
      const context = await browser!.newContext({ viewport })
      const page = await context.newPage()
      const complaints = watch(page)
      await page.goto(`${origin}${candidate.path}`)
      await press(page, 'Listen to the question')
      const line = page.locator('p[lang=en][dir=auto]')
      await expect.poll(() => line.textContent(), PATIENT).toBe('First you <b>listen</b>.')
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/captions-candidate-${viewport.width}.png`, fullPage: true })
      expect(await overflow(page)).toBe(0)
      await expect.poll(() => line.textContent(), PATIENT).toBe('Then you speak.')
      await expectAccessible(page)
      await expect.poll(() => line.textContent(), PATIENT).toBe('')
      expect(complaints).toEqual([])
      await context.close()
    }
  })

  it('are corrected on a page that is accessible and fits a phone', async () => {
    const { organizationId, assetId } = await makeCaptioned()
    const admin = await signInAs(service, organizationId, ['admin'])
    const [name, value] = admin.cookie()!.split('=') as [string, string]
    for (const viewport of [desktop, phone]) {
      const context = await browser!.newContext({ viewport })
      await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
      const page = await context.newPage()
      const complaints = watch(page)
      await page.goto(`${origin}${admin.home}question-media/${assetId}/captions`)
      await page.getByText('Candidates see them.').waitFor()
      expect(await overflow(page)).toBe(0)
      await expectAccessible(page)
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/captions-${viewport.width}.png`, fullPage: true })
      await page.getByLabel('0:02').fill('Then you answer.')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The captions are saved.').waitFor()
      expect(complaints).toEqual([])
      await context.close()
    }
  })
})
