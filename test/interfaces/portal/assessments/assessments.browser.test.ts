import type { Browser, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectAccessible, goTo, isBrowserInstalled, overflow, press } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()
const scriptsOf = (page: Page) => page.locator('[data-excerpt]').allTextContents()

/** Opens a browser window with a member's session. */
async function openWindow(cookie: string, options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const [name, value] = cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin }])
  return context.newPage()
}

describe.skipIf(!isBrowserInstalled)('an admin without scripts (skipped where no chromium is installed)', () => {
  it.each([390, 1280])('creates, fills, orders, previews, copies, and deletes an assessment, %d pixels wide', async (width) => {
    const { id } = await service.make.organization()
    const { cookie, home } = await signInAs(service, id, ['admin'])
    const viewport = { width, height: 900 }
    const page = await openWindow(cookie()!, { viewport, javaScriptEnabled: false })
    // The accessibility check is a script, so it runs on the same page in another window.
    const checked = await openWindow(cookie()!, { viewport })
    const expectGood = async () => {
      expect([page.url(), await overflow(page)]).toEqual([page.url(), 0])
      await checked.goto(page.url())
      await expectAccessible(checked)
    }
    await page.goto(origin + home)
    await goTo(page, 'Assessments')
    await page.getByText('No assessments yet.').waitFor()
    await expectGood()
    await follow(page, 'New assessment')
    await page.getByLabel('Name', { exact: true }).fill('Support, spoken')
    await page.getByLabel('Question format').selectOption('Audio')
    await page.getByLabel('Time limit for the whole').fill('half an hour')
    await page.getByText('Languages', { exact: true }).first().click()
    for (const language of ['English (en)', 'German (de)']) await page.getByLabel(language, { exact: true }).check()
    await press(page, 'Create assessment')
    await follow(page, 'Enter the time limit in minutes, or as minutes and seconds like 1:30. Leave it empty for none.')
    await expectGood()
    const chosen = await page.locator('[name=languages]:checked').all()
    expect(await Promise.all(chosen.map((box) => box.inputValue()))).toEqual(['en', 'de'])
    await page.getByLabel('Time limit for the whole').fill('30')
    await press(page, 'Create assessment')
    await page.getByText('The assessment is created. Now add its questions.').waitFor()
    for (const script of ['One?', 'Two?', 'Three?']) {
      await follow(page, 'Add a question')
      await follow(page, 'Audio')
      await page.getByLabel('Question format').selectOption('Text')
      await page.getByLabel('Text', { exact: true }).fill(script)
      await page.getByLabel('Points').fill('5')
      await press(page, 'Add question')
    }
    await expect.poll(() => scriptsOf(page), PATIENT).toEqual(['One?', 'Two?', 'Three?'])
    const pressInMenu = async (place: number, name: string) => {
      await page.locator('summary', { hasText: `More for question ${place}` }).click()
      await press(page, name)
    }
    await pressInMenu(3, 'Move up question 3')
    await pressInMenu(1, 'Move down question 1')
    await expect.poll(() => scriptsOf(page), PATIENT).toEqual(['Three?', 'One?', 'Two?'])
    await expectGood()
    await page.locator('[data-question] a', { hasText: 'One?' }).click()
    await page.getByLabel('Text', { exact: true }).fill('What is one?')
    await press(page, 'Save')
    await page.locator('[data-question] a', { hasText: 'Two?' }).click()
    await page.locator('summary', { hasText: 'Move or delete' }).click()
    await expectGood()
    await page.locator('[data-side]').getByRole('button', { name: 'Delete' }).click()
    await expectGood()
    await press(page, 'Delete')
    await expect.poll(() => scriptsOf(page), PATIENT).toEqual(['Three?', 'What is one?'])
    await follow(page, 'Preview')
    await page.getByText('Nothing that you do here is kept or counted').waitFor()
    await expectGood()
    await press(page, 'Accept the invitation')
    await press(page, 'I agree')
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await page.getByText('Three?').waitFor()
    await expectGood()
    await follow(page, 'Back to Support, spoken')
    await page.locator('summary:not(.btn-square)', { hasText: 'More' }).click()
    await press(page, 'Duplicate')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Copy of Support, spoken')
    await page.locator('summary:not(.btn-square)', { hasText: 'More' }).click()
    // Without scripts, a separate page asks for confirmation.
    await press(page, 'Delete')
    await press(page, 'Delete')
    await page.getByText('The assessment is deleted.').waitFor()
    await expect.poll(() => page.locator('table th a').allTextContents(), PATIENT).toEqual(['Support, spoken'])
    await page.getByLabel('Name').fill('spoken')
    await press(page, 'Apply')
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('Assessments with “spoken”')
    await expectGood()
  })
})
