import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, expectAccessible, isBrowserInstalled, overflow, phone, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { signInAs } from '../../../support/portal.ts'

const { service, browser, origin } = await startBrowserForFile()

const LIST = 'Spring fair;;\nContact;E-Mail;Stand\nLee, Ann;ann@example.com;7\nRay, Bo;bo@example.com;9\n'

describe.skipIf(!isBrowserInstalled)('the columns of a list of candidates (skipped where no chromium is installed)', () => {
  it.each([desktop, phone])('are previewed again as somebody changes them, $width pixels wide', async (viewport) => {
    const organization = await service.make.organization()
    const assessment = await service.make.assessment(organization.id)
    await service.make.question(assessment)
    const { cookie, home } = await signInAs(service, organization.id, ['admin'])
    const context = await browser.newContext({ viewport })
    onTestFinished(() => context.close())
    const [name, value] = cookie()!.split('=') as [string, string]
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
    const page = await context.newPage()
    const complaints = watch(page)
    const look = async () => {
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
    }
    const press = async (button: string) => {
      const loaded = page.waitForEvent('load')
      await page.getByRole('button', { name: button }).click()
      await loaded
    }
    const update = async () => {
      await press('Update the preview')
      expect(await page.getByText('The preview follows what you chose.').count()).toBe(1)
    }
    const people = page.getByRole('region', { name: 'People' })
    await page.goto(`${origin}${home}invites/batches?assessment=${assessment.id}`)
    const file = { name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from(LIST) }
    await page.getByLabel('File (.xlsx or .csv)').setInputFiles(file)
    await press('Preview list')
    expect(await page.getByText('2 of 2 people have no name').count()).toBe(1)
    expect(await people.getByText('no name').count()).toBe(2)
    await look()

    await page.getByLabel('Contact', { exact: true }).selectOption('Name')
    await page.getByLabel('Stand', { exact: true }).selectOption('Tags')
    await update()
    expect(await page.getByLabel('Contact', { exact: true }).inputValue()).toBe('name')
    expect(await people.getByText('Lee, Ann').count()).toBe(1)
    expect(await people.getByText('tags: 9').count()).toBe(1)
    await look()

    // With another row of headings, the columns are recognized again.
    await page.getByLabel('Row with the headings').selectOption('0')
    await update()
    expect(await page.getByLabel('Row with the headings').inputValue()).toBe('0')
    expect(await people.getByText('Not an email address. Left out.').count()).toBeGreaterThan(0)
    await page.getByLabel('Row with the headings').selectOption('2')
    await update()
    await page.getByLabel('Contact', { exact: true }).selectOption('Name')
    // Continue first shows the preview of the latest change.
    await press('Continue with 2 people')
    expect(await people.getByText('Lee, Ann').count()).toBe(1)
    expect(await service.db.inviteBatch.count({ where: { organizationId: organization.id } })).toBe(0)
    await press('Continue with 2 people')
    expect(page.url()).toMatch(/\/invites\/batches\/[\w-]+$/)
    const rows = await service.db.inviteBatchRow.findMany({
      where: { organizationId: organization.id },
      orderBy: { number: 'asc' },
    })
    expect(rows.map(({ email, name }) => [email, name])).toEqual([
      ['ann@example.com', 'Lee, Ann'],
      ['bo@example.com', 'Ray, Bo'],
    ])
    expect(complaints).toEqual([])
  })
})
