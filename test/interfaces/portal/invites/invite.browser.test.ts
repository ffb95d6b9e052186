import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  desktop,
  expectAccessible,
  isBrowserInstalled,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../../support/browser.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  browser = await startBrowser()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => browser?.close())

describe.skipIf(!isBrowserInstalled)('the page of an invite (skipped where no chromium is installed)', () => {
  it.each([true, false])('opens its forms above the page, usable by keyboard (with scripts: %s)', async (javaScriptEnabled) => {
    const organization = await service.make.organization()
    const admin = await signInAs(service, organization.id, ['admin'])
    const invite = await service.make.invite(await service.make.assessment(organization.id))
    const [name, value] = admin.cookie()!.split('=') as [string, string]
    const context = await browser.newContext({ javaScriptEnabled, viewport: javaScriptEnabled ? desktop : phone })
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto(`${origin}${admin.home}invites/${invite.id}`)
    const dialog = page.getByRole('dialog', { name: 'Expiry' })
    await page.getByText('More', { exact: true }).click()
    await press(page, 'Change expiry')
    await dialog.waitFor()
    if (javaScriptEnabled) await expectAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('Enter') // closing the dialog returned the focus to the button
    await dialog.waitFor()
    await dialog.getByLabel('Some days from now').check()
    await dialog.getByLabel('Days from now', { exact: true }).fill('5000')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'The number of days must be a whole number from 1 to 3650.' }).click()
    if (javaScriptEnabled) await expectAccessible(page)
    expect(await overflow(page)).toBe(0)
    await page.getByLabel('Days from now', { exact: true }).fill('3')
    await page.keyboard.press('Enter')
    await page.getByText('The expiry date is changed.').waitFor()
    const in3Days = () =>
      service.db.invite.count({ where: { id: invite.id, expiresAt: new Date(service.clock.now().getTime() + 3 * DAY_MS) } })
    await expect.poll(in3Days, PATIENT).toBe(1)
    expect(complaints.filter((text) => !/status of 422/.test(text))).toEqual([])
  })
})
