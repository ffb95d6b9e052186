import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { goTo, heading, isBrowserInstalled, press, startBrowser } from '../../../support/browser.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  browser = await startBrowser()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => browser?.close())

describe.skipIf(!isBrowserInstalled)('a rejected form (skipped where no chromium is installed)', () => {
  it.each([true, false])(
    'is shown with the typed text when its sender navigates away and back (scripts: %s)',
    async (javaScriptEnabled) => {
      const admin = await signInAs(service, (await service.make.organization()).id, ['admin'])
      const [name, value] = admin.cookie()!.split('=') as [string, string]
      const context = await browser.newContext({ javaScriptEnabled })
      onTestFinished(() => context.close())
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}${admin.home}settings/retention`)
      await page.getByLabel('Completed').fill('7')
      await press(page, 'Save: Days after the end')
      await page.getByRole('heading', { name: 'Please check the following' }).waitFor()
      await goTo(page, 'Tags')
      await page.waitForURL('**/tags')
      await page.goBack()
      expect(await heading(page)).toBe('Retention')
      expect(await page.getByLabel('Completed').inputValue()).toBe('7')
      // The corrected form can be sent again.
      await page.getByLabel('Completed').fill('')
      await press(page, 'Save: Days after the end')
      await page.getByText('The settings are saved.').waitFor()
    },
  )
})
