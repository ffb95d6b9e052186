import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Opens an empty assessment as an admin. */
async function openEditor() {
  const { id } = await service.make.organization()
  const { cookie, home } = await signInAs(service, id, ['admin'])
  const assessment = await service.make.assessment(id)
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  await page.goto(`${origin}${home}assessments/${assessment.id}`)
  const versions = () => service.db.questionVersion.findMany({ where: { organizationId: id }, include: { keys: true } })
  return { page, versions, complaints: watch(page) }
}

const byLabel = (page: Page, name: string) => page.getByLabel(name, { exact: true })

/** Checks the current page in both sizes and both color schemes. */
async function lookAt(page: Page): Promise<void> {
  for (const viewport of [desktop, phone]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
    }
  }
  await page.setViewportSize(desktop)
}

describe.skipIf(!isBrowserInstalled)(
  'the form of an automatically scored question (skipped where no chromium is installed)',
  () => {
    it('adds, marks, and moves options by keyboard alone, and shows the score of guessing', async () => {
      const { page, versions, complaints } = await openEditor()
      await lookAt(page)
      await page.getByRole('link', { name: 'Multiple choice', exact: true }).focus()
      await page.keyboard.press('Enter')
      await byLabel(page, 'Question').fill('Which are cities of Norway?')
      for (const [i, text] of ['Oslo', 'Bergen', 'Malmö', 'Aarhus'].entries()) await byLabel(page, `Option ${i + 1}`).fill(text)
      for (const place of [1, 2]) {
        await byLabel(page, `Option ${place} is right`).focus()
        await page.keyboard.press('Space')
      }
      await page.getByText('Ticking all gets 0 %, none 0 %, and guessing 19 % on average.').waitFor()
      await page.getByRole('button', { name: 'Add an option' }).focus()
      await page.keyboard.press('Enter')
      await byLabel(page, 'Option 5').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.value'), PATIENT).toBe('')
      await page.keyboard.type('Turku')
      await lookAt(page)
      await page.locator('summary', { hasText: 'More for option 5' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Move up option 5' }).focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => byLabel(page, 'Option 5').inputValue(), PATIENT).toBe('Aarhus')
      await page.getByLabel('Scoring').selectOption('weights')
      await lookAt(page)
      await page.getByLabel('Scoring').selectOption('exact')
      await byLabel(page, 'Question').focus()
      await byLabel(page, 'Points').press('Enter')
      await page.waitForURL(/done=question-added/)
      const [version] = await versions()
      expect(version).toMatchObject({ responseType: 'multiple_choice', keys: [{ key: { policy: 'exact' } }] })
      expect((version!.spec as { options: { text: string }[] }).options.map(({ text }) => text)).toEqual([
        'Oslo',
        'Bergen',
        'Malmö',
        'Turku',
        'Aarhus',
      ])
      expect(complaints).toEqual([])
    })

    it.each(['Single choice', 'Number', 'Short text'])('shows mistakes at the fields of “%s”', async (kind) => {
      const { page, complaints } = await openEditor()
      await page.getByRole('link', { name: kind, exact: true }).click()
      await byLabel(page, 'Question').fill('Asked')
      await page.getByRole('button', { name: 'Add question' }).click()
      await page.getByRole('heading', { name: 'Please check the following' }).waitFor()
      await lookAt(page)
      expect(complaints.filter((said) => !said.includes('422'))).toEqual([])
    })
    it('previews the question while it is typed, with the score of an answer', async () => {
      const { page, complaints } = await openEditor()
      await page.getByRole('link', { name: 'Single choice', exact: true }).click()
      await byLabel(page, 'Question').fill('Capital of Norway?')
      await page.getByRole('link', { name: 'Preview', exact: true }).click()
      const frame = page.frameLocator('iframe[title=Preview]')
      for (const [i, text] of ['Oslo', 'Bergen'].entries()) await byLabel(page, `Option ${i + 1}`).fill(text)
      await byLabel(page, 'Option 1 is right').check()
      await byLabel(page, 'Points').fill('6')
      await frame.getByText('6 points').waitFor()
      await frame.getByLabel('Bergen', { exact: true }).check()
      await frame.getByText('This answer gets 0 of 6 points.').waitFor()
      await frame.getByLabel('Oslo', { exact: true }).check()
      await frame.getByText('This answer gets 6 of 6 points.').waitFor()
      await frame.getByRole('button', { name: 'Clear my choice' }).click()
      await frame.getByText('No answer gets 0 of 6 points.').waitFor()
      expect(complaints).toEqual([])
    })
  },
)
