import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'

const { service, browser, origin } = await startBrowserForFile()

const GIFT = [
  '$CATEGORY: Geography/Europe',
  '::Capital of France::What is the capital of France?{=Paris ~Rome #no ~Madrid}',
  '::Primes::Which of these are prime numbers?{~%50%2 ~%-50%4 ~%50%5 ~%-50%9}',
  '::Broken::Which one?{~One ~Two}',
  '::Pi::What is pi, to two decimals?{#3.14:0.01}',
].join('\n\n')

describe.skipIf(!isBrowserInstalled)('the library in a browser (skipped where no chromium is installed)', () => {
  it.each([
    ['a desktop, light', desktop, 'light'],
    ['a phone, dark', phone, 'dark'],
  ] as const)(
    'is filled from a file, searched, tried, and added to an assessment on %s',
    async (_device, viewport, colorScheme) => {
      const organization = await service.make.organization()
      const assessment = await service.make.assessment(organization.id, { name: 'Geography for sales' })
      const { cookie, home } = await signInAs(service, organization.id, ['admin'])
      const context = await browser.newContext({ viewport, colorScheme })
      onTestFinished(() => context.close())
      const [name, value] = cookie()!.split('=') as [string, string]
      await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
      const page = await context.newPage()
      const complaints = watch(page)
      const look = async (what: string) => {
        await expectAccessible(page)
        expect([what, await overflow(page)]).toEqual([what, 0])
      }
      await page.goto(`${origin}${home}questions/imports/new`)
      await look('new-import')
      await page
        .getByLabel('File', { exact: true })
        .setInputFiles({ name: 'bank.gift', mimeType: 'text/plain', buffer: Buffer.from(GIFT) })
      await page.getByRole('button', { name: 'Read the file' }).click()
      await page.getByText('At least one option must be right.').waitFor()
      await look('dry-run')
      await page.getByRole('button', { name: 'Import 3 questions' }).click()
      await page.getByRole('heading', { name: 'Imported', exact: true }).waitFor({ timeout: 60_000 })
      await look('imported')
      await page.goto(`${origin}${home}questions?search=capital`)
      await look('library')
      await page.getByRole('link', { name: 'Capital of France' }).click()
      await page.getByLabel('Paris').check()
      await page.getByRole('button', { name: 'Try this answer' }).click()
      await page.getByText('This answer gets 100 % of the points.').waitFor()
      await look('library-question')
      await page.getByLabel('Assessment', { exact: true }).selectOption(assessment.id)
      await page.getByRole('button', { name: 'Add the question' }).click()
      await page.getByRole('link', { name: /capital of France/ }).click()
      await page.getByText('This is version 1 in the library.').waitFor()
      await look('question')
      await page.getByLabel('Question', { exact: true }).fill('Which of these is the capital of France?')
      await page.getByRole('button', { name: 'Save', exact: true }).last().click()
      await page.waitForURL(/[?&]done=question-saved/) // otherwise the next step might use the page before it
      await page.getByRole('link', { name: /capital of France/ }).click()
      await page.getByRole('link', { name: 'Show differences' }).click()
      await page.getByRole('heading', { name: 'This question and version 1 in the library' }).waitFor()
      await look('difference')
      expect(complaints).toEqual([])
    },
  )
})
