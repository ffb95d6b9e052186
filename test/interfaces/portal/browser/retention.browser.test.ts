import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { expectAccessible, isBrowserInstalled, looksOf, overflow, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { signInAs } from '../../../support/portal.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Checks the page in all color schemes, wide and narrow. RETENTION_SHOTS names a folder for screenshots. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.RETENTION_SHOTS
  for (const [i, { viewport, colorScheme }] of [...looksOf(0), ...looksOf(1)].entries()) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await expectAccessible(page)
    expect([name, await overflow(page)]).toEqual([name, 0])
    if (folder) await page.screenshot({ path: `${folder}/${name}-${viewport.width}-${i}.png`, fullPage: true })
  }
}

it.skipIf(!isBrowserInstalled)(
  'sets the retention of invites: asks first, counts a double click once, shows it in another tab, can be canceled',
  async () => {
    const organization = await service.make.organization()
    const assessment = await service.make.assessment(organization.id)
    const completedAt = new Date(service.clock.now().getTime() - 400 * DAY_MS)
    for (const _ of [1, 2]) await service.make.invite(assessment, { status: 'completed', completedAt })
    const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
    const [name, value] = owner.cookie()!.split('=') as [string, string]
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    const [page, tab] = [await context.newPage(), await context.newPage()]
    const complaints = watch(page)
    const address = `${origin}${owner.home}settings/retention`
    for (const one of [page, tab]) await one.goto(address)
    await look(page, 'empty')

    const days = (of: Page) => of.getByLabel('Completed')
    const save = (of: Page) => of.getByRole('button', { name: 'Save: Days after the end' })
    await days(page).fill('365')
    await save(page).click()
    await page.getByText('erases 2 invites (2 completed)').waitFor()
    await look(page, 'confirm')
    await page.getByLabel('Erase them for good').check()
    await save(page).dblclick()
    await page.getByText('The settings are saved.').waitFor()
    await page.getByText('Nothing is erased before').waitFor()
    await look(page, 'saved')
    const where = { organizationId: organization.id, action: 'changed_retention' }
    expect(await service.db.auditEntry.count({ where })).toBe(1)

    await days(tab).fill('730')
    await save(tab).click()
    await tab.locator('#mistakes').waitFor()
    await look(tab, 'other-tab')
    const kept = () => service.db.organizationRetention.findUniqueOrThrow({ where: { organizationId: organization.id } })
    expect(await kept()).toMatchObject({ completedDays: 365 })

    await days(page).fill('')
    await save(page).click()
    await page.getByText('Nothing is erased before').waitFor({ state: 'detached' })
    expect(await kept()).toMatchObject({ completedDays: null })
    expect(await service.db.auditEntry.count({ where })).toBe(2)
    expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
  },
)
