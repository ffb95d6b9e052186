import { expect, it } from 'vitest'
import { mistakesIn } from '../../../support/forms.ts'
import { makeSubmitted, submitAnother } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const { db } = service

/** Creates an admin, and more assessments and tags than a list shows. The last ones come last by name. */
async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  await db.$executeRaw`
    INSERT INTO assessments (id, organization_id, name, name_key, name_search, skill_types, created_at, updated_at)
    SELECT gen_random_uuid(), ${organization.id}::uuid, 'Interview ' || lpad(n::text, 4, '0'), 'interview ' || lpad(n::text, 4, '0'), 'interview ' || lpad(n::text, 4, '0'), '{}', now(), now() FROM generate_series(1, 1100) n`
  await db.$executeRaw`
    INSERT INTO tags (id, organization_id, name, name_key, name_search, color, created_at, updated_at)
    SELECT gen_random_uuid(), ${organization.id}::uuid, 'Group ' || lpad(n::text, 4, '0'), 'group ' || lpad(n::text, 4, '0'), 'group ' || lpad(n::text, 4, '0'), '#000000', now(), now() FROM generate_series(1, 1100) n`
  const assessment = await service.make.assessment(organization.id, { name: 'Zulu 100%_x' })
  const tag = await service.make.tag(organization.id, { name: 'zebra zulu' })
  const invite = await service.make.invite(assessment)
  const member = await service.make.member(organization.id, { roles: ['grader'] })
  const get = async (path: string) => (await admin.get(admin.home + path)).text
  return { organization, admin, assessment, tag, invite, member, get }
}

it('finds every assessment and tag beyond the listed ones by a part of its name', async () => {
  const { assessment, tag, invite, member, get } = await setUp()
  const pages: [path: string, ids: string[]][] = [
    ['invites', [assessment.id, tag.id]],
    ['invites/new', [assessment.id, tag.id]],
    ['invites/batches', [assessment.id, tag.id]],
    ['results', [assessment.id]],
    [`invites/${invite.id}`, [tag.id]],
    [`members/${member.id}`, [tag.id]],
  ]
  for (const [path, ids] of pages) {
    const whole = await get(path)
    expect([path, whole.includes('name="named"'), ids.some((id) => whole.includes(`value="${id}"`))]).toEqual([path, true, false])
    const narrowed = await get(`${path}?named=ZULU`)
    expect([path, ids.filter((id) => !narrowed.includes(`value="${id}"`)), narrowed.includes('Interview 0001')]).toEqual([
      path,
      [],
      false,
    ])
    expect(narrowed).toContain('name="named" type="search" value="ZULU"')
  }
  expect(await get('invites/new?named=100%25_')).toContain(assessment.id)
  expect(await get('invites/new?named=_00')).not.toContain(assessment.id)
  expect(await get(`invites/new?named=${'%00'.repeat(3)}${encodeURIComponent('🙂'.repeat(300))}`)).toContain('Invite a candidate')
})

it('keeps selected names with any filter', async () => {
  const { admin, assessment, tag, get } = await setUp()
  expect(await get(`invites?assessment=${assessment.id}&tag=${tag.id}&named=Interview`)).toContain(`value="${tag.id}" selected`)
  expect(await get(`results?assessment=${assessment.id}`)).toContain(`value="${assessment.id}" selected`)
  const typed = { assessmentId: assessment.id, tagIds: tag.id, recipientEmail: 'nobody' }
  const refused = await admin.post(`${admin.home}invites`, typed)
  expect([refused.status, mistakesIn(refused).length > 0]).toEqual([422, true])
  expect(refused.text).toContain(`value="${assessment.id}" selected`)
  expect(refused.text).toContain(`value="${tag.id}" checked`)
})

it("keeps a member's selections, and accepts any text as a filter", async () => {
  const { admin, tag, member, get } = await setUp()
  const refused = await admin.post(`${admin.home}members/${member.id}`, {
    roles: 'grader',
    department: 'x'.repeat(1_000),
    tags: tag.id,
  })
  expect([refused.status, refused.text.includes(`value="${tag.id}" checked`)]).toEqual([422, true])
  const words = Array.from({ length: 30 }, (_, i) => i).join('+')
  expect(await get(`members/${member.id}?named=${words}`)).toContain('name="named"')
})

it('shows no filter if all names are listed', async () => {
  const { organization, assessment, invite, submissionId } = await makeSubmitted(service)
  await submitAnother(service, assessment, { answers: 2 })
  const admin = await signInAs(service, organization.id, ['admin'])
  for (const path of [
    'invites',
    'invites/new',
    'invites/batches',
    'results',
    'grading',
    `grading/${submissionId}`,
    `invites/${invite.id}`,
  ])
    expect((await admin.get(admin.home + path)).text).not.toContain('name="named"')
  const queue = async (named: string) =>
    (await admin.get(`${admin.home}grading?named=${named}`)).text.includes(`value="${assessment.id}"`)
  expect([await queue(encodeURIComponent(assessment.name.slice(1, 5))), await queue('none+such')]).toEqual([true, false])
})
