import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, isBrowserInstalled, startBrowser } from '../support/browser.ts'
import { renderEveryMail, WRITTEN } from '../support/every-mail.ts'
import { examplesOf } from '../support/kinds.ts'
import { listCandidatePages } from '../support/pages/candidate-pages.ts'
import { bundlePseudoScript, createPseudoLanguages, findUnmarked } from '../support/pseudo.ts'
import { type Service, startServiceForTest } from '../support/service.ts'

const languages = createPseudoLanguages()

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const decode = (text: string) => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!)
/** Extracts the visible text of a page, and its labels, titles, alternative texts, and placeholders. */
const visibleTextOf = (html: string): string =>
  decode(
    [
      // The browser names the devices.
      html.replaceAll(/<select [^>]*name="(?:audio|video)(?:in|out)put".*?<\/select>|<style>.*?<\/style>|<[^>]*>/gs, ' '),
      ...[...html.matchAll(/ (?:aria-label|title|alt|placeholder)="([^"]*)"/g)].map(([, text]) => text!),
    ].join('\n'),
  )

/** Texts of practice questions, which exist in one language only. */
function textsIn(spec: unknown): string[] {
  if (typeof spec === 'string') return [spec]
  return typeof spec === 'object' && spec !== null ? Object.values(spec).flatMap(textsIn) : []
}

/** Lists user content: texts and names of organizations and candidates. */
async function listOwn({ db }: Service): Promise<string[]> {
  const [organizations, assessments, questions, invites, users, instructions, answers] = await Promise.all([
    db.organization.findMany(),
    db.assessment.findMany(),
    db.question.findMany(),
    db.invite.findMany(),
    db.user.findMany(),
    db.instruction.findMany(),
    db.answerAttempt.findMany(),
  ])
  return [
    ...[...organizations, ...assessments].map(({ name }) => name),
    ...questions.map(({ script }) => script),
    ...invites.flatMap(({ recipientName, customMessage }) => [recipientName ?? '', customMessage]),
    ...users.flatMap(({ firstName, lastName, email }) => [`${firstName} ${lastName}`, email]),
    ...instructions.flatMap(({ title, body }) => [title, body]),
    ...answers.map(({ text }) => text ?? ''),
    ...examplesOf().flatMap(({ script, spec }) => [script, ...textsIn(spec)]),
  ]
}

// Custom email texts are in no catalog, but the text around them is.
const mails = Object.entries(renderEveryMail(languages.mail('en', 'UTC'))).filter(([name]) => !name.endsWith('in-own-words'))
it.each(mails)('has all texts of the mail %s in catalogs', (_name, mail) => {
  const own = [...Object.values(WRITTEN), ...WRITTEN.customMessage.split('\n')]
  for (const said of [mail.subject, mail.text, visibleTextOf(mail.html)]) expect(findUnmarked(said, own)).toEqual([])
})

it('finds a word that is in no catalog', () => {
  expect(findUnmarked('⟦One ⟦within⟧ other⟧ planted', ['others'])).toEqual(['planted'])
})

describe("the candidates' pages", () => {
  it('take all texts from catalogs except user content, with and without JavaScript', async () => {
    const service = await startServiceForTest({}, languages)
    const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    const pages = await listCandidatePages(service)
    const own = await listOwn(service)
    expect(pages.length).toBeGreaterThan(10)
    for (const { name, address } of pages) {
      const { text } = await service.http().get(address)
      expect([name, text.includes('⟦')]).toEqual([name, true])
      expect([name, findUnmarked(visibleTextOf(text), own)]).toEqual([name, []])
    }
    if (isBrowserInstalled) await expectMarkedInBrowser(origin, pages, own)
  })
})

/** Checks the texts that scripts show, before and after the first clicks. */
async function expectMarkedInBrowser(origin: string, pages: { name: string; address: string }[], own: string[]): Promise<void> {
  const script = await bundlePseudoScript()
  const browser = await startBrowser('--use-fake-device-for-media-stream=fps=5', '--use-fake-ui-for-media-stream')
  onTestFinished(() => browser.close())
  const context = await browser.newContext({ viewport: desktop, baseURL: origin })
  await context.route('**/assets/candidate.*.js', (route) => route.fulfill({ body: script, contentType: 'text/javascript' }))
  const page = await context.newPage()
  const expectMarked = async (name: string) =>
    expect([name, findUnmarked(visibleTextOf(await page.content()), own)]).toEqual([name, []])
  for (const { name, address } of pages) {
    await page.goto(address)
    await page.waitForLoadState('networkidle')
    await expectMarked(name)
    if (name === 'checks') await passChecks(page, expectMarked)
  }
}

async function passChecks(page: Page, expectMarked: (name: string) => Promise<void>): Promise<void> {
  await page.getByRole('button', { name: 'Try your' }).click()
  await page.getByRole('button', { name: 'Record three seconds' }).click()
  await page.getByText('Play it back').waitFor()
  await expectMarked('devices are tried')
  for (const photo of ['Photo of your identity document', 'Photo of your face']) {
    const step = page.getByRole('region', { name: photo })
    if ((await step.locator('details').getAttribute('open')) === null) await step.locator('summary').click()
    await step.getByRole('button', { name: 'Open the camera' }).click()
    await step.getByRole('button', { name: 'Take the photo' }).click()
    await expectMarked('a photo is taken')
    await step.getByRole('button', { name: 'Use this photo' }).click()
    await step.getByText('the photo is sent').waitFor()
  }
  await page.getByRole('button', { name: 'Start' }).press('Enter')
  await page.getByText('Something is still missing').waitFor()
  await expectMarked('something is missing')
}
