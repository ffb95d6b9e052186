import { expect, it } from 'vitest'
import { fieldsIn, mistakesIn } from '../../support/forms.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const LONG = 'x'.repeat(6_000)

it('saves changes to a row with import-only characters, and rejects such characters in new text', async () => {
  const { make, db } = service
  const { id: organizationId } = await make.organization()
  const admin = await signInAs(service, organizationId, ['admin'])
  const tag = await make.tag(organizationId, { description: LONG })
  const member = await make.member(organizationId, { department: LONG, roles: ['grader'] })
  const instruction = await db.instruction.create({ data: { id: service.deps.newId(), organizationId, title: LONG, body: LONG } })
  const assessment = await make.assessment(organizationId, { instructionId: instruction.id, skillTypes: [LONG] })
  const question = await make.question(assessment, { script: LONG, audioUrl: LONG })
  const questionPath = `assessments/${assessment.id}/questions/${question.id}`
  const forms: [page: string, change: Record<string, string>, added: Record<string, string>][] = [
    [`tags/${tag.id}`, { name: 'Other' }, { description: `${LONG}y` }],
    [`members/${member.id}`, { roles: 'client' }, { department: `${LONG}y` }],
    [
      `assessments/${assessment.id}/edit`,
      { name: 'Other' },
      { instruction: `${LONG}y`, instructionTitle: `${LONG}y`, skillTypes: `${LONG}y` },
    ],
    [questionPath, { points: '7' }, { script: `${LONG}y`, audioUrl: `${LONG}y` }],
  ]
  for (const [page, change, added] of forms) {
    const shown = async () => fieldsIn(await admin.get(admin.home + page))
    const saved = await admin.post(admin.home + page, { ...(await shown()), ...change })
    expect([page, saved.status, mistakesIn(saved)]).toEqual([page, 303, []])
    const refused = await admin.post(admin.home + page, { ...(await shown()), ...change, ...added })
    expect([page, refused.status, mistakesIn(refused)]).toEqual([
      page,
      422,
      Object.keys(added).map(() => expect.stringMatching(/has more than/)),
    ])
  }
  expect((await db.question.findUniqueOrThrow({ where: { id: question.id } })).points).toBe(7)
  expect((await db.member.findUniqueOrThrow({ where: { id: member.id } })).roles).toEqual(['client'])
})
