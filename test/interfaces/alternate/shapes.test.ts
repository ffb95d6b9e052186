import { describe, expect, it } from 'vitest'
import { createdAt, expectExactly, readRow, times, updatedAt } from '../../support/alternate-rows.ts'
import { links } from '../../support/links.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

describe('a tag', () => {
  it('has exactly the documented fields', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const creator = await service.make.member(organizationId)
    const data = {
      name: 'Grün ✓',
      color: '#25a3eB',
      description: 'not shown',
      icon: 'star',
      createdById: creator.id,
      createdAt,
      updatedAt,
    }
    const { id } = await service.make.tag(organizationId, data)
    const { body } = await readRow(service, key, '/tags', id)
    expectExactly(body, {
      id,
      name: 'Grün ✓',
      color: '#25a3eB',
      organization: organizationId,
      created_by: creator.id,
      ...times,
      icon: 'star',
    })
  })

  it('has null for a missing creator and icon', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const { id } = await service.make.tag(organizationId)
    expect((await readRow(service, key, '/tags', id)).body).toMatchObject({ created_by: null, icon: null })
  })
})

describe('an organization user', () => {
  it('has exactly the documented fields', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const data = {
      roles: ['admin', 'grader', 'client'],
      canViewTranscription: true,
      department: 'not shown',
      createdAt,
      updatedAt,
    }
    const member = await service.make.member(organizationId, data)
    const tags = [await service.make.tag(organizationId), await service.make.tag(organizationId)].reverse()
    const languages = [await service.make.language('fr'), await service.make.language('de')]
    await links(service.db).tagMember(member, ...tags)
    await links(service.db).addGradingLanguages(member, ...languages)
    for (let i = 0; i < 3; i++) await links(service.db).addClients(await service.make.assessment(organizationId), member)
    // The count covers only assessments that the user is a client of, not those they grade.
    await service.make.invite(await service.make.assessment(organizationId), { assignedGraderId: member.id })
    const { body } = await readRow(service, key, '/organization_users', member.id)
    expectExactly(body, {
      id: member.id,
      tags: tags.map(({ id }) => id),
      assigned_assessments_count: 3,
      deleted: false,
      ...times,
      roles: ['admin', 'grader', 'client'],
      can_view_transcription: true,
      organization: organizationId,
      user: member.userId,
      grading_languages: languages.map(({ id }) => id),
    })
  })

  it('has empty lists, 0, and false for missing values', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const { id } = await service.make.member(organizationId, { roles: [] })
    const nothing = { tags: [], assigned_assessments_count: 0, roles: [], can_view_transcription: false, grading_languages: [] }
    expect((await readRow(service, key, '/organization_users', id)).body).toMatchObject(nothing)
  })
})

describe('an assessment', () => {
  it('has exactly the documented fields', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const [creator, client, other] = [1, 2, 3].map(() => service.make.member(organizationId))
    const instruction = await service.db.instruction.create({
      data: { id: service.deps.newId(), organizationId, body: 'Speak.' },
    })
    const categories = await service.db.category.createManyAndReturn({
      data: ['One', 'Two'].map((name) => ({ id: service.deps.newId(), organizationId, name })),
    })
    const assessment = await service.make.assessment(organizationId, {
      name: 'Spoken English ✓',
      defaultQuestionFormat: 'audio',
      defaultAnswerFormat: 'mixed',
      audience: 'public',
      timeLimit: 3_725,
      skillTypes: ['speaking', 'listening'],
      instructionId: instruction.id,
      createdById: (await creator!).id,
      createdAt,
      updatedAt,
    })
    for (let i = 0; i < 4; i++) await service.make.question(assessment)
    const tags = [await service.make.tag(organizationId), await service.make.tag(organizationId)].reverse()
    const languages = [await service.make.language('en'), await service.make.language('de')]
    const clients = [await other!, await client!]
    await links(service.db).tagAssessment(assessment, ...tags)
    await links(service.db).addClients(assessment, ...clients)
    await links(service.db).addLanguages(assessment, ...languages)
    await links(service.db).addCategories(assessment, ...categories.reverse())
    const { body } = await readRow(service, key, '/assessments', assessment.id)
    expectExactly(body, {
      id: assessment.id,
      question_count: 4,
      tags: tags.map(({ id }) => id),
      clients: clients.map(({ id }) => id),
      client_count: 2,
      time_limit_minutes: 62,
      time_limit_seconds: 5,
      deleted: false,
      ...times,
      name: 'Spoken English ✓',
      type: 'audio',
      audience: 'public',
      answer_type: 'mixed',
      time_limit: 3_725,
      instruction: instruction.id,
      organization: organizationId,
      created_by: (await creator!).id,
      languages: languages.map(({ id }) => id),
      categories: categories.map(({ id }) => id),
      skill_type: ['speaking', 'listening'],
    })
  })

  it('has null, empty text, empty lists, and zeros for missing values', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const { id } = await service.make.assessment(organizationId)
    expect((await readRow(service, key, '/assessments', id)).body).toMatchObject({
      question_count: 0,
      tags: [],
      clients: [],
      client_count: 0,
      time_limit_minutes: 0,
      time_limit_seconds: 0,
      time_limit: 0,
      instruction: null,
      created_by: '',
      languages: [],
      categories: [],
      skill_type: [],
    })
  })

  it.each([
    [59, 0, 59],
    [60, 1, 0],
    [61, 1, 1],
    [2_147_483_647, 35_791_394, 7],
  ])('splits a time limit of %i seconds into %i minutes and %i seconds', async (timeLimit, minutes, seconds) => {
    const { id: organizationId, key } = await service.make.organization()
    const { id } = await service.make.assessment(organizationId, { timeLimit })
    const { body } = await readRow(service, key, '/assessments', id)
    expect([body.time_limit, body.time_limit_minutes, body.time_limit_seconds]).toEqual([timeLimit, minutes, seconds])
  })
})

it('answers with unescaped JSON in UTF-8', async () => {
  const { id, key } = await service.make.organization()
  const tag = await service.make.tag(id, { name: '日本語 🎓 é/\u2028' })
  for (const path of [`/tags/${tag.id}`, `/tags/${tag.id}?depth=1`, '/tags']) {
    const response = await service.alternate(key).get(path)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.text).toContain('"name":"日本語 🎓 é/\u2028"')
  }
})
