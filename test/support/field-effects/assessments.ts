import type { ASSESSMENT_FIELDS } from '../../../src/domain/assessments/assessment-fields.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { candidateOf, NO_REQUIREMENTS } from '../candidate.ts'
import { DAY_MS } from '../factories.ts'
import { links } from '../links.ts'
import { signInAs } from '../portal.ts'
import { type Effects, effect, findIn, IDENTITY, testedIn, textIn, UNWRITTEN, type World } from './effect.ts'

type Data = Partial<Prisma.AssessmentUncheckedCreateInput>
const PORTAL = 'test/interfaces/portal'

export function assessmentEffects({
  service,
  organization,
  v1,
  alternate,
  page,
  admin,
}: World): Effects<keyof typeof ASSESSMENT_FIELDS | 'languages' | 'categoryIds' | 'clientIds' | 'tagIds' | 'sections' | 'pools'> {
  const { make, db, clock, deps } = service
  const join = links(db)
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  const isListed = async (query: string, data: Data) => {
    const { id } = await make.assessment(organization.id, data)
    return (await page(`assessments?${query}`)).includes(id)
  }
  const landing = async (data: Data) => {
    const of = await make.assessment(organization.id, data)
    await make.question(of)
    return (await candidateOf(service, await make.invite(of, { ...NO_REQUIREMENTS, status: 'accepted' })).open()).text
  }
  const order = async (field: 'createdAt' | 'updatedAt', value: Date, sort: string) => {
    const first = await make.assessment(organization.id, { [field]: at(-5) })
    const other = await make.assessment(organization.id, { [field]: value })
    const { body } = await v1.get(`/assessments?sort=${sort}&order=asc&limit=100`)
    const ids = body.assessments.map(({ id }: { id: string }) => id)
    return ids.indexOf(other.id) < ids.indexOf(first.id)
  }
  /** Observes a field that is the default for invites from the portal. */
  const isRequired = (field: keyof typeof NO_REQUIREMENTS) =>
    effect(
      async (value: boolean) => {
        const { id } = await make.assessment(organization.id, { [field]: value })
        const fields = { assessmentId: id, recipientEmail: `${id}@example.com`, proctoring: 'assessment', expiresInDays: '9' }
        await admin.post(`${admin.home}invites`, { ...fields, once: deps.newId() })
        return (await db.invite.findFirstOrThrow({ where: { assessmentId: id } }))[field]
      },
      [true, true],
      [false, false],
    )
  const newQuestion = async (data: Data) => page(`assessments/${(await make.assessment(organization.id, data)).id}/questions/new`)

  return {
    id: IDENTITY,
    organizationId: IDENTITY,
    name: effect((name: string) => isListed('search=basque', { name }), ['Spoken Basque', true], ['Spoken Welsh', false]),
    nameKey: UNWRITTEN,
    nameSearch: UNWRITTEN,
    undrawnPoints: UNWRITTEN,
    defaultQuestionFormat: effect(
      async (defaultQuestionFormat: 'text' | 'audio') =>
        findIn(await newQuestion({ defaultQuestionFormat }), /name="inputType"[\s\S]*?<option value="(\w+)" selected/),
      ['text', 'text'],
      ['audio', 'audio'],
    ),
    defaultAnswerFormat: effect(
      async (defaultAnswerFormat: 'text' | 'audio') =>
        findIn(textIn(await newQuestion({ defaultAnswerFormat })), /Question 1 (Text|Audio) /),
      ['text', 'Text'],
      ['audio', 'Audio'],
    ),
    audience: effect(
      async (audience: 'invite_only' | 'public') => (await newOpenLink(audience)).includes('Open link'),
      ['invite_only', false],
      ['public', true],
    ),
    timeLimit: effect(
      async (timeLimit: number) => findIn(textIn(await landing({ timeLimit })), /(No time limit|\d+ minutes)/),
      [0, 'No time limit'],
      [1_800, '30 minutes'],
    ),
    skillTypes: effect(
      (skillTypes: string[]) => isListed('skill=listening', { skillTypes }),
      [['listening', 'speaking'], true],
      [['speaking'], false],
    ),
    categoryIds: effect(
      async (name: string) => {
        const where = { organizationId_name: { organizationId: organization.id, name } }
        const data = { id: deps.newId(), organizationId: organization.id, name }
        const category = await db.category.upsert({ where, update: {}, create: data })
        const of = await make.assessment(organization.id)
        await join.addCategories(of, category)
        return (await page('assessments?category=Engineering')).includes(of.id)
      },
      ['Engineering', true],
      ['Sales', false],
    ),
    instructionId: effect(
      async (body: string) => {
        const { id } = await db.instruction.create({
          data: { id: deps.newId(), organizationId: organization.id, title: '', body },
        })
        return (await landing({ instructionId: id })).includes('Find a quiet room.')
      },
      ['Find a quiet room.', true],
      ['Take your time.', false],
    ),
    sections: testedIn('test/import/definitions.test.ts', 'loads sections and pools'),
    pools: testedIn('test/import/definitions.test.ts', 'loads sections and pools'),
    languages: effect(
      async (code: string) => {
        const of = await make.assessment(organization.id)
        await join.addLanguages(of, await make.language(code))
        const { text } = await candidateOf(service, await make.invite(of)).open()
        return text.includes('lang="es" form=')
      },
      ['es', true],
      ['de', false],
    ),
    clientIds: effect(
      async (isShared: boolean) => {
        const client = await signInAs(service, organization.id, ['client'])
        const of = await make.assessment(organization.id)
        const { id } = await make.invite(of)
        if (isShared) await join.addClients(of, client.member)
        return (await client.get(`${client.home}invites`)).text.includes(id)
      },
      [true, true],
      [false, false],
    ),
    tagIds: effect(
      async (isTagged: boolean) => {
        const [tag, of] = [await make.tag(organization.id), await make.assessment(organization.id)]
        if (isTagged) await join.tagAssessment(of, tag)
        return (await alternate.get(`/assessments?tags=${tag.id}`)).body.count
      },
      [true, 1],
      [false, 0],
    ),
    createdById: effect(
      async (isTheirs: boolean) => {
        const { id } = await make.member(organization.id)
        await make.assessment(organization.id, { createdById: isTheirs ? id : admin.member.id })
        return (await alternate.get(`/assessments?created_by=${id}`)).body.count
      },
      [true, 1],
      [false, 0],
    ),
    questionCount: UNWRITTEN,
    totalPoints: UNWRITTEN,
    secondGrader: testedIn(`${PORTAL}/grading/grading.test.ts`, 'secondGrader'),
    thirdGrader: testedIn('test/domain/submissions/grading/third-grader.test.ts', 'thirdGrader'),
    assignsGraders: testedIn(`${PORTAL}/grading/assigned-answers.test.ts`, 'assignsGraders'),
    blindGrading: testedIn(`${PORTAL}/grading/blind-grading.slow.test.ts`, 'blindGrading'),
    screenRecording: isRequired('screenRecording'),
    webcamMonitoring: isRequired('webcamMonitoring'),
    requireIdCapture: isRequired('requireIdCapture'),
    facePhotoRequired: isRequired('facePhotoRequired'),
    penaltyPercent: testedIn(`${PORTAL}/assessments/scoring.test.ts`, 'penaltyPercent'),
    practice: testedIn('test/interfaces/candidate/practice.test.ts', 'practice'),
    interfaceLanguage: testedIn('test/interfaces/candidate/language.test.ts', 'interfaceLanguage'),
    submittedMail: testedIn('test/mail/notices.test.ts', 'submittedMail'),
    releasedMail: testedIn(`${PORTAL}/reminders.test.ts`, 'releasedMail'),
    autoReleaseById: testedIn(`${PORTAL}/assessments/scoring.test.ts`, 'releaseAutomatically'),
    autoReleaseToCandidate: testedIn(`${PORTAL}/assessments/scoring.test.ts`, 'releaseToCandidate'),
    bands: testedIn(`${PORTAL}/assessments/bands.test.ts`, 'bands'),
    clientSees: testedIn('test/interfaces/shared/shared.test.ts', 'shows'),
    archivedAt: effect((archivedAt: Date | null) => isListed('search=', { archivedAt }), [null, true], [at(0), false]),
    isTemplate: testedIn(`${PORTAL}/assessments/templates.test.ts`, 'isTemplate'),
    createdAt: effect((value: Date) => order('createdAt', value, 'created_at'), [at(-6), true], [at(-4), false]),
    updatedAt: effect((value: Date) => order('updatedAt', value, 'updated_at'), [at(-6), true], [at(-4), false]),
  }

  async function newOpenLink(audience: 'invite_only' | 'public'): Promise<string> {
    const { id } = await make.assessment(organization.id, { audience })
    return findIn(await page(`assessments/${id}`), /(<h2[^>]*>Open link<)/) ?? ''
  }
}
