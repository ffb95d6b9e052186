import type { MEMBER_FIELDS } from '../../../src/domain/members/member-fields.ts'
import { assignAnswers } from '../../../src/domain/submissions/grading/assign-answers.ts'
import { readSlices } from '../../media/recordings.ts'
import { DAY_MS } from '../factories.ts'
import { makeSpoken, makeSubmitted } from '../grading.ts'
import { links } from '../links.ts'
import { once } from '../once.ts'
import { signInAs } from '../portal.ts'
import { type Effects, effect, IDENTITY, testedIn, UNWRITTEN, type World } from './effect.ts'

export type AccountField = 'firstName' | 'lastName' | 'avatarUrl'
export function memberEffects({
  service,
  organization,
  v1,
  alternate,
  page,
  admin,
}: World): Effects<keyof typeof MEMBER_FIELDS | AccountField | 'gradingLanguages' | 'tagIds'> {
  const { make, db, clock } = service
  const join = links(db)
  type Data = Parameters<typeof make.member>[1]
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  const isListed = async (query: string, data: Data) => {
    const { id } = await make.member(organization.id, data)
    return (await page(`members?${query}`)).includes(id)
  }
  const isFound = async (query: string, data: Data) => {
    const { id } = await make.member(organization.id, data)
    const { body } = await alternate.get(`/organization_users?page_size=1000&${query}`)
    return body.results.some((one: { id: string }) => one.id === id)
  }
  /** True if a member with this time is listed before a member from five days ago. */
  const isEarlier = async (
    ids: (first: string, other: string) => Promise<string[]>,
    field: 'joinedAt' | 'createdAt',
    value: Date,
  ) => {
    const first = await make.member(organization.id, { [field]: at(-5) })
    const other = await make.member(organization.id, { [field]: value })
    const listed = await ids(first.id, other.id)
    return listed.indexOf(other.id) < listed.indexOf(first.id)
  }
  const transcribed = once(async () => {
    const { organization, submissionId } = await makeSpoken(service, await readSlices('audio'), 1)
    const { id: mediaId } = await db.mediaFile.findFirstOrThrow({ where: { submissionId } })
    const words = { state: 'ready', language: 'en', text: 'Zanzibar', segments: [[0, 1_000, 'Zanzibar', 0]] }
    await db.transcript.create({ data: { mediaId, organizationId: organization.id, createdAt: clock.now(), ...words } })
    return { submissionId, grader: await signInAs(service, organization.id, ['grader']) }
  })
  const idsIn = (rows: { id: string }[]) => rows.map(({ id }) => id)

  return {
    id: IDENTITY,
    organizationId: IDENTITY,
    userId: IDENTITY,
    firstName: effect((firstName: string) => isFound('first_name=zoe', { firstName }), ['Zoe', true], ['Ann', false]),
    lastName: effect((lastName: string) => isFound('search=quartz', { lastName }), ['Quartz', true], ['Stone', false]),
    avatarUrl: effect(
      async (avatarUrl: string) => {
        const { id } = await make.member(organization.id, { avatarUrl })
        return /<a href="https:\/\/media\.example\.com\/maya\.png"[^>]*noreferrer/.test(await page(`members/${id}`))
      },
      ['https://media.example.com/maya.png', true],
      ['javascript:alert(1)', false],
    ),
    email: effect(
      (email: string) => isListed('search=zora', { email }),
      ['zora@example.com', true],
      ['ann.b@example.com', false],
    ),
    roles: effect(
      async (roles: string[]) => {
        const member = await signInAs(service, organization.id, roles)
        return (await member.get(`${member.home}members`)).status
      },
      [['admin'], 200],
      [['grader'], 404],
    ),
    portalRoles: effect(
      async (portalRoles: string[]) => {
        const member = await signInAs(service, organization.id, ['grader'], portalRoles)
        return (await member.get(`${member.home}assessments/new`)).status
      },
      [['author'], 200],
      [[], 404],
    ),
    status: effect(
      async (status: 'active' | 'inactive') => {
        const { id } = await make.member(organization.id, { status })
        return (await alternate.get('/organization_users?page_size=1000')).text.includes(id)
      },
      ['active', true],
      ['inactive', false],
    ),
    department: effect((department: string) => isListed('department=Sales', { department }), ['Sales', true], ['Talent', false]),
    canViewTranscription: effect(
      async (canViewTranscription: boolean) => {
        const { grader, submissionId } = await transcribed()
        await db.member.update({ where: { id: grader.member.id }, data: { canViewTranscription } })
        return (await grader.get(`${grader.home}grading/${submissionId}`)).text.includes('Zanzibar')
      },
      [true, true],
      [false, false],
    ),
    gradingLanguages: effect(
      async (code: string) => {
        const language = await make.language(code)
        await make.language('eu')
        const made = await makeSubmitted(service, { questions: [{ points: 5, targetLanguage: 'eu' }, {}] })
        await db.assessment.update({ where: { id: made.assessment.id }, data: { assignsGraders: true } })
        const { member } = await made.join()
        await join.addGradingLanguages(member, language)
        await assignAnswers({ ...service.system })
        return db.gradingAssignment.count({ where: { submissionId: made.submissionId, graderId: member.id } })
      },
      ['eu', 1],
      ['en', 0],
    ),
    tagIds: effect(
      async (isTagged: boolean) => {
        const [tag, member] = [await make.tag(organization.id), await make.member(organization.id)]
        if (isTagged) await join.tagMember(member, tag)
        return (await alternate.get(`/organization_users?tags=${tag.id}`)).body.count
      },
      [true, 1],
      [false, 0],
    ),
    joinedAt: effect(
      (joinedAt: Date) =>
        isEarlier(
          async () => idsIn((await v1.get('/members?sort=joined_at&order=asc&limit=100')).body.members),
          'joinedAt',
          joinedAt,
        ),
      [at(-6), true],
      [at(-4), false],
    ),
    createdAt: effect(
      (createdAt: Date) =>
        isEarlier(
          async () => idsIn((await alternate.get('/organization_users?page_size=1000')).body.results),
          'createdAt',
          createdAt,
        ),
      [at(-6), true],
      [at(-4), false],
    ),
    updatedAt: effect(
      async (updatedAt: Date) => {
        const { id } = await make.member(organization.id, { updatedAt })
        const fields = { roles: ['grader'], department: 'Sales', seen: at(-2).toISOString() }
        return (await admin.post(`${admin.home}members/${id}`, fields)).status
      },
      [at(-2), 303],
      [at(-1), 422],
    ),
    credentialId: UNWRITTEN,
    activeSince: UNWRITTEN,
    invitedById: UNWRITTEN,
    erasedAt: UNWRITTEN,
    signInException: testedIn('test/interfaces/portal/sign-in/enforcement.test.ts', 'signInException'),
    timeZone: testedIn('test/mail/digests.test.ts', 'timeZone'),
    pageSize: testedIn('test/interfaces/portal/kit/lists.test.ts', 'pageSize'),
    notices: testedIn('test/mail/digests.test.ts', 'notices'),
  }
}
