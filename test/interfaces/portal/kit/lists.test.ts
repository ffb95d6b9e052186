import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { nameKeys } from '../../../../src/domain/text/fold-text.ts'
import { desktop, expectAccessible, phone, runsAllBrowserTests, startBrowser } from '../../../support/browser.ts'
import { mistakesIn, rowsOf } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Creates an organization with tags named 01 to 60, and its admin. */
async function setUp() {
  const organization = await service.make.organization()
  const now = service.clock.now()
  const of = { organizationId: organization.id, color: '#000000', createdAt: now, updatedAt: now }
  await service.db.tag.createMany({
    data: Array.from({ length: 60 }, (_, i) => `Tag ${String(i + 1).padStart(2, '0')}`).map((name) => ({
      ...of,
      id: service.deps.newId(),
      name,
      ...nameKeys(name),
    })),
  })
  const admin = await signInAs(service, organization.id, ['admin'])
  const tags = `${admin.home}tags`
  const namesOn = async (address: string) => rowsOf((await admin.get(address)).text).map((row) => row.split(' | ')[0])
  return { organization, admin, tags, namesOn }
}

describe('a list', () => {
  it('shows as many rows as the member has chosen, without affecting others, and returns to the list', async () => {
    const { admin, tags, namesOn, organization } = await setUp()
    expect(await namesOn(tags)).toHaveLength(25)
    const { text } = await admin.get(`${tags}?search=Tag&page=2`)
    expect(text).toContain('name="pageSize" value="50" aria-pressed="false"')
    const back = /name="back" value="([^"]+)"/.exec(text)![1]!
    expect(back).toBe(`${tags}?search=Tag`)
    const answer = await admin.post(`${admin.home}account/preferences`, { pageSize: '50', back })
    expect([answer.status, answer.headers.location]).toEqual([303, back])
    expect([(await namesOn(tags)).length, (await namesOn(`${tags}?page=2`)).length]).toEqual([50, 10])
    const other = await signInAs(service, organization.id, ['admin'])
    expect(rowsOf((await other.get(tags)).text)).toHaveLength(25)
  })

  it('accepts no other page size, and redirects nowhere else', async () => {
    const { admin } = await setUp()
    const keep = (fields: Record<string, string>) => admin.post(`${admin.home}account/preferences`, fields)
    for (const pageSize of ['', '0', '26', '1e9', '-1', 'x'])
      expect([pageSize, (await keep({ pageSize })).status]).toEqual([pageSize, 422])
    for (const back of ['', 'https://evil.example', '//evil.example', '/portal/x/'])
      expect((await keep({ pageSize: '100', back })).headers.location).toBe(`${admin.home}account?done=preferences`)
  })

  it('is sorted by its headings in both directions, keeping the order when filtered', async () => {
    const { admin, tags, namesOn } = await setUp()
    const headOf = async (address: string) => {
      const { text } = await admin.get(address)
      const [, direction, href] = /<th scope="col" aria-sort="(\w+)"><a[^>]*href="([^"]+)"/.exec(text)!
      return { direction, address: href!.replaceAll('&amp;', '&') }
    }
    const first = await headOf(tags)
    expect([first.direction, (await namesOn(tags))[0]]).toEqual(['ascending', 'Tag 01'])
    const second = await headOf(first.address)
    expect([second.direction, (await namesOn(first.address))[0]]).toEqual(['descending', 'Tag 60'])
    expect((await namesOn(second.address))[0]).toBe('Tag 01')
    const { text } = await admin.get(`${first.address}&search=Tag`)
    expect(text).toContain('<input type="hidden" name="sort" value="name-last">')
    expect(text).toContain(`<a class="btn btn-ghost" href="${tags}">Reset</a>`)
    expect((await admin.get(first.address)).text).not.toContain('>Reset<')
  })
})

describe.skipIf(!runsAllBrowserTests)('a list in a browser (skipped where no chromium is installed)', () => {
  let browser: Browser
  let origin: string
  beforeAll(async () => {
    origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  async function open(options: Parameters<Browser['newContext']>[0]) {
    const made = await setUp()
    const [name, value] = made.admin.cookie()!.split('=') as [string, string]
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    return { ...made, page: await context.newPage() }
  }

  it("shows times in the member's time zone, or the browser's if none is set", async () => {
    const { page, admin } = await open({ timezoneId: 'Asia/Tokyo' })
    const zoneOf = async () => {
      await page.goto(`${origin}${admin.home}account`)
      return /(?:GMT[+\d:]*|UTC)$/.exec((await page.locator('main time').first().textContent())!)?.[0]
    }
    expect(await zoneOf()).toBe('GMT+9')
    await page.getByLabel('Time zone').selectOption('America/Sao_Paulo')
    await page.getByRole('button', { name: 'Save preferences' }).click()
    await page.getByText('Your preferences are saved.').waitFor()
    expect(await page.locator('main time').first().textContent()).toMatch(/GMT-3$/)
    const { member } = admin
    await service.db.member.update({ where: { id: member.id }, data: { timeZone: 'Nowhere/None' } }) // a zone that the browser does not know
    expect(await zoneOf()).toBe('GMT+9')
    expect(mistakesIn(await admin.post(`${admin.home}account/preferences`, { timeZone: 'Nowhere/None' }))).toEqual([
      'Please check the time zone.',
    ])
  })

  it('shows times in UTC without scripts', async () => {
    const { page, admin } = await open({ timezoneId: 'Asia/Tokyo', javaScriptEnabled: false })
    await page.goto(`${origin}${admin.home}account`)
    expect(await page.locator('main time').first().textContent()).toMatch(/ UTC$/)
  })

  it('shows the headings that change its order on a phone', async () => {
    const { page, tags } = await open({ viewport: desktop })
    for (const viewport of [desktop, phone]) {
      await page.setViewportSize(viewport)
      await page.goto(origin + tags)
      await page.getByRole('columnheader', { name: 'Name' }).getByRole('link').click()
      await page.waitForURL(/sort=name-last/)
      await expectAccessible(page)
    }
  })
})
