import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailboxPath } from '../../src/interfaces/mailbox/access.ts'
import { expectAccessible, overflow, runsAllBrowserTests, startBrowser } from '../support/browser.ts'
import { unknownId } from '../support/factories.ts'
import { linkIn, waitForState } from '../support/mail.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

async function inviteCandidate(fields: object = {}, assessmentName = service.make.unique('Assessment')) {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id, { name: assessmentName })
  const { body } = await service
    .v1(key)
    .post('/invites')
    .send({ assessmentId: assessment.id, recipientEmail: 'candidate@example.com', ...fields })
  const email = await waitForState(service, { inviteId: body.invite.id }, 'captured')
  return { email, assessment, invite: body.invite }
}

it('captures every mail while no mail server is configured', async () => {
  const { email } = await inviteCandidate()
  expect(email).toMatchObject({ state: 'captured', attempts: 1, reason: '', sentAt: service.clock.now() })
})

it('lists the captured mails, newest first', async () => {
  const first = await inviteCandidate({ recipientEmail: 'first@example.com' })
  service.clock.advance(1_000)
  const second = await inviteCandidate({ recipientEmail: 'second@example.com' })
  const page = await service.mailbox()
  expect([page.status, page.type]).toEqual([200, 'text/html'])
  for (const { email, assessment } of [first, second]) {
    expect(page.text).toContain(`href="/dev/mailbox/${email.id}"`)
    expect(page.text).toContain(assessment.name)
  }
  expect(page.text.indexOf('second@example.com')).toBeLessThan(page.text.indexOf('first@example.com'))
  expect(page.text).toContain('captured')
})

it('marks a failed mail, and says why it failed', async () => {
  const { email } = await inviteCandidate()
  const own = async () => (await service.mailbox()).text.split('<li ').find((row) => row.includes(email.id))
  expect(await own()).not.toContain('badge-error')
  await service.db.inviteEmail.update({ where: { id: email.id }, data: { state: 'failed', reason: '550 no such user' } })
  expect(await own()).toMatch(/badge-error[^>]*>Failed</)
  const { text } = await service.mailbox(`/${email.id}`)
  expect(text).toContain('This email was not sent: 550 no such user')
})

it('shows a mail with its headers and both alternatives', async () => {
  const { email, assessment, invite } = await inviteCandidate({ recipientName: 'Sam Rivera', customMessage: 'Good luck!' })
  const page = await service.mailbox(`/${email.id}`)
  expect([page.status, page.type]).toEqual([200, 'text/html'])
  for (const words of ['Sam Rivera', 'candidate@example.com', assessment.name, invite.id]) expect(page.text).toContain(words)
  const html = await service.mailbox(`/${email.id}?part=html`)
  expect([html.status, html.type]).toEqual([200, 'text/html'])
  expect(html.text).toContain('Open the invitation')
  expect(page.text).toMatch(/aria-current="page">HTML, \d+\.\d kB<.*view=text">Plain text, \d+\.\d kB</s)
  expect(page.text).toContain('href="/dev/mailbox?search=candidate%40example.com"')
  const plain = await service.mailbox(`/${email.id}?view=text`)
  for (const words of ['Sam Rivera', 'Good luck!']) expect(plain.text).toContain(words)
  const link = linkIn({ parsed: { text: plain.text.replaceAll('\n', ' \n') } as never })
  expect((await service.http().get(link)).text).toContain(assessment.name)
})

it('shows hostile text as text, and runs no scripts', async () => {
  const markup = '<script>alert(1)</script>'
  const { email } = await inviteCandidate(
    { recipientName: markup, customMessage: markup },
    `${markup} ${service.make.unique('')}`,
  )
  for (const path of ['', `/${email.id}`, `/${email.id}?part=html`, `/${email.id}?view=text`]) {
    const { text, headers } = await service.mailbox(path)
    expect(text).toContain('&lt;script&gt;')
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
})

it.each([unknownId, 'none', '%00', "'"])('returns 404 for the unknown mail %s', async (id) => {
  expect((await service.mailbox(`/${id}`)).status).toBe(404)
})

describe('the mailbox list', () => {
  /** Inserts mails of one organization directly, oldest first. */
  async function makeMails(count: number, assessmentName: string) {
    const { id: organizationId } = await service.make.organization()
    const assessment = await service.make.assessment(organizationId, { name: assessmentName })
    const emails: { id: string; recipientEmail: string }[] = []
    for (let i = 0; i < count; i++) {
      const invite = await service.make.invite(assessment)
      const times = { createdAt: service.clock.now(), updatedAt: service.clock.now() }
      const data = { id: service.deps.newId(), organizationId, inviteId: invite.id, linkVersion: 1, ...times }
      await service.db.inviteEmail.create({ data: { ...data, state: 'captured' } })
      emails.push({ id: data.id, recipientEmail: invite.recipientEmail })
    }
    return emails
  }
  const read = async (address: string) => {
    const { status, text } = await service.mailbox(address.replace('/dev/mailbox', ''))
    expect(status).toBe(200)
    const ids = [...text.matchAll(/href="\/dev\/mailbox\/([0-9a-f-]{36})"/g)].map(([, id]) => id!)
    const older = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    return { text, ids, older }
  }
  const readAll = async (first: string) => {
    const ids: string[] = []
    for (let next: string | undefined = first; next; ) {
      const page = await read(next)
      ids.push(...page.ids)
      next = page.older
    }
    return ids
  }
  const newestFirst = (emails: { id: string }[]) => emails.map(({ id }) => id).toReversed()

  it('has pages down to the oldest mail, with each mail on one of them', async () => {
    await makeMails(51, service.make.unique('Paged'))
    const all = await service.db.inviteEmail.findMany({ orderBy: { id: 'asc' } })
    const first = await read('/dev/mailbox')
    expect([first.ids.length, await readAll('/dev/mailbox')]).toEqual([50, newestFirst(all)])
    expect(first.text).not.toContain('>Newest<')
    expect((await read(first.older!)).text).toContain('>Newest<')
  })

  it('is searched by recipient and assessment, with every word and ignoring case', async () => {
    const name = service.make.unique('Sought & <found>')
    const [one, other] = (await makeMails(2, name)) as [{ id: string; recipientEmail: string }, { id: string }]
    const search = (words: string) => readAll(`/dev/mailbox?search=${encodeURIComponent(words)}`)
    expect(await search(one.recipientEmail.toUpperCase())).toEqual([one.id])
    expect(await search(name)).toEqual([other.id, one.id])
    expect(await search(`found ${one.recipientEmail}`)).toEqual([one.id])
    expect(await search(`absent ${one.recipientEmail}`)).toEqual([])
    expect((await read('/dev/mailbox?search=%22%3Cscript%3E')).text).toContain('value="&quot;&lt;script&gt;"')
  })

  it('searches a bounded number of mails at a time, and continues with older ones', async () => {
    const name = service.make.unique('Early')
    const sought = await makeMails(60, name)
    const { inviteId, organizationId } = await service.db.inviteEmail.findUniqueOrThrow({
      where: { id: (await makeMails(1, service.make.unique('Crowd')))[0]!.id },
    })
    const times = { createdAt: service.clock.now(), updatedAt: service.clock.now() }
    const row = () => ({
      id: service.deps.newId(),
      organizationId,
      inviteId,
      linkVersion: 1,
      state: 'captured' as const,
      ...times,
    })
    await service.db.inviteEmail.createMany({ data: Array.from({ length: 1_000 }, row) })
    const address = `/dev/mailbox?search=${encodeURIComponent(name)}`
    const first = await read(address)
    expect([first.ids, first.text]).toEqual([[], expect.stringContaining('None found in 1,000 emails')])
    expect(await readAll(address)).toEqual(newestFirst(sought))
  })

  it.each(['before=none', 'before=%00', 'search=%00%F0', 'search=a&search=b', 'before=a&before=b', 'search=%25_\\', 'before='])(
    'accepts any query: %s',
    async (query) => {
      expect((await service.mailbox(`?${query}`)).status).toBe(200)
    },
  )
})

describe.skipIf(!runsAllBrowserTests)('the mailbox in a browser (skipped where no chromium is installed)', () => {
  let browser: Browser
  let origin: string
  beforeAll(async () => {
    origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'.repeat(2)

  it.each(['light', 'dark'] as const)(
    'passes the automated accessibility check, on wide and narrow screens, and never scrolls sideways: %s',
    async (colorScheme) => {
      const long = { recipientName: LONG, recipientEmail: `${'long'.repeat(16)}@example.com`, customMessage: LONG }
      const { email } = await inviteCandidate(long, service.make.unique(LONG))
      const context = await browser.newContext({ colorScheme })
      const page = await context.newPage()
      await page.goto(origin + mailboxPath(service.site.secretKeys))
      for (const path of ['', `/${email.id}`, `/${email.id}?view=text`, '/none', '?search=absent', `?before=${email.id}`]) {
        await page.goto(`${origin}/dev/mailbox${path}`)
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 })
          await expectAccessible(page)
          expect(await overflow(page)).toBe(0)
        }
      }
      await context.close()
    },
  )

  it('is searched by typing, and a mail leads to the invitation', async () => {
    const { assessment } = await inviteCandidate({ recipientEmail: 'typed@example.com' })
    const page = await browser.newPage()
    // Links use the configured public URL, so this redirects them to the test's server.
    await page.route(/:3000\/i\//, (route) => route.continue({ url: origin + new URL(route.request().url()).pathname }))
    await page.goto(origin + mailboxPath(service.site.secretKeys))
    await page.getByRole('searchbox').fill('typed@example.com')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/search=typed/)
    await page.getByRole('link', { name: assessment.name }).click()
    await page.frameLocator('iframe').getByRole('link', { name: 'Open the invitation' }).click()
    await page.waitForURL(/\/i\//)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(assessment.name)
    await page.close()
  })
})
