import { parse } from 'csv-parse/sync'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { erasePerson } from '../../../../src/domain/erasure/erase-person.ts'
import { continueBulkChange } from '../../../../src/domain/invites/bulk/continue-bulk-change.ts'
import { findEmails } from '../../../../src/domain/invites/emails.ts'
import {
  desktop,
  expectAccessible,
  heading,
  looksOf,
  overflow,
  runsAllBrowserTests,
  startBrowser,
  watch,
} from '../../../support/browser.ts'
import { DAY_MS, unknownId } from '../../../support/factories.ts'
import { fieldsIn, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { waitForState } from '../../../support/mail.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const { db } = service

/** Creates an assessment with this many invites of two days ago, and its admin. */
async function setUp(count = 3) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  await service.make.question(assessment)
  const admin = await signInAs(service, organization.id, ['admin'])
  const before = (days: number) => new Date(service.clock.now().getTime() - days * DAY_MS)
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const data = { recipientEmail: `c${i}@example.com`, sentAt: before(2), createdAt: before(2 + i) }
    ids.push((await service.make.invite(assessment, data)).id)
  }
  const path = `${admin.home}invites/changes`
  const invites = () => db.invite.findMany({ where: { organizationId: organization.id }, orderBy: { recipientEmail: 'asc' } })
  /** Starts the change and waits until it is finished. @returns the address of its page. */
  const change = async (fields: Record<string, string | string[]>): Promise<string> => {
    const answer = await admin.post(path, { most: '1000', ...fields })
    if (answer.status !== 303) throw new Error(`${answer.status}: ${mistakesIn(answer)}`)
    const location = answer.headers.location!
    const id = location.split('/').at(-1)!
    await waitUntil(
      'the change to be finished',
      async () => (await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined,
    )
    return location
  }
  const outcome = async (location: string) => rowsOf((await admin.get(location)).text).map((row) => row.split(' | ').slice(2))
  return { organization, assessment, admin, ids, path, invites, change, outcome }
}

/** The date in this many days, in the format of a form. */
const dayIn = (days: number): string => new Date(service.clock.now().getTime() + days * DAY_MS).toISOString().slice(0, 10)

describe('a bulk change', () => {
  it('resends selected invitations, and reports each outcome', async () => {
    const { ids, change, outcome, organization } = await setUp(4)
    await db.invite.update({ where: { id: ids[1]! }, data: { status: 'completed' } })
    const location = await change({ action: 'resend', id: ids.slice(0, 3), customMessage: 'Two days left.' })
    expect((await outcome(location)).sort()).toEqual([
      ['done', ''],
      ['done', ''],
      ['not possible', 'This is not possible: the invite is completed.'],
    ])
    const mails = await db.inviteEmail.findMany({ where: { organizationId: organization.id } })
    expect(mails.map(({ inviteId }) => inviteId).sort()).toEqual([ids[0]!, ids[2]!].sort())
    expect(mails.map(({ message }) => message)).toEqual(['Two days left.', 'Two days left.'])
    // No candidate is mailed twice within a minute.
    expect((await outcome(await change({ action: 'resend', id: ids[0]! })))[0]![1]).toMatch(
      /^The invitation was sent too often\. You can/,
    )
    expect(await db.inviteEmail.count({ where: { organizationId: organization.id } })).toBe(2)
  })

  it('exports the outcome of each row, and records the export', async () => {
    const { organization, admin, ids, change } = await setUp(3)
    await db.invite.update({ where: { id: ids[1]! }, data: { status: 'completed', recipientName: '=1+1' } })
    const location = await change({ action: 'revoke', id: ids })
    const answer = await admin.post(`${location}/export`)
    expect([answer.status, answer.headers['content-disposition']]).toEqual([200, expect.stringContaining('invites-revoke-')])
    const [head, ...rows] = parse(answer.text, { bom: true })
    expect(head).toEqual(['row', 'email', 'name', 'assessment', 'outcome', 'why', 'invite'])
    const byAddress = rows.map(([, email, name, , outcome, why, invite]) => [email, name, outcome, why, invite]).sort()
    expect(byAddress).toEqual([
      ['c0@example.com', '', 'done', '', ids[0]],
      ['c1@example.com', "'=1+1", 'not possible', 'This is not possible: the invite is completed.', ids[1]],
      ['c2@example.com', '', 'done', '', ids[2]],
    ])
    const entry = await db.auditEntry.findFirst({ where: { organizationId: organization.id, action: 'exported_bulk_change' } })
    expect(entry).toMatchObject({ actorId: admin.member.id, details: { change: 'revoke' } })
    const other = await setUp(1)
    expect((await other.admin.post(`${other.admin.home}invites/changes/${location.split('/').at(-1)}/export`)).status).toBe(404)
  })

  it('extends, tags, assigns, and revokes', async () => {
    const { organization, ids, change, outcome, invites } = await setUp()
    const tag = await service.make.tag(organization.id)
    const grader = await service.make.member(organization.id, { roles: ['grader'] })
    await change({ action: 'extend', id: ids, by: 'date', expiresOn: dayIn(90) })
    await change({ action: 'tag', id: ids, tagIds: tag.id })
    await change({ action: 'tag', id: ids, tagIds: tag.id }) // tagging again changes nothing
    await change({ action: 'assign', id: ids, assignedGraderId: grader.id })
    const expiresAt = new Date(`${dayIn(90)}T23:59:00.000Z`)
    expect(await invites()).toMatchObject(ids.map(() => ({ expiresAt, assignedGraderId: grader.id, status: 'pending' })))
    expect(await db.inviteTag.count({ where: { tagId: tag.id } })).toBe(3)
    expect((await outcome(await change({ action: 'extend', id: ids, by: 'date', expiresOn: dayIn(1) })))[0]).toEqual([
      'not possible',
      'The new expiry must not be earlier than the current one.',
    ])
    await change({ action: 'assign', id: ids, assignedGraderId: '' })
    await change({ action: 'revoke', id: ids.slice(1) })
    expect((await invites()).map(({ status, assignedGraderId }) => [status, assignedGraderId])).toEqual([
      ['pending', null],
      ['revoked', null],
      ['revoked', null],
    ])
  })

  it('previews the new dates of an extension, and records the date', async () => {
    const { organization, admin, ids, path, invites, change } = await setUp(3)
    await db.organization.update({ where: { id: organization.id }, data: { timeZone: 'Asia/Tokyo' } })
    const ends = [10, 10, 200].map((days) => new Date(service.clock.now().getTime() + days * DAY_MS))
    for (const [i, id] of ids.entries()) await db.invite.update({ where: { id }, data: { expiresAt: ends[i]! } })
    await db.invite.update({ where: { id: ids[1]! }, data: { status: 'completed' } })
    const asked = (fields: Record<string, string>) =>
      admin.get(
        `${path}/new?${new URLSearchParams([['action', 'extend'], ...ids.map((id): [string, string] => ['id', id]), ...Object.entries(fields)])}`,
      )
    const first = await asked({})
    expect([first.text.includes('Show the new dates'), first.text.includes('calendar-plus')]).toEqual([true, false])
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Asia/Tokyo' })
    const date = dayIn(50)
    const shown = await asked({ by: 'date', expiresOn: date })
    const to = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(date))
    expect(rowsOf(shown.text)).toEqual([`${day.format(ends[0])} | ${to} | 1`])
    expect(shown.text).toContain(
      '2 invites can’t be extended, or expire later anyway: they stay as they are. Days in Asia/Tokyo.',
    )
    const later = await asked({ by: 'days', addedDays: '15' })
    const after = (end: Date) => day.format(new Date(end.getTime() + 15 * DAY_MS))
    expect(rowsOf(later.text)).toEqual([ends[0]!, ends[2]!].map((end) => `${day.format(end)} | ${after(end)} | 1`))
    const location = await change({ action: 'extend', id: ids, by: 'date', expiresOn: date })
    expect((await admin.get(location)).text).toContain(`To ${to} · `)
    expect((await invites())[0]!.expiresAt).toEqual(new Date(`${date}T14:59:00.000Z`))
    const entries = await db.auditEntry.findMany({
      where: { organizationId: organization.id, action: { in: ['changed_many', 'extended_invite'] } },
    })
    expect(entries.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        { change: 'extend', invites: 3, expiresOn: date },
        { until: `${date}T14:59:00.000Z`, bulkChangeId: location.split('/').at(-1) },
      ]),
    )
  })

  it('is one entry of the audit log, which leads to the entry of each invite', async () => {
    const { admin, ids, change } = await setUp(3)
    const location = await change({ action: 'extend', id: ids, by: 'days', addedDays: '15' })
    const log = `${admin.home}settings/audit-log`
    const actionsIn = async (query: string) =>
      rowsOf((await admin.get(log + query)).text).map((row) => row.split(' | ').at(-1)!.split('\n')[0])
    const first = await admin.get(log)
    expect((await actionsIn('')).filter((action) => action !== 'generated an API key')).toEqual(['changed invites in bulk'])
    expect(first.text).not.toContain('bulkChangeId')
    const [, query] = /audit-log(\?bulk=[^"]+)">Show each invite/.exec(first.text)!
    expect(query).toBe(`?bulk=${location.split('/').at(-1)}`)
    expect(await actionsIn(query!)).toEqual(ids.map(() => 'extended an invite'))
    expect(await actionsIn('?action=extended_invite')).toHaveLength(3)
    const exported = parse((await admin.post(`${log}/export`)).text, { columns: true }) as { action: string }[]
    expect(exported.filter(({ action }) => action === 'extended_invite')).toHaveLength(3)
  })

  it('keeps started invites unless they are included, and emails candidates who were sent the invitation', async () => {
    const { organization, assessment, ids, change, outcome, invites } = await setUp(3)
    await change({ action: 'resend', id: ids.slice(0, 2) })
    await db.inviteEmail.updateMany({
      where: { organizationId: organization.id },
      data: { state: 'sent', sentAt: service.clock.now() },
    })
    await db.invite.update({ where: { id: ids[1]! }, data: { status: 'started', startedAt: service.clock.now() } })
    const location = await change({ action: 'revoke', id: ids, email: 'yes', message: 'Sorry!' })
    expect((await outcome(location)).sort()).toEqual([
      ['done', ''],
      ['done', ''],
      ['not possible', 'The candidate has started, so this invite was kept.'],
    ])
    const mails = () => db.inviteEmail.findMany({ where: { organizationId: organization.id, kind: 'withdrawn' } })
    expect(await mails()).toMatchObject([{ inviteId: ids[0], message: 'Sorry!' }])
    const { id: mailId } = await waitForState(service, { id: (await mails())[0]!.id }, 'captured')
    const mail = (await service.mailbox(`/${mailId}`)).text
    expect(mail).toContain(`Your invitation was withdrawn: ${assessment.name}`)
    expect((await service.mailbox(`/${mailId}?view=text`)).text).toContain('Sorry!')
    await change({ action: 'revoke', id: ids, includesStarted: 'yes' })
    expect((await invites()).map(({ status }) => status)).toEqual(['revoked', 'revoked', 'revoked'])
    expect(await mails()).toHaveLength(1)
  })

  it('apologizes for an invitation that is still being sent when its invite is revoked', async () => {
    const { organization, ids, change } = await setUp(2)
    const queued = (inviteId: string, more = {}) => {
      const at = service.clock.now()
      const data = { id: service.deps.newId(), organizationId: organization.id, inviteId, kind: 'invitation', linkVersion: 1 }
      return db.inviteEmail.create({ data: { ...data, createdAt: at, updatedAt: at, ...more } })
    }
    const inFlight = await queued(ids[0]!)
    await queued(ids[1]!, { delayedUntil: new Date(service.clock.now().getTime() + DAY_MS) })
    await change({ action: 'revoke', id: ids, email: 'yes', message: 'Sorry!' })
    const withdrawals = await db.inviteEmail.findMany({ where: { organizationId: organization.id, kind: 'withdrawn' } })
    expect(withdrawals).toMatchObject([{ inviteId: ids[0] }])
    const { id } = withdrawals[0]!
    const state = async () => {
      const [email] = await findEmails(service.system, [{ id, organizationId: organization.id }])
      return email!.invitation
    }
    expect(await state()).toBe('queued')
    await db.inviteEmail.update({ where: { id: inFlight.id }, data: { state: 'sent', sentAt: service.clock.now() } })
    expect(await state()).toBe('sent')
    await db.inviteEmail.update({ where: { id: inFlight.id }, data: { state: 'failed', sentAt: null } })
    expect(await state()).toBe('none')
  })

  it('covers all matches of the list across pages, and nothing else', async () => {
    const { assessment, admin, change, path, invites, organization } = await setUp(30)
    const other = await service.make.assessment(organization.id)
    await service.make.invite(other)
    const all = { all: 'yes', assessment: assessment.id, state: 'pending' }
    const page = await admin.get(`${path}/new?${new URLSearchParams({ ...all, action: 'revoke' })}`)
    expect(page.text).toContain('Revoke 30 invites')
    await change(fieldsIn(page))
    const left = (await invites()).filter(({ status }) => status === 'pending')
    expect(left.map(({ assessmentId }) => assessmentId)).toEqual([other.id])
  })

  it('changes no invites beyond the announced number if more have come to match', async () => {
    const { assessment, admin, path, invites } = await setUp()
    const asked = fieldsIn(await admin.get(`${path}/new?all=yes&action=revoke`))
    await service.make.invite(assessment)
    const refused = await admin.post(path, asked)
    expect([refused.status, mistakesIn(refused)]).toEqual([422, ['Now 4 invites match. Check the number and confirm again.']])
    expect((await invites()).every(({ status }) => status === 'pending')).toBe(true)
    expect((await admin.post(path, fieldsIn(refused))).status).toBe(303)
  })

  it.each([
    [{ action: 'revoke' }, 'No invites are selected. Select some in the list.'],
    [{ action: 'revoke', id: unknownId }, 'No invites are selected. Select some in the list.'],
    [{ action: 'revoke', id: ["'", 'x'] }, 'No invites are selected. Select some in the list.'],
    [{ action: 'revoke', all: 'yes', search: 'ab' }, 'The search needs at least 3 characters.'],
    [{ action: 'extend', by: 'days', addedDays: '0' }, 'The number of days must be a whole number from 1 to 3650.'],
    [{ action: 'extend', by: 'date', expiresOn: '' }, 'Enter a date.'],
    [{ action: 'extend', by: 'date', expiresOn: '2025-01-01' }, 'The date must be in the future.'],
    [{ action: 'extend', by: 'date', expiresOn: '2099-01-01' }, 'The date can be at most 3,650 days from now.'],
    [{ action: 'name', list: 'x' }, 'There is no list “x”.'],
    [{ action: 'tag', tagIds: '' }, 'Enter the tag.'],
    [{ action: 'tag', tagIds: unknownId }, `There is no such tag “${unknownId}”.`],
    [{ action: 'assign', assignedGraderId: unknownId }, `There is no such grader “${unknownId}”.`],
  ])('reports the mistake in %j', async (fields, mistake) => {
    const { admin, ids, path } = await setUp(1)
    const chosen = fields.action === 'revoke' ? {} : { id: ids }
    const answer = await admin.post(path, { most: '10', ...chosen, ...(fields as Record<string, string>) })
    expect([answer.status, mistakesIn(answer)]).toEqual([422, [mistake]])
  })

  it('changes nothing of another organization, nor live invites from the pages of test data', async () => {
    const { admin, ids, path } = await setUp(1)
    const other = await setUp(1)
    expect((await admin.post(path, { action: 'revoke', id: other.ids, most: '5' })).status).toBe(422)
    const test = path.replace('/portal/', '/portal/test/')
    expect((await admin.post(test, { action: 'revoke', id: ids, most: '5' })).status).toBe(422)
    expect((await admin.post(test, { action: 'revoke', all: 'yes', most: '5' })).status).toBe(422)
  })

  it('starts once, even if its button is pressed several times', async () => {
    const { admin, ids, path, organization } = await setUp(1)
    const asked = fieldsIn(await admin.get(`${path}/new?action=resend&id=${ids[0]}`))
    const answers = await Promise.all([admin.post(path, asked), admin.post(path, asked)])
    answers.push(await admin.post(path, asked))
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1)
    expect(await db.bulkChange.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('changes each row once, even if several jobs work on it at once', async () => {
    const { organization, admin, ids } = await setUp(8)
    const [id, now] = [service.deps.newId(), service.clock.now()]
    const of = { organizationId: organization.id }
    const data = { ...of, id, mode: 'live', action: 'resend', params: {}, createdById: admin.member.id, createdAt: now } as const
    await db.bulkChange.create({ data })
    await db.bulkChangeRow.createMany({
      data: ids.map((inviteId, i) => ({ ...of, bulkChangeId: id, number: i + 1, inviteId, state: 'ready' as const })),
    })
    await Promise.all(Array.from({ length: 4 }, () => continueBulkChange(service.system, { ...of, id }, erasePerson)))
    await continueBulkChange(service.system, { ...of, id }, erasePerson)
    expect(await db.inviteEmail.count({ where: of })).toBe(8)
    expect(await db.bulkChangeRow.count({ where: { bulkChangeId: id, state: 'done' } })).toBe(8)
    expect((await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt).not.toBe(null)
  })

  it('can be stopped, then changes nothing, and can be resumed', async () => {
    const { admin, ids, organization, invites } = await setUp(2)
    const [id, now] = [service.deps.newId(), service.clock.now()]
    const of = { organizationId: organization.id }
    await db.bulkChange.create({
      data: { ...of, id, mode: 'live', action: 'revoke', params: {}, createdById: admin.member.id, createdAt: now },
    })
    await db.bulkChangeRow.createMany({
      data: ids.map((inviteId, i) => ({ ...of, bulkChangeId: id, number: i + 1, inviteId, state: 'ready' as const })),
    })
    const location = `${admin.home}invites/changes/${id}`
    const under = await admin.get(location)
    expect([under.headers.refresh, under.text.includes('id="progress" value="0" max="2">')]).toEqual(['3', true])
    expect((await admin.post(`${location}/stop`)).status).toBe(303)
    await continueBulkChange(service.system, { ...of, id }, erasePerson)
    expect((await invites()).map(({ status }) => status)).toEqual(['pending', 'pending'])
    expect((await admin.get(location)).headers.refresh).toBe(undefined)
    await admin.post(`${location}/resume`)
    await waitUntil(
      'the change to be finished',
      async () => (await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined,
    )
    expect((await invites()).map(({ status }) => status)).toEqual(['revoked', 'revoked'])
  })

  it('runs in the name of its author while they have permission, and is audited as a whole and per invite', async () => {
    const { organization, admin, ids, change, outcome, invites } = await setUp(2)
    await change({ action: 'revoke', id: ids[0]! })
    const audit = await db.auditEntry.findMany({
      where: { organizationId: organization.id, actorKind: 'member' },
      orderBy: { id: 'asc' },
    })
    expect(audit).toMatchObject([
      { action: 'changed_many', actorId: admin.member.id, targetKind: 'bulk_change', details: { change: 'revoke', invites: 1 } },
      { action: 'revoked_invite', actorId: admin.member.id, targetId: ids[0] },
    ])
    expect((await admin.get(`${admin.home}settings/audit-log`)).text).toContain('changed invites in bulk')
    const [id, now] = [service.deps.newId(), service.clock.now()]
    const of = { organizationId: organization.id }
    const left = await service.make.member(organization.id, { roles: ['grader'] })
    await db.bulkChange.create({
      data: { ...of, id, mode: 'live', action: 'revoke', params: {}, createdById: left.id, createdAt: now },
    })
    await db.bulkChangeRow.create({ data: { ...of, bulkChangeId: id, number: 1, inviteId: ids[1]!, state: 'ready' } })
    await continueBulkChange(service.system, { ...of, id }, erasePerson)
    expect((await invites())[1]!.status).toBe('pending')
    expect(await outcome(`${admin.home}invites/changes/${id}`)).toEqual([
      ['not allowed', 'The member who started this no longer has permission for it.'],
    ])
  })
})

it('counts the invites of each tab if counts are stored', async () => {
  const { admin, assessment, ids } = await setUp()
  await db.invite.update({ where: { id: ids[0]! }, data: { status: 'completed' } })
  const tabsOf = async (query = '') => {
    const { text } = await admin.get(`${admin.home}invites${query}`)
    return [...text.matchAll(/class="tab[^>]*>([\w ]+?)(?: <span[^>]*>([\d,]+)|<)/g)].map(
      ([, label, count]) => `${label} ${count}`,
    )
  }
  const all = ['All 3', 'Pending 2', 'Not delivered 0', 'Accepted 0', 'Started 0', 'Completed 1', 'Expired 0', 'Revoked 0']
  expect(await tabsOf()).toEqual(all)
  expect(await tabsOf(`?assessment=${assessment.id}&state=pending`)).toEqual(all)
  expect((await tabsOf('?search=c1')).slice(0, 2)).toEqual(['All 1', 'Pending undefined'])
})

describe.skipIf(!runsAllBrowserTests)('the bulk pages (skipped where no chromium is installed)', () => {
  let browser: Browser
  let origin: string
  beforeAll(async () => {
    origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  it.each([true, false])(
    'invite five candidates by a list and tag them together, by keyboard alone (with scripts: %s)',
    async (javaScriptEnabled) => {
      const { organization, admin, assessment } = await setUp(0)
      const tag = await service.make.tag(organization.id, { name: 'Spring' })
      const [name, value] = admin.cookie()!.split('=') as [string, string]
      const context = await browser.newContext({ javaScriptEnabled, viewport: desktop })
      onTestFinished(() => context.close())
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      const complaints = watch(page)
      const { keyboard } = page
      /** Presses Tab until the element has the focus. */
      const reach = async (selector: string) => {
        for (let i = 0; i < 200; i++) {
          if ((await page.locator(`${selector}:focus`).count()) > 0) return
          await keyboard.press('Tab')
        }
        throw new Error(`${selector} can not be reached`)
      }
      await page.goto(`${origin}${admin.home}invites/batches`)
      await reach('#assessmentId')
      await keyboard.type(assessment.name)
      await reach('#list')
      await keyboard.insertText(Array.from({ length: 5 }, (_, i) => `k${i}@example.com`).join('\n'))
      await reach('form[enctype] .btn-primary')
      await keyboard.press('Enter')
      await expect.poll(() => heading(page), PATIENT).toBe('Pasted list')
      await reach('.btn-primary')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Outcome' }).waitFor() // the page reloads by itself
      await page.goto(`${origin}${admin.home}invites`)
      for (let i = 0; i < 5; i++) {
        await reach('input[name=id]:not(:checked)')
        await keyboard.press('Space')
      }
      if (javaScriptEnabled) expect(await page.locator('[data-bulk-count]').textContent()).toBe('5 selected')
      await reach('button[value=tag]')
      await keyboard.press('Enter')
      await expect.poll(() => heading(page), PATIENT).toBe('Tag 5 invites')
      await reach('#tagIds')
      await keyboard.type('Spring')
      await reach('form .btn-primary')
      await keyboard.press('Enter')
      await page.getByText('Finished').waitFor()
      expect(await db.inviteTag.count({ where: { tagId: tag.id } })).toBe(5)
      expect(complaints).toEqual([])
    },
  )

  itSlow('are accessible, and never scroll sideways', async () => {
    const { admin, ids, change } = await setUp(3)
    const location = await change({ action: 'revoke', id: ids })
    const [name, value] = admin.cookie()!.split('=') as [string, string]
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    const pages = [`${admin.home}invites`, `${admin.home}invites/changes`, location]
    const asked = (['extend', 'tag', 'assign', 'revoke'] as const).map(
      (action) => `${admin.home}invites/changes/new?action=${action}&id=${ids[0]}`,
    )
    for (const [i, address] of [...pages, ...asked].entries()) {
      await page.goto(origin + address)
      for (const { viewport, colorScheme } of looksOf(i)) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page)
        expect([address, await overflow(page)]).toEqual([address, 0])
      }
    }
    await page.setViewportSize(desktop)
    await page.goto(`${origin}${admin.home}invites`)
    await page.getByLabel('Select this page').check()
    expect(await page.locator('input[name=id]:checked').count()).toBe(3)
    await page.getByLabel('Select c1@example.com').uncheck()
    expect(await page.locator('[data-bulk-count]').textContent()).toBe('2 selected')
    await page.getByRole('button', { name: 'Send again' }).click()
    await expect.poll(() => heading(page), PATIENT).toBe('Send 2 invitations again')
  })
})
