import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import type { Context } from '../../../../src/domain/context.ts'
import { deleteUnfinishedBatches } from '../../../../src/domain/invites/batches/batches.ts'
import { continueBatch } from '../../../../src/domain/invites/batches/continue-batch.ts'
import { createMissingTags, findMissingTags } from '../../../../src/domain/invites/batches/missing-tags.ts'
import { confirmColumns } from '../../../support/check-columns.ts'
import { fieldsIn, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

async function setUp(portalRoles: string[] = []) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  await service.make.question(assessment)
  const admin = await signInAs(service, organization.id, ['admin'], portalRoles)
  const path = `${admin.home}invites/batches`
  /** Pastes a list into the form. @returns the address of its page. */
  const give = async (list: string, fields: Record<string, string> = {}) => {
    const answer = await admin.post(path, { assessmentId: assessment.id, list, sendEmail: 'yes', ...fields })
    const location = await confirmColumns(admin, answer.headers.location ?? '')
    return { status: answer.status, text: answer.text, location }
  }
  /** Rows of the exported CSV, without the header. */
  const outcome = async (location: string): Promise<string[][]> => parse((await admin.post(`${location}/export`)).text).slice(1)
  /** Starts the list and waits until it is finished. */
  const run = async (location: string, fields: Record<string, string> = {}) => {
    expect((await admin.post(`${location}/start`, { sure: 'yes', ...fields })).status).toBe(303)
    const id = location.split('/').at(-1)!
    const isFinished = async () => (await service.db.inviteBatch.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined
    await waitUntil('the batch to be finished', isFinished)
  }
  const invites = () =>
    service.db.invite.findMany({
      where: { organizationId: organization.id },
      include: { tags: true, emails: true },
      orderBy: { id: 'asc' },
    })
  return { organization, assessment, admin, path, give, outcome, run, invites }
}

/** Multipart body of a form with a file. */
const multipart = (fields: Record<string, string>, file: Buffer | string) =>
  Buffer.concat([
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
    ),
    Buffer.from('--xyz\r\ncontent-disposition: form-data; name="file"; filename="list.csv"\r\ncontent-type: text/csv\r\n\r\n'),
    Buffer.from(file),
    Buffer.from('\r\n--xyz--\r\n'),
  ])

describe('a list', () => {
  it("is checked first, shows each row's outcome, and invites nobody", async () => {
    const { organization, assessment, admin, give, outcome, invites } = await setUp()
    const grader = await service.make.member(organization.id, { email: `${organization.id}@example.com` })
    await service.make.tag(organization.id, { name: 'Spring' })
    const before = await service.make.invite(assessment, { recipientEmail: 'Before@example.com', status: 'completed' })
    const { location } = await give(
      [
        'E-Mail,Full name,Tags,Message,Days,Grader,Phone',
        `good@example.com,"Lee, Sam",spring,"Hello,\n""you""",7,${grader.email},123`,
        'before@example.com,,,,,,',
        'GOOD@example.com,,,,,,',
        'not an address,,,,,,',
        'tag@example.com,,spring;autumn,,,,',
        'days@example.com,,,,soon,,',
        'grader@example.com,,,,,nobody@example.com,',
        `long@example.com,${'x'.repeat(201)},,,,,`,
        ',,,,,,',
      ].join('\r\n'),
    )
    const rows = await outcome(location)
    expect(rows.map(([number, email, , state, why, invite]) => [number, email, state, why, invite])).toEqual([
      ['1', 'good@example.com', 'to be invited', '', ''],
      ['2', 'before@example.com', 'already invited', 'The invite is completed.', before.id],
      ['3', 'GOOD@example.com', 'duplicate', 'The same address as in row 1.', ''],
      ['4', 'not an address', 'not possible', 'Enter a valid email address, such as name@example.com.', ''],
      ['5', 'tag@example.com', 'not possible', 'There is no such tag “autumn”.', ''],
      ['6', 'days@example.com', 'not possible', 'The number of days must be a whole number from 1 to 3650.', ''],
      ['7', 'grader@example.com', 'not possible', 'There is no such grader “nobody@example.com”.', ''],
      ['8', 'long@example.com', 'not possible', 'The name has more than 200 characters.', ''],
    ])
    const { text } = await admin.get(location)
    expect(text).toContain('Create 1 tag: autumn</label>')
    expect(text).toContain('Invite 2 candidates<')
    const settingTexts = [...text.matchAll(/<p class="preformatted">([^<]*)<\/p>/g)].map(([, own]) => own)
    expect(settingTexts).toEqual([
      'Tags: Spring',
      'Message: Hello,\n&quot;you&quot;',
      'Days until it expires: 7',
      `Grader: ${grader.email}`,
    ])
    expect(text).toContain('Unused columns: Phone.')
    expect((await admin.get(`${location}?state=repeated`)).text).toContain('The same address as in row 1.')
    expect((await admin.get(`${location}?state=repeated`)).text).not.toContain('not an address')
    expect(await invites()).toHaveLength(1)
  })

  it('creates its unknown tags while the box stays ticked, and invites the rows that name them', async () => {
    const { organization, admin, give, run, invites } = await setUp()
    const spring = await service.make.tag(organization.id, { name: 'Spring' })
    const list =
      'email,tags\na@example.com,Spring;Autumn\nb@example.com,autumn\nc@example.com,\nd@example.com,1;2;3;4\nnobody,Winter'
    const { location } = await give(list)
    const { text } = await admin.get(location)
    expect(text).toContain('Create 1 tag: Autumn</label>')
    expect(text).toContain('2 rows need it. If you untick the box, these rows are not invited.')
    expect(text).toContain('Invite 3 candidates')
    await run(location, { createTags: 'yes' })
    const autumn = await service.db.tag.findFirstOrThrow({ where: { organizationId: organization.id, name: 'Autumn' } })
    const made = (await invites()).map(({ recipientEmail, tags }) => [recipientEmail, tags.map(({ tagId }) => tagId).sort()])
    expect(made.sort()).toEqual([
      ['a@example.com', [spring.id, autumn.id].sort()],
      ['b@example.com', [autumn.id]],
      ['c@example.com', []],
    ])
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(2)
    const created = { organizationId: organization.id, action: 'created_tag' }
    expect(await service.db.auditEntry.count({ where: created })).toBe(1)
  })

  it('skips rows with unknown tags if the box is not ticked', async () => {
    const { organization, give, run, invites } = await setUp()
    const { location } = await give('email,tags\na@example.com,Autumn\nb@example.com,')
    await run(location)
    expect((await invites()).map(({ recipientEmail }) => recipientEmail)).toEqual(['b@example.com'])
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('offers no tags to a member who may invite but not create tags', async () => {
    const { organization, give } = await setUp()
    const { location } = await give('email,tags\na@example.com,Autumn')
    const id = location.split('/').at(-1)!
    const ctx = { ...asOperator(service, organization), actor: { kind: 'ats', ats: 'greenhouse' } } as Context
    expect(await findMissingTags(ctx, id)).toEqual({ names: [], rows: 0 })
    await expect(createMissingTags(ctx, id)).rejects.toMatchObject({ kind: 'not_permitted' })
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('shows rows with mistakes before the others, and exports all in their order', async () => {
    const { admin, give, outcome } = await setUp()
    const { location } = await give('email\na@example.com\nnobody\nb@example.com\na@example.com')
    expect(rowsOf((await admin.get(location)).text).map((row) => row.split(' | ').at(-1))).toEqual(['2', '4', '1', '3'])
    expect((await outcome(location)).map(([number]) => number)).toEqual(['1', '2', '3', '4'])
  })

  it('queues one job even if "Try again now" is pressed several times within a minute', async () => {
    const { admin, give, run } = await setUp()
    const { location } = await give('ann@example.com')
    await run(location)
    const id = location.split('/').at(-1)!
    await service.db.inviteBatch.update({ where: { id }, data: { finishedAt: null } })
    const jobs = () => service.db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int FROM pgboss.job WHERE data->>'batchId' = ${id} AND singleton_on IS NOT NULL`
    for (let i = 0; i < 5; i++) {
      expect((await admin.post(`${location}/resume`)).status).toBe(303)
      await service.db.inviteBatch.update({ where: { id }, data: { finishedAt: null } })
    }
    // Five requests may fall into two minutes.
    expect((await jobs())[0]!.count).toBeGreaterThan(0)
    expect((await jobs())[0]!.count).toBeLessThanOrEqual(2)
  })

  it('is hidden until it is read completely, and deleted an hour later if that failed', async () => {
    const { admin, give, path } = await setUp()
    const { location } = await give('email\nann@example.com')
    const where = { id: location.split('/').at(-1)! }
    const createdAt = new Date(service.clock.now().getTime() - 3_600_000)
    await service.db.inviteBatch.update({ where, data: { isLoading: true, createdAt } })
    expect((await admin.get(location)).status).toBe(404)
    expect((await admin.post(`${location}/start`)).status).toBe(404)
    expect((await admin.get(path)).text).not.toContain(where.id)
    await deleteUnfinishedBatches(service.system)
    expect(await service.db.inviteBatch.findUnique({ where })).toBeNull()
  })

  it.each([
    ['longer', 'x;'.repeat(20_000)],
    ['more', Array.from({ length: 1_001 }, (_, i) => `t${i}`).join(';')],
  ])('rejects a row whose tags are %s than allowed, without looking them up', async (_, tags) => {
    const { give, outcome } = await setUp()
    const { location } = await give(`email,tags\nann@example.com,"${tags}"\nben@example.com,`)
    expect((await outcome(location)).map(([, email, , state, why]) => [email, state, why])).toEqual([
      ['ann@example.com', 'not possible', 'The tag: at most 100.'],
      ['ben@example.com', 'to be invited', ''],
    ])
  })

  it.each([
    ['without a header', 'one@example.com\ntwo@example.com, Two\n', ['', 'Two']],
    [
      'in the format of another locale',
      '\ufeffemail;name\r\none@example.com;Ann, Lee\r\ntwo@example.com;Ünal\r\n',
      ['Ann, Lee', 'Ünal'],
    ],
    ['with tabs', 'name\temail\nOne\tone@example.com\n\n\t\nTwo\ttwo@example.com', ['One', 'Two']],
  ])('can be pasted %s', async (_how, list, names) => {
    const { give, outcome } = await setUp()
    expect((await outcome((await give(list)).location)).map(([, email, name]) => [email, name])).toEqual([
      ['one@example.com', names[0]],
      ['two@example.com', names[1]],
    ])
  })

  it.each([
    ['', 'The list is empty. Add at least one row.'],
    ['email,name\n', 'The list is empty. Add at least one row.'],
    ['name,phone\nSam,123', 'No column holds email addresses. Name it “email”, or choose it.'],
    [`email\n${'a@example.com\n'.repeat(50_001)}`, 'The list has more than 50,000 rows. Please split it.'],
  ])('explains why it is rejected: %#', async (list, why) => {
    const { give } = await setUp()
    const { status, text } = await give(list)
    expect([status, text.includes(why)]).toEqual([422, true])
  })

  it('accepts a file in UTF-8 or Windows encoding, up to a limited size', async () => {
    const { assessment, admin, path, outcome } = await setUp()
    const own = { cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=xyz' }
    const sendBody = (body: Buffer) => service.http().post(path).set(own).send(body)
    const send = (file: Buffer | string) => sendBody(multipart({ assessmentId: assessment.id, list: '' }, file))
    const list = 'email,name\ncandidate@example.com,Ünal\n'
    const utf16 = Buffer.from(`\ufeff${list}`, 'utf16le')
    const files = {
      utf8: Buffer.from(list),
      latin1: Buffer.from(list, 'latin1'),
      utf16le: utf16,
      utf16be: Buffer.from(utf16).swap16(),
    }
    for (const [encoding, file] of Object.entries(files)) {
      const answer = await send(file)
      expect([encoding, answer.status]).toEqual([encoding, 303])
      expect(await outcome(await confirmColumns(admin, answer.headers.location!))).toMatchObject([
        ['1', 'candidate@example.com', 'Ünal', 'to be invited', '', ''],
      ])
    }
    const large = await send('x'.repeat(16 * 1024 * 1024 + 1))
    expect([large.status, large.text.includes('The list is larger than 16 MB.')]).toEqual([422, true])
    const huge = await send('x'.repeat(17 * 1024 * 1024))
    expect([huge.status, huge.text.includes('Too much data'), huge.text.includes('Back to the form')]).toEqual([413, true, false])
    expect((await sendBody(Buffer.from('nonsense'))).status).toBe(400)
  })

  it('handles characters split between chunks', async () => {
    const { admin, give, outcome } = await setUp()
    const [address, name, header] = [299, 399, 99].map((length) => `${'x'.repeat(length)}😀`)
    const { location } = await give(
      `email,name,tags,${header}\n${address},,,\na@example.com,${name},,\nb@example.com,,${address},\n`,
    )
    expect((await outcome(location)).map(([, email, name, state]) => [email, name, state])).toEqual([
      [`${'x'.repeat(299)}\ufffd`, '', 'not possible'],
      ['a@example.com', `${'x'.repeat(399)}\ufffd`, 'not possible'],
      ['b@example.com', '', 'not possible'],
    ])
    expect((await admin.get(location)).text).toContain(`Unused columns: ${'x'.repeat(99)}\ufffd.`)
  })

  it('reads only the first columns of a wide list', async () => {
    const { give, outcome } = await setUp()
    const { location } = await give(`email${','.repeat(1_000)}name\na@example.com${','.repeat(1_000)}Ann\n`)
    expect((await outcome(location)).map(([, email, name]) => [email, name])).toEqual([['a@example.com', '']])
    expect((await give(`email${',name'.repeat(300_000)}\n${'a@example.com\n'.repeat(10_000)}`)).status).toBe(303)
  })

  it('is shown again if it is rejected, unless it is large', async () => {
    const { admin, assessment, path } = await setUp()
    const refused = (list: string) => admin.post(path, { assessmentId: assessment.id, list })
    expect((await refused('no "address" here')).text).toContain('no &quot;address&quot; here</textarea>')
    const { status, text } = await refused('"'.repeat(4_000_000))
    expect(status).toBe(422)
    expect(text.length).toBeLessThan(200_000)
  })

  it('accepts at most 100 tags for all rows, and rejects more than 10,000 fields unread', async () => {
    const { admin, assessment, path } = await setUp()
    const choose = async (times: number) => {
      const sent = service.http().post(path).set({ cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin' })
      return sent.type('form').send(`assessmentId=${assessment.id}${'&tagIds='.repeat(times)}`)
    }
    const many = await choose(10_000)
    expect([many.status, many.text.includes('The tag: at most 100.')]).toEqual([422, true])
    expect((await choose(10_001)).status).toBe(413)
  })

  it('names the first unknown tags of a row with many', async () => {
    const { give, outcome } = await setUp()
    const { location } = await give(`email,tags\na@example.com,"${Array.from({ length: 1_000 }, (_, i) => `t${i}`).join(';')}"\n`)
    const why = ['t0', 't1', 't2'].map((name) => `There is no such tag “${name}”.`).join(' ')
    expect(await outcome(location)).toMatchObject([['1', 'a@example.com', '', 'not possible', why, '']])
  })

  it('is read only if its sender may invite', async () => {
    const { organization, path } = await setUp()
    const grader = await signInAs(service, organization.id, ['grader'])
    const own = { cookie: grader.cookie()!, 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=xyz' }
    expect((await service.http().post(path).set(own).send('nonsense')).status).toBe(404)
  })

  it('escapes HTML on the page, and formulas in the CSV', async () => {
    const { admin, give, outcome } = await setUp()
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("http://evil.example")']
    const list = ['email,name', ...formulas.map((text, i) => `"${text.replaceAll('"', '""')}","<script>${i}</script>\0"`)].join(
      '\n',
    )
    const { location } = await give(list)
    expect((await outcome(location)).map(([, email]) => email)).toEqual(formulas.map((text) => `'${text}`))
    for (const page of [location, `${location}?state=invalid`]) {
      const { text } = await admin.get(page)
      expect(text).toContain('&lt;script&gt;0&lt;/script&gt;')
      expect(text).not.toContain('<script>0')
    }
  })
})

describe('a started list', () => {
  it('invites its valid rows in the name of its starter, with common settings and those of each row', async () => {
    const { organization, admin, give, outcome, run, invites } = await setUp()
    const [all, own] = [await service.make.tag(organization.id), await service.make.tag(organization.id, { name: 'Own' })]
    const list = 'email,name,tags,message,days\none@example.com,One,own,Hello,3\nbad,,,,\ntwo@example.com,,,,\n'
    const { location } = await give(list, {
      tagIds: all.id,
      customMessage: 'To all',
      expiresInDays: '9',
      webcamMonitoring: 'yes',
    })
    await run(location)
    const inDays = (days: number) => new Date(service.clock.now().getTime() + days * 86_400_000)
    const [one, two, ...others] = await invites()
    expect(others).toEqual([])
    expect([one, two].sort((a, b) => a!.recipientEmail.localeCompare(b!.recipientEmail))).toMatchObject([
      {
        recipientEmail: 'one@example.com',
        recipientName: 'One',
        customMessage: 'Hello',
        expiresAt: inDays(3),
        createdById: admin.member.id,
        tags: [{ tagId: all.id }, { tagId: own.id }],
        emails: [{}],
      },
      {
        recipientEmail: 'two@example.com',
        recipientName: null,
        customMessage: 'To all',
        expiresAt: inDays(9),
        webcamMonitoring: true,
        screenRecording: false,
        tags: [{ tagId: all.id }],
        emails: [{}],
      },
    ])
    expect((await outcome(location)).map(([, , , state]) => state)).toEqual(['invited', 'not possible', 'invited'])
    expect((await admin.get(location)).text).toContain('>Outcome</h2>')
    const audit = await service.db.auditEntry.findMany({
      where: { organizationId: organization.id, actorKind: 'member' },
      orderBy: { id: 'asc' },
    })
    expect(audit).toMatchObject([
      { action: 'invited_many', actorId: admin.member.id, details: { rows: 2 } },
      { action: 'exported_invite_batch', actorId: admin.member.id },
    ])
  })

  it('starts once, even if requested several times', async () => {
    const { organization, admin, give, run, invites } = await setUp()
    const { location } = await give('one@example.com\ntwo@example.com')
    await Promise.all(Array.from({ length: 5 }, () => admin.post(`${location}/start`)))
    await run(location)
    expect(await invites()).toHaveLength(2)
    expect(await service.db.auditEntry.count({ where: { organizationId: organization.id, action: 'invited_many' } })).toBe(1)
  })

  it('skips and reports people who were invited since the check', async () => {
    const { assessment, give, outcome, run, invites } = await setUp()
    const { location } = await give('one@example.com\ntwo@example.com')
    const { id } = await service.make.invite(assessment, { recipientEmail: 'ONE@example.com' })
    await run(location)
    expect((await outcome(location)).map(([, , , state, why]) => [state, why])).toEqual([
      ['already invited', 'The invite is pending.'],
      ['invited', 'The invite is pending.'],
    ])
    expect((await outcome(location))[0]![5]).toBe(id)
    expect(await invites()).toHaveLength(2)
  })

  it('stops inviting when its member loses the permission', async () => {
    const { admin, give, organization, invites } = await setUp()
    const { location } = await give('one@example.com')
    const id = location.split('/').at(-1)!
    await service.db.member.update({ where: { id: admin.member.id }, data: { roles: ['grader'] } })
    await service.db.inviteBatch.update({ where: { id }, data: { startedAt: service.clock.now() } })
    await service.deps.queue.enqueueInviteBatch(service.db, { id, organizationId: organization.id })
    const isFinished = async () => (await service.db.inviteBatch.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined
    await waitUntil('the batch to be finished', isFinished)
    expect(await invites()).toEqual([])
    const other = await signInAs(service, organization.id, ['admin'])
    expect((await other.get(location)).text).toContain('Whoever started the list no longer has permission to invite.')
  })

  it('can be stopped and resumed', async () => {
    const { admin, give, invites, organization } = await setUp()
    const { location } = await give(Array.from({ length: 30 }, (_, i) => `c${i}@example.com`).join('\n'))
    const id = location.split('/').at(-1)!
    const batch = () => service.db.inviteBatch.findUniqueOrThrow({ where: { id } })
    await admin.post(`${location}/start`)
    await admin.post(`${location}/stop`)
    const stopped = await invites()
    await continueBatch(service.system, { id, organizationId: organization.id }) // a job that was still waiting
    expect(await invites()).toHaveLength(stopped.length)
    const page = await admin.get(location)
    expect([page.headers.refresh, page.text.includes('>Resume<')]).toEqual([undefined, true])
    await admin.post(`${location}/resume`)
    await waitUntil('the batch to be finished', async () => (await batch()).finishedAt ?? undefined)
    expect(await invites()).toHaveLength(30)
    const answer = await admin.post(`${location}/stop`)
    expect([answer.status, (await batch()).stoppedAt]).toEqual([303, null])
  })

  it('can be discarded only before it is started', async () => {
    const { admin, give, run, path } = await setUp()
    const [unstarted, started] = [await give('one@example.com'), await give('two@example.com')]
    const answer = await admin.post(`${unstarted.location}/discard`)
    expect([answer.status, answer.headers.location]).toEqual([303, path])
    expect((await admin.get(unstarted.location)).status).toBe(404)
    await run(started.location)
    await admin.post(`${started.location}/discard`)
    expect((await admin.get(started.location)).status).toBe(200)
  })

  it('shows its progress, and reloads until it is finished', async () => {
    const { admin, give, run } = await setUp()
    const { location } = await give('one@example.com')
    expect((await admin.get(location)).headers.refresh).toBeUndefined()
    const id = location.split('/').at(-1)!
    await service.db.inviteBatch.update({ where: { id }, data: { startedAt: service.clock.now() } })
    const under = await admin.get(location)
    expect([under.headers.refresh, under.text.includes('id="progress" value="0" max="1">')]).toEqual(['3', true])
    await service.db.inviteBatch.update({ where: { id }, data: { startedAt: null } })
    await run(location)
    expect((await admin.get(location)).headers.refresh).toBeUndefined()
  })

  it('is deleted after 90 days, and its invites stay', async () => {
    const { give, run, invites, organization } = await setUp()
    await run((await give('one@example.com')).location)
    const days = (n: number) => service.clock.advance(n * 86_400_000)
    const count = async () => {
      await deleteExpiredRows(service.system, 'delete_expired_batches')
      return service.db.inviteBatch.count({ where: { organizationId: organization.id } })
    }
    days(89)
    expect(await count()).toBe(1)
    days(2)
    expect([await count(), (await invites()).length]).toEqual([0, 1])
    days(-91)
  })
})

it('retries a list at once after it has failed permanently', async () => {
  const { organization, admin, give, outcome } = await setUp()
  const { location } = await give('sam@example.com')
  const id = location.split('/').at(-1)!
  await service.db.inviteBatch.update({ where: { id }, data: { startedAt: service.clock.now() } }) // no job is left in the queue
  expect((await admin.get(location)).text).toContain('Try again now')
  expect((await admin.post(`${location}/resume`)).headers.location).toBe(location)
  const readBatch = () => service.db.inviteBatch.findUniqueOrThrow({ where: { id } })
  await waitUntil('the batch to be finished', async () => (await readBatch()).finishedAt ?? undefined)
  expect((await outcome(location)).map(([, email, , state]) => [email, state])).toEqual([['sam@example.com', 'invited']])
  expect((await admin.get(location)).text).not.toContain('Try again now')
  const resumed = { organizationId: organization.id, action: 'resumed_batch' }
  expect(await service.db.auditEntry.count({ where: resumed })).toBe(1)
  await admin.post(`${location}/resume`) // changes nothing for a finished list
  expect(await service.db.auditEntry.count({ where: resumed })).toBe(1)
})

describe('a wrong list', () => {
  const rows = ['ann', 'bea', 'cem', 'dan'].map((name) => `${name}@example.com,${name},L.`)
  const list = ['email,First,Last', ...rows].join('\n')

  it('is not invited until missing names and unused columns are confirmed', async () => {
    const { admin, give, invites } = await setUp()
    const { location } = await give(list)
    const { text } = await admin.get(location)
    expect(text).toContain('4 of 4 candidates have no name')
    expect(text).toContain('Unused columns: First, Last.')
    const refused = await admin.post(`${location}/start`)
    expect([refused.status, mistakesIn(refused)]).toEqual([422, ['Tick the box to confirm that the list is right as it is.']])
    expect(await invites()).toEqual([])
    const addresses = await give('email\nann@example.com')
    expect((await admin.get(addresses.location)).text).not.toContain('name="sure"')
  })

  it('names its file, and offers to withdraw only its open invites', async () => {
    const { assessment, admin, path, run, invites } = await setUp()
    const other = await service.make.invite(assessment)
    const body = multipart({ assessmentId: assessment.id, sendEmail: 'yes' }, list)
    const sent = { cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=xyz' }
    const { headers } = await service.http().post(path).set(sent).send(body)
    const location = await confirmColumns(admin, headers.location!)
    await run(location)
    await service.db.invite.updateMany({
      where: { recipientEmail: 'dan@example.com', assessmentId: assessment.id },
      data: { status: 'started' },
    })
    const page = await admin.get(location)
    expect(page.text).toContain('list.csv')
    expect(page.text).toContain('Revoke 3 invites')
    const id = location.split('/').at(-1)!
    const found = await admin.get(`${admin.home}invites?list=${id}`)
    expect(rowsOf(found.text)).toHaveLength(4)
    const withdrawing = await admin.get(`${admin.home}invites/changes/new?action=revoke&all=yes&list=${id}&email=yes`)
    expect(withdrawing.text).toContain('Revoke 3 invites')
    expect(withdrawing.text).toContain('Also revoke the one that has been started')
    expect((await admin.post(`${admin.home}invites/changes`, fieldsIn(withdrawing))).status).toBe(303)
    const statuses = async () => (await invites()).map(({ status }) => status).sort()
    const done = ['pending', 'revoked', 'revoked', 'revoked', 'started']
    await waitUntil('the invites to be revoked', async () => (await statuses()).join() === done.join() || undefined)
    expect((await invites()).find(({ status }) => status === 'pending')!.id).toBe(other.id)
  })

  it('can erase its people, except those with other invites or who have started', async () => {
    const { organization, assessment, admin, give, run, invites } = await setUp(['owner'])
    const { location } = await give(list)
    await run(location)
    const other = await service.make.assessment(organization.id)
    await service.make.invite(other, { recipientEmail: 'BEA@example.com' })
    await service.db.invite.updateMany({
      where: { recipientEmail: 'cem@example.com', assessmentId: assessment.id },
      data: { status: 'completed' },
    })
    const erasing = `${admin.home}candidates/erase`
    const page = await admin.get(`${erasing}?all=yes&list=${location.split('/').at(-1)}`)
    expect(page.text).toContain('Will be erased: 2 people')
    expect(page.text).toContain('Have started or completed: 1 person')
    expect(page.text).toContain('Have other invites, and are kept: 1 person')
    expect(page.text).toContain('name="most" value="4"')
    const fields = { all: 'yes', list: location.split('/').at(-1)!, most: '4' }
    expect((await admin.post(erasing, fields)).status).toBe(422)
    const grown = await admin.post(erasing, { ...fields, most: '3', sure: 'yes' })
    expect(mistakesIn(grown)).toEqual(['Now 4 invites match. Check the number and confirm again.'])
    expect(grown.text).not.toMatch(/name="sure"[^>]*checked/)
    const others = await admin.post(erasing, { ...fields, seen: 'other', sure: 'yes' })
    expect(mistakesIn(others)).toEqual(['Now 4 invites match. Check the number and confirm again.'])
    const seen = /name="seen" value="([^"]+)"/.exec(page.text)![1]!
    const { headers } = await admin.post(erasing, { ...fields, seen, sure: 'yes' })
    const left = async () => (await invites()).map(({ recipientEmail }) => recipientEmail).sort()
    const kept = ['BEA@example.com', 'bea@example.com', 'cem@example.com']
    await waitUntil('two people to be erased', async () => (await left()).join() === kept.join() || undefined)
    expect(
      rowsOf((await admin.get(headers.location!)).text)
        .map((row) => row.split(' | ').at(-1))
        .sort(),
    ).toEqual(['The candidate has started, so this invite was kept.', 'This person has other invites, so they were kept.'])
  })

  it('erases candidates whose invites were revoked after they started only if they are included', async () => {
    const { assessment, admin, give, run, invites } = await setUp(['owner'])
    const { location } = await give(list)
    await run(location)
    await service.db.invite.updateMany({
      where: { recipientEmail: 'cem@example.com', assessmentId: assessment.id },
      data: { status: 'revoked', startedAt: new Date(), revokedAt: new Date() },
    })
    const erasing = `${admin.home}candidates/erase`
    const fields = { all: 'yes', list: location.split('/').at(-1)!, most: '4', sure: 'yes' }
    const page = await admin.get(`${erasing}?all=yes&list=${fields.list}`)
    expect(page.text).toContain('Have started or completed: 1 person')
    await admin.post(erasing, fields)
    const left = async () => (await invites()).map(({ recipientEmail }) => recipientEmail).join()
    await waitUntil('three people to be erased', async () => (await left()) === 'cem@example.com' || undefined)
    await admin.post(erasing, { ...fields, includesStarted: 'yes' })
    await waitUntil('everybody to be erased', async () => (await left()) === '' || undefined)
  })

  it('erases for an admin as long as the organization has no owner, and shows which emails would not be sent', async () => {
    const { assessment, admin, give, run, invites } = await setUp()
    const { location } = await give(list)
    await run(location)
    const one = { recipientEmail: 'cem@example.com', assessmentId: assessment.id }
    const unsent = { invite: { assessmentId: assessment.id }, state: { not: 'captured' as const } }
    await waitUntil(
      'all emails to be sent',
      async () => (await service.db.inviteEmail.count({ where: unsent })) === 0 || undefined,
    )
    await service.db.inviteEmail.updateMany({ where: { invite: one }, data: { state: 'queued' } })
    const fields = { all: 'yes', list: location.split('/').at(-1)!, most: '4' }
    const page = await admin.get(`${admin.home}candidates/erase?${new URLSearchParams(fields)}`)
    expect(page.text).toContain('1 email to these people is still to be sent.')
    expect((await admin.post(`${admin.home}candidates/erase`, { ...fields, sure: 'yes' })).status).toBe(303)
    await waitUntil('everybody to be erased', async () => (await invites()).length === 0 || undefined)
  })

  it('erases nobody without a filter, and reports an invalid one', async () => {
    const { admin, give, run, invites } = await setUp(['owner'])
    await run((await give(list)).location)
    const erasing = `${admin.home}candidates/erase`
    for (const empty of [
      { all: 'yes' },
      { all: 'yes', part: 'closed' },
      { all: 'yes', search: ' ' },
      { all: 'yes', list: 'x' },
    ]) {
      expect((await admin.get(`${erasing}?${new URLSearchParams(empty)}`)).text).not.toContain('Will be erased')
      const refused = await admin.post(erasing, { ...empty, most: '4', sure: 'yes' })
      expect([refused.status, mistakesIn(refused)]).toEqual([422, ['No invites are selected. Select some in the list.']])
    }
    const short = await admin.get(`${erasing}?all=yes&search=ab`)
    expect(mistakesIn(short)).toEqual(['The search needs at least 3 characters.'])
    expect(short.text).not.toContain('Will be erased')
    expect(await invites()).toHaveLength(4)
  })

  it('is corrected by a list with names, which also offers to reactivate', async () => {
    const { admin, give, run, invites } = await setUp()
    await run((await give(list)).location)
    await service.db.invite.updateMany({
      where: { recipientEmail: 'dan@example.com' },
      data: { status: 'revoked', revokedAt: new Date() },
    })
    const { location } = await give(list.replace('First,Last', 'name,Last'))
    const page = await admin.get(location)
    expect(page.text).toContain('Fill in 3 names')
    expect(page.text).toContain('Reactivate 1 invite')
    const id = location.split('/').at(-1)!
    for (const [action, part] of [
      ['name', 'unnamed'],
      ['reactivate', 'closed'],
    ]) {
      const asked = await admin.get(`${admin.home}invites/changes/new?action=${action}&all=yes&list=${id}&part=${part}`)
      expect((await admin.post(`${admin.home}invites/changes`, fieldsIn(asked))).status).toBe(303)
    }
    const now = async () =>
      (await invites())
        .map(({ recipientName, status }) => `${recipientName} ${status}`)
        .sort()
        .join()
    await waitUntil(
      'names and the reactivation',
      async () => (await now()) === 'ann pending,bea pending,cem pending,null pending' || undefined,
    )
  })
})
