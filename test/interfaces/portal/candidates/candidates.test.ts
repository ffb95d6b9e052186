import pg from 'pg'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { expectAccessible, looksOf, overflow, runsAllBrowserTests, startBrowser } from '../../../support/browser.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { eventsIn, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { LONG } from '../../../support/scale.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'

const service = await startServiceForFile()
const { db } = service

async function setUp() {
  const organization = await service.make.organization()
  const [french, german] = [
    await service.make.assessment(organization.id, { name: 'French' }),
    await service.make.assessment(organization.id, { name: 'German' }),
  ]
  const admin = await signInAs(service, organization.id, ['admin'])
  const at = (days: number) => new Date(service.clock.now().getTime() - days * DAY_MS)
  const invite = (assessment: typeof french, recipientEmail: string, days: number, recipientName: string | null = null) =>
    service.make.invite(assessment, { recipientEmail, recipientName, sentAt: at(days) })
  /** Rows of the list: candidate, assessment, state, and number of invites. */
  const list = async (query = '', home = admin.home) => {
    const answer = await admin.get(`${home}candidates${query}`)
    return rowsOf(answer.text).map((row) => {
      const [who, assessment, state, , count] = row.split(' | ')
      return [who, assessment, state, count]
    })
  }
  return { organization, admin, french, german, invite, list }
}

/** Address of the link with this label. */
const linkIn = (text: string, label: string) => new RegExp(`href="([^"]+)">${label}<`).exec(text)?.[1]?.replaceAll('&amp;', '&')

describe('the list of candidates', () => {
  it('shows each address once, ignoring case, with its latest invite, by time of invitation or by address', async () => {
    const { french, german, invite, list } = await setUp()
    await invite(french, 'B@example.com', 9, 'Bea')
    await invite(german, 'b@example.com', 1, 'Bea Berg')
    await invite(french, 'a@example.com', 5)
    await invite(french, 'c@example.com', 3)
    const [a, b, c] = [
      ['Aa@example.com', 'French', 'pending', '1'],
      ['BBBea Bergb@example.com', 'German', 'pending', '2'],
      ['Cc@example.com', 'French', 'pending', '1'],
    ]
    expect(await list()).toEqual([b, c, a])
    expect(await list('?sort=address')).toEqual([a, b, c])
    expect(await list('?search=berg')).toEqual([b])
    expect(await list('?search=B@EXAMPLE.com')).toEqual([b])
    expect(await list('?search=example&sort=address')).toEqual([a, b, c])
    expect(await list('?search=nobody')).toEqual([])
  })

  it('has consistent pages in both orders, even with several invites per candidate', async () => {
    const { admin, french, german, invite } = await setUp()
    for (let i = 0; i < 30; i++) {
      await invite(french, `c${String(i).padStart(2, '0')}@example.com`, 100 - i)
      await invite(german, `C${String(i).padStart(2, '0')}@example.com`, i)
    }
    for (const [query, expected] of [
      ['', (i: number) => i],
      ['?sort=address', (i: number) => i],
      ['?search=example', (i: number) => i],
    ] as const) {
      const first = (await admin.get(`${admin.home}candidates${query}`)).text
      const second = (await admin.get(linkIn(first, 'Next')!)).text
      const emails = [first, second].flatMap((text) => rowsOf(text).map((row) => /c\d\d/i.exec(row)![0].toLowerCase()))
      expect(emails).toEqual(Array.from({ length: 30 }, (_, i) => `c${String(expected(i)).padStart(2, '0')}`))
      expect([linkIn(second, 'Next'), linkIn(first, 'First')]).toEqual([undefined, undefined])
      expect(rowsOf((await admin.get(linkIn(second, 'First')!)).text)).toHaveLength(25)
    }
  })

  it('shows only live or test candidates of its organization', async () => {
    const { admin, french, list } = await setUp()
    const other = await setUp()
    await other.invite(other.french, 'theirs@example.com', 1)
    const { id } = await service.make.invite(french, { recipientEmail: 'test@example.com', mode: 'test' })
    const test = admin.home.replace('/portal/', '/portal/test/')
    expect([await list(), (await list('', test)).map(([who]) => who)]).toEqual([[], ['Ttest@example.com']])
    expect([
      (await admin.get(`${admin.home}candidates/${id}`)).status,
      (await admin.get(`${test}candidates/${id}`)).status,
    ]).toEqual([404, 200])
    expect((await admin.get(`${admin.home}candidates`)).text).toContain('No candidates yet.')
  })

  it('reports an invalid search', async () => {
    const { admin } = await setUp()
    const answer = await admin.get(`${admin.home}candidates?search=ab`)
    expect([answer.status, mistakesIn(answer)]).toEqual([422, ['The search needs at least 3 characters.']])
    for (const query of ['?after=x', `?after=${service.deps.newId()}`, '?sort=x', '?search=%00'])
      expect((await admin.get(`${admin.home}candidates${query}`)).status).toBe(200)
  })
})

it("shows a candidate's invites with results, timeline, and mails, from any of their invites", async () => {
  const { admin, french, german, invite, organization } = await setUp()
  const first = await invite(french, 'sam@example.com', 9, 'Sam Lee')
  const second = await invite(german, 'SAM@example.com', 2)
  await invite(german, 'other@example.com', 2)
  const now = service.clock.now()
  const of = { organizationId: organization.id, createdAt: now, updatedAt: now }
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  const submission = await db.submission.create({
    data: {
      ...of,
      ...limits,
      id: service.deps.newId(),
      inviteId: first.id,
      assessmentId: french.id,
      state: 'released',
      startedAt: now,
      submittedAt: now,
      releasedAt: now,
    },
  })
  await db.release.create({
    data: {
      id: service.deps.newId(),
      organizationId: organization.id,
      submissionId: submission.id,
      version: 1,
      points: 3,
      ofPoints: 4,
      comment: '',
      message: '',
      toCandidate: false,
      grades: [],
      releasedById: admin.member.id,
      createdAt: now,
    },
  })
  await admin.post(`${admin.home}invites/${second.id}/resend`)
  await admin.post(`${admin.home}invites/${first.id}/revoke`)
  for (const { id } of [first, second]) {
    const { text } = await admin.get(`${admin.home}candidates/${id}`)
    const rows = rowsOf(text)
    expect(rows.slice(0, 2).map((row) => row.split(' | ').slice(0, 3))).toEqual([
      ['German', 'pending', ''],
      ['French', 'revoked', '3 of 4 (75 %)'],
    ])
    expect(text).toContain(`href="${admin.home}results/${submission.id}"`)
    const events = eventsIn(text).map(({ what, aside }) => `${aside[0]}: ${what}`)
    expect(events).toEqual(['German: The invitation was sent again', 'French: The invite was revoked'])
    expect(text).toMatch(/<h1>Sam Lee<\/h1>/)
    expect(rows.some((row) => /^Invitation \| German \| (?:queued|sent|captured)/.test(row))).toBe(true)
    expect(text).not.toContain('other@example.com')
  }
  expect((await admin.get(`${admin.home}invites/${first.id}`)).text).toContain(`href="${admin.home}candidates/${first.id}"`)
})

it.runIf(LONG)('reads a page by an index, even with many invites', async () => {
  const { organization, admin, french, invite } = await setUp()
  const { id } = await invite(french, 'first@example.com', 1, 'First Person')
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  onTestFinished(() => client.end())
  // Creates 20,000 candidates, half of them with three invites.
  const others = await Promise.all(['B', 'C'].map((name) => service.make.assessment(organization.id, { name })))
  for (const [i, assessmentId] of [french.id, ...others.map((other) => other.id)].entries())
    await client.query(
      `INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'assessment_id', $2::text,
         'recipient_email', n || '@example.com', 'recipient_name', 'Person ' || n, 'recipient_name_search', 'person ' || n, 'sent_at', now() - n * interval '1 minute' - $3 * interval '30 days'))).*
       FROM invites i, generate_series(1, $4::int) n WHERE i.id = $1`,
      [id, assessmentId, i, i === 0 ? 20_000 : 10_000],
    )
  await client.query('VACUUM ANALYZE invites')
  const addresses = ['', '?sort=address', '?search=12345', `?after=${id}`, `?sort=address&after=${id}`]
  for (const address of addresses) {
    const { queries } = await recordQueries(async () => {
      expect((await admin.get(`${admin.home}candidates${address}`)).status).toBe(200)
    })
    for (const { text, values } of queries.filter((query) => /invites/.test(query.text) && /assessments/.test(query.text))) {
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values as unknown[])
      const { Plan: plan } = rows[0]['QUERY PLAN'][0]
      const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
      process.stdout.write(`${address || 'latest'}: ${pages} pages\n`)
      expect([address, pages < 1_500]).toEqual([address, true])
    }
  }
})

describe.skipIf(!runsAllBrowserTests)('the candidate pages (skipped where no chromium is installed)', () => {
  let browser: Browser
  let origin: string
  beforeAll(async () => {
    origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  itSlow('are accessible, and never scroll sideways', async () => {
    const { admin, french, invite } = await setUp()
    const { id } = await invite(
      french,
      `${'long'.repeat(12)}@${'domain-'.repeat(8)}x.example.com`,
      1,
      'Donaudampfschifffahrtsgesellschaft'.repeat(3),
    )
    await admin.post(`${admin.home}invites/${id}/resend`)
    const [name, value] = admin.cookie()!.split('=') as [string, string]
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    for (const [i, path] of ['candidates', 'candidates?search=ab', `candidates/${id}`].entries()) {
      await page.goto(`${origin}${admin.home}${path}`)
      for (const { viewport, colorScheme } of looksOf(i)) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page)
        expect([path, await overflow(page)]).toEqual([path, 0])
      }
    }
  })
})
