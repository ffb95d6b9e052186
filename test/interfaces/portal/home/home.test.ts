import { expect, it } from 'vitest'
import { readOverview } from '../../../../src/domain/invites/overview/read-overview.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

async function start() {
  const { id } = await service.make.organization()
  return {
    id,
    admin: await signInAs(service, id, ['admin']),
    assessment: await service.make.assessment(id, { name: 'Café <b>' }),
  }
}
type Made = Awaited<ReturnType<typeof start>>
const ago = (days: number) => new Date(service.deps.clock().getTime() - days * DAY_MS)
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

async function addMail(
  { id, assessment }: Made,
  data: { recipientEmail: string; days?: number; failure?: 'refused' | 'obsolete' },
) {
  const { recipientEmail, days = 1, failure } = data
  const invite = await service.make.invite(assessment, { recipientEmail })
  const times = { createdAt: ago(days), updatedAt: ago(days) }
  const outcome = failure ? { state: 'failed' as const, failure, reason: '550 no such <user>' } : { state: 'sent' as const }
  const row = { id: service.deps.newId(), organizationId: id, inviteId: invite.id, linkVersion: 1 }
  await service.db.inviteEmail.create({ data: { ...row, ...times, ...outcome } })
}

/** Rows of the table of statuses: label, number, share, and the address of the list if there is one. */
const statesIn = (text: string) =>
  [
    ...text.matchAll(
      /<th scope="row">(?:<span[^>]*>)?(?:<a href="([^"]+)">)?([^<]+)(?:<\/a>)?(?:<\/span>)?<\/th><td[^>]*>(?:<span[^>]*>)?(\d+)(?:<\/span>)?<\/td><td[^>]*>(\d+ %)/g,
    ),
  ].map(([, address, label, count, share]) => ({ address, label, count, share }))

it('shows the number of invites per status, and how far candidates get', async () => {
  const made = await start()
  for (const status of ['pending', 'pending', 'accepted', 'started', 'completed', 'expired', 'revoked', 'revoked'] as const)
    await service.make.invite(made.assessment, { status })
  const { text } = await made.admin.get(made.admin.home)
  const rows = Object.fromEntries(statesIn(text).map(({ label, count, share }) => [label, [count, share]]))
  expect(rows).toEqual({
    Invited: ['8', '100 %'],
    'Accepted or further': ['3', '38 %'],
    'Started or further': ['2', '25 %'],
    Completed: ['1', '13 %'],
    'Not answered yet': ['2', '25 %'],
    Expired: ['1', '13 %'],
    'Revoked or declined': ['2', '25 %'],
  })
})

it('links each number to the list of its invites', async () => {
  const made = await start()
  for (const status of ['pending', 'accepted', 'started', 'completed', 'completed', 'revoked', 'revoked', 'revoked'] as const)
    await service.make.invite(made.assessment, { status })
  for (let i = 0; i < 4; i++) await service.make.invite(made.assessment, { expiresAt: ago(1) })
  const found: [string, string | undefined][] = []
  for (const { address, label } of statesIn((await made.admin.get(made.admin.home)).text))
    if (address) found.push([label!, /<span[^>]*>(\d+) invites?/.exec((await made.admin.get(address)).text)?.[1]])
  expect(found).toEqual([
    ['Invited', '12'],
    ['Completed', '2'],
    ['Not answered yet', '1'],
    ['Expired', '4'],
    ['Revoked or declined', '3'],
  ])
})

it('counts an invite as expired from its expiry on', async () => {
  const made = await start()
  await service.make.invite(made.assessment, { expiresAt: ago(1) })
  expect(statesIn((await made.admin.get(made.admin.home)).text)).toContainEqual(
    expect.objectContaining({ label: 'Expired', count: '1' }),
  )
})

it('counts expired invites while another transaction locks them, as lists do', async () => {
  const made = await start()
  const client = await signInAs(service, made.id, ['client'])
  const of = { organizationId: made.id, assessmentId: made.assessment.id, memberId: client.member.id, position: 0 }
  await service.db.assessmentClient.create({ data: of })
  await service.make.invite(made.assessment)
  const due = await service.make.invite(made.assessment, { status: 'accepted', expiresAt: ago(1) })
  await service.make.invite(made.assessment, { status: 'expired' })
  await service.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM invites WHERE id = ${due.id}::uuid FOR UPDATE`
      const rows = statesIn((await made.admin.get(made.admin.home)).text)
      expect(Object.fromEntries(rows.map(({ label, count }) => [label, count]))).toMatchObject({
        Invited: '3',
        'Accepted or further': '0',
        'Not answered yet': '1',
        Expired: '2',
      })
      const row = /<tbody>\s*<tr>(.*?)<\/tr>/s.exec((await client.get(client.home)).text)![1]!
      expect([...row.matchAll(/<td[^>]*>(?:<span[^>]*>)?(\d+)/g)].map(([, count]) => count)).toEqual([
        '1',
        '0',
        '0',
        '0',
        '2',
        '0',
      ])
    },
    { timeout: PATIENT.timeout },
  )
})

it('shows invitations and completions per day for the last 30 days', async () => {
  const made = await start()
  const add = (data: object) => service.make.invite(made.assessment, data)
  for (const days of [0, 1, 1, 29, 31]) await add({ createdAt: ago(days) })
  await add({ createdAt: ago(40), completedAt: ago(1), status: 'completed' })
  const { text } = await made.admin.get(made.admin.home)
  const shown = (days: number) =>
    new RegExp(`<th scope="row">${day.format(ago(days))}</th><td[^>]*>(\\d+)</td><td[^>]*>(\\d+)</td>`).exec(text)?.slice(1)
  expect([0, 1, 2, 29, 30].map(shown)).toEqual([['1', '0'], ['2', '1'], ['0', '0'], ['1', '0'], undefined])
  expect(text.match(/<rect class="fill-primary(\/30)?" x=/g)).toHaveLength(60)
})

it('lists failed mails, newest first, without canceled ones', async () => {
  const made = await start()
  await addMail(made, { recipientEmail: 'older@example.com', days: 3, failure: 'refused' })
  await addMail(made, { recipientEmail: 'newer@example.com', days: 2, failure: 'refused' })
  await addMail(made, { recipientEmail: 'obsolete@example.com', failure: 'obsolete' })
  await addMail(made, { recipientEmail: 'sent@example.com' })
  await addMail(made, { recipientEmail: 'forgotten@example.com', days: 40, failure: 'refused' })
  const { text } = await made.admin.get(made.admin.home)
  expect(text.match(/>\w+@example\.com</g)).toEqual(['>newer@example.com<', '>older@example.com<'])
  // Pending work is listed in one place, with links.
  const [place] = text.match(/<section[^>]*"attention-heading".*?<\/section>/s)!
  expect(place.match(/>\w+@example\.com</g)).toHaveLength(2)
  expect(place).toContain('newer@example.com, Café &lt;b&gt;, and 1 more')
  expect(text).toContain('550 no such &lt;user&gt;')
  expect(text).toContain('Café &lt;b&gt;')
  for (let i = 0; i < 10; i++) await addMail(made, { recipientEmail: `more${i}@example.com`, failure: 'refused' })
  const more = (await made.admin.get(made.admin.home)).text
  expect([more.match(/<td[^>]*>550 no such/g)?.length, more.includes('There are more.')]).toEqual([10, true])
})

it('lists invites that expire soon, next first', async () => {
  const made = await start()
  const add = (name: string, days: number, data: object = {}) =>
    service.make.invite(made.assessment, { recipientEmail: `${name}@example.com`, expiresAt: ago(-days), ...data })
  await add('second', 2)
  await add('first', 1, { status: 'accepted' })
  await add('later', 4)
  await add('started', 1, { status: 'started' })
  expect((await made.admin.get(made.admin.home)).text.match(/>\w+@example\.com</g)).toEqual([
    '>first@example.com<',
    '>second@example.com<',
  ])
})

it('shows nothing of another organization', async () => {
  const [mine, other] = [await start(), await start()]
  await service.make.invite(mine.assessment, { recipientEmail: 'mine@example.com', expiresAt: ago(-1) })
  await service.make.invite(other.assessment, { recipientEmail: 'other@example.com', expiresAt: ago(-1) })
  await addMail(other, { recipientEmail: 'failed@example.com', failure: 'refused' })
  const { text } = await mine.admin.get(mine.admin.home)
  expect(text.match(/>\w+@example\.com</g)).toEqual(['>mine@example.com<'])
  expect(statesIn(text)).toContainEqual(expect.objectContaining({ label: 'Invited', count: '1' }))
})

it('shows the first steps until somebody is invited', async () => {
  const { id } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  const steps = async () =>
    (await admin.get(admin.home)).text
      .split(/<\/?ol/)[1]!
      .match(/<li>.*<\/li>/g)!
      .map((line) => line.includes('done'))
  expect(await steps()).toEqual([false, true, false])
  const assessment = await service.make.assessment(id)
  expect(await steps()).toEqual([true, true, false])
  await service.make.invite(assessment)
  expect((await admin.get(admin.home)).text).not.toContain('First steps')
})

it('shows graders the number of their assigned invites per status, and nothing else', async () => {
  const made = await start()
  const grader = await signInAs(service, made.id, ['grader'])
  const another = await service.make.member(made.id)
  expect((await grader.get(grader.home)).text).toContain('No invites are assigned to you yet.')
  const mine = { assignedGraderId: grader.member.id }
  for (const status of ['completed', 'completed', 'pending'] as const)
    await service.make.invite(made.assessment, { status, ...mine })
  await service.make.invite(made.assessment, { expiresAt: ago(1), ...mine })
  await service.make.invite(made.assessment, { status: 'started', assignedGraderId: another.id })
  await service.make.invite(made.assessment, { status: 'revoked', recipientEmail: 'sam@example.com' })
  const { text } = await grader.get(grader.home)
  const rows = [...text.matchAll(/<th scope="row"><a href="([^"]+)">(\w+)<\/a><\/th><td[^>]*>(\d+)/g)].map(
    ([, , state, count]) => [state, count],
  )
  expect(rows).toEqual([
    ['Pending', '1'],
    ['Completed', '2'],
    ['Expired', '1'],
  ])
  expect(text).not.toMatch(/sam@example|Your assessments|days-heading/)
  expect((await grader.get(`${grader.home}invites?state=completed`)).text).toContain('2 invites')
})

it('links graders to waiting submissions', async () => {
  const { organization, assign } = await makeSubmitted(service)
  const [admin, grader] = [
    await signInAs(service, organization.id, ['admin']),
    await signInAs(service, organization.id, ['grader']),
  ]
  const waiting = async ({ get, home }: typeof grader) => {
    const { text } = await get(home)
    const waitingCounts = [...text.matchAll(/(\d+) (?:submissions? waits? )?(for you|without a grader|for a grade|to release)/g)]
    const queues = [...text.matchAll(/grading\?queue=(\w+)(?:&amp;languages=all)?"/g)].map(([, whose]) => whose)
    return [...waitingCounts.map(([, count, how]) => `${count} ${how}`), ...queues]
  }
  expect(await waiting(grader)).toEqual(['1 without a grader', 'nobody'])
  await assign(grader.member.id)
  expect(await waiting(grader)).toEqual(['1 for you', 'mine'])
  expect(await waiting(admin)).toEqual(['1 for a grade', 'mine', 'nobody', 'all', 'all'])
  await service.db.submission.updateMany({ where: { organizationId: organization.id }, data: { needsGrading: false } })
  expect([await waiting(grader), await waiting(admin)]).toEqual([
    ['1 to release', 'release'],
    ['1 to release', 'release'],
  ])
  await service.db.submission.updateMany({ where: { organizationId: organization.id }, data: { state: 'released' } })
  expect((await grader.get(grader.home)).text).toContain('Nothing waits to be graded.')
  expect((await admin.get(admin.home)).text).toContain('Nothing needs your attention.')
})

it('compares the last 30 days with the 30 before, and shows the median duration', async () => {
  const made = await start()
  const add = (created: number, completed?: number) =>
    service.make.invite(made.assessment, {
      createdAt: ago(created),
      sentAt: ago(created),
      ...(completed !== undefined && { completedAt: ago(completed), status: 'completed' as const }),
    })
  await add(40, 38)
  await add(41)
  for (const completed of [9, 8, 5]) await add(10, completed)
  const { text } = await made.admin.get(made.admin.home)
  expect(text.replace(/<[^>]+>/g, '')).toContain('+50 % vs. the previous 30 days')
  expect(text).toMatch(/Median time to complete<\/p>\s*<p[^>]*>2\.0 days<\/p>/)
  expect(text).toContain('2.0 days in the previous 30 days')
})

it('shows clients the invites of their assessments per status, and nothing else', async () => {
  const made = await start()
  const client = await signInAs(service, made.id, ['client'])
  expect((await client.get(client.home)).text).toContain('No assessments are shared with you yet.')
  const other = await service.make.assessment(made.id, { name: 'Other' })
  const of = { organizationId: made.id, assessmentId: made.assessment.id, memberId: client.member.id, position: 0 }
  await service.db.assessmentClient.create({ data: of })
  for (const status of ['completed', 'started', 'started'] as const) await service.make.invite(made.assessment, { status })
  await service.make.invite(made.assessment, { expiresAt: ago(1) })
  await service.make.invite(other)
  const { text } = await client.get(client.home)
  const [, row] = /<tbody>\s*<tr>(.*?)<\/tr>\s*<\/tbody>/s.exec(text)!
  expect(
    row!
      .replace(/<\/t[hd]>/g, ' ')
      .replace(/<[^>]+>/g, '')
      .trim(),
  ).toBe('Café &lt;b&gt; 0 0 2 1 1 0')
  expect(text).not.toMatch(/Other|Assigned to you|days-heading/)
})

it('explains to a member without roles how to get access', async () => {
  const made = await start()
  const nobody = await signInAs(service, made.id, ['Recruiter'])
  const { text } = await nobody.get(nobody.home)
  expect(text).toContain('Ask an admin of your organization for one')
  expect(text).toContain(`href="${nobody.home}account"`)
  expect((await nobody.get(`${nobody.home}account`)).status).toBe(200)
  for (const page of ['invites', 'assessments', 'members']) expect((await nobody.get(`${nobody.home}${page}`)).status).toBe(404)
})

it('counts days while invites are completed, moved, and deleted by any writer', async () => {
  const made = await start()
  const add = (data: object = {}) => service.make.invite(made.assessment, data)
  const { id } = await add({ createdAt: ago(2) })
  await add({ createdAt: ago(2), completedAt: ago(1), status: 'completed' })
  const days = async () => {
    const { days } = await readOverview(asOperator(service, { id: made.id, name: '' }))
    return days.slice(-3).map(({ invited, completed }) => [invited, completed])
  }
  expect(await days()).toEqual([[2, 0], [0, 1], [0, 0]]) // biome-ignore format: a row a day
  await service.db.invite.update({ where: { id }, data: { status: 'completed', completedAt: ago(0) } })
  expect(await days()).toEqual([[2, 0], [0, 1], [0, 1]]) // biome-ignore format: a row a day
  await service.db.invite.update({ where: { id }, data: { createdAt: ago(1), completedAt: null } })
  expect(await days()).toEqual([[1, 0], [1, 1], [0, 0]]) // biome-ignore format: a row a day
  await service.db.invite.delete({ where: { id } })
  expect(await days()).toEqual([[1, 0], [0, 1], [0, 0]]) // biome-ignore format: a row a day
  await service.db.organization.delete({ where: { id: made.id } })
  expect(await service.db.organizationDailyInviteCount.count({ where: { organizationId: made.id } })).toBe(0)
})

it('reads only the invites that it counts or shows', async () => {
  const made = await start()
  await service.db.$executeRawUnsafe(`INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit,
      answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, sent_at, expires_at, completed_at,
      created_at, updated_at)
    SELECT gen_random_uuid(), '${made.id}', '${made.assessment.id}', 'c' || i || '@example.com',
      (CASE WHEN i % 3 = 0 THEN 'completed' WHEN i % 3 = 1 THEN 'pending' ELSE 'revoked' END)::invite_status,
      1, 1, true, true, true, true, at, now() + make_interval(days => 10 + i % 300), CASE WHEN i % 3 = 0 THEN at END, at, at
    FROM (SELECT i, now() - make_interval(mins => i * 20) AS at FROM generate_series(1, 20000) AS i) AS made`)
  await service.db.$executeRawUnsafe('VACUUM ANALYZE invites')
  const { queries } = await recordQueries(() => readOverview(asOperator(service, { id: made.id, name: '' })))
  const onInvites = queries.filter(({ text }) => /from "?invites\b|invite_emails/i.test(text))
  expect(onInvites.length).toBeGreaterThan(0)
  for (const { text, values } of onInvites) {
    const literal = text.replace(/\$(\d+)/g, (_all, number) => toLiteral(values[Number(number) - 1]))
    const plan = JSON.stringify(await service.db.$queryRawUnsafe(`EXPLAIN (FORMAT JSON) ${literal}`))
    expect([text, plan]).toEqual([text, expect.not.stringMatching(/"Seq Scan","[^}]*"Relation Name":"(invites|invite_emails)"/)])
  }
})

const toLiteral = (value: unknown): string => {
  if (Array.isArray(value)) return `ARRAY[${value.map(toLiteral).join(', ')}]`
  if (value instanceof Date) return `'${value.toISOString()}'`
  return typeof value === 'number' ? String(value) : `'${String(value)}'`
}
