import { beforeAll, describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { unknownId } from '../../support/factories.ts'
import { readInterface } from '../../support/operations.ts'
import { createSampleOrganization, fillPath, type SampleOrganization } from '../../support/sample-organization.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

/** Creates an organization with one row of each kind, and keys with and without the right to manage. */
async function openManaged(words: string) {
  const own = await createSampleOrganization(service, words)
  const organizationId = own.id
  const makeKey = async (mode: 'live' | 'test', rights: 'manage'[]) => {
    const { key, apiKey } = await createApiKey(service.system, { organizationId, name: service.make.unique('key'), mode })
    await changeApiKey(service.system, apiKey.id, { rights })
    return { key, id: apiKey.id }
  }
  const manager = await makeKey('live', ['manage'])
  const v1 = service.v1(manager.key)
  const audit = async () => {
    const entries = await service.db.auditEntry.findMany({
      where: { organizationId, actorId: manager.id },
      orderBy: { id: 'asc' },
    })
    return entries.map(({ action, actorKind }) => `${actorKind} ${action}`)
  }
  return { own, organizationId, manager, makeKey, v1, audit }
}
type Managed = Awaited<ReturnType<typeof openManaged>>
let here: Managed
let other: SampleOrganization
beforeAll(async () => {
  here = await openManaged('Managed')
  other = await createSampleOrganization(service, 'Other')
})

const codeOf = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-error-code']]
const aDefinition = {
  responseType: 'number',
  spec: {},
  key: { answers: [{ value: '42', share: 100 }] },
}
const aQuestion = { script: 'What would you do first?', points: 10 }

describe('a key without permission to manage', () => {
  /** Every write operation with a valid body. */
  const writes: [method: 'get' | 'post' | 'patch' | 'put' | 'delete', path: (of: SampleOrganization) => string, body: object][] =
    [
      ['post', () => '/assessments', { name: 'New' }],
      ['patch', ({ assessment }) => `/assessments/${assessment.id}`, { name: 'Other' }],
      ['post', ({ assessment }) => `/assessments/${assessment.id}/duplicate`, {}],
      ['delete', ({ assessment }) => `/assessments/${assessment.id}`, {}],
      ['post', ({ assessment }) => `/assessments/${assessment.id}/questions`, aQuestion],
      ['patch', ({ assessment, question }) => `/assessments/${assessment.id}/questions/${question.id}`, { points: 3 }],
      ['post', ({ assessment, question }) => `/assessments/${assessment.id}/questions/${question.id}/move`, { place: 1 }],
      ['put', ({ assessment, question }) => `/assessments/${assessment.id}/questions/${question.id}/definition`, aDefinition],
      ['delete', ({ assessment, question }) => `/assessments/${assessment.id}/questions/${question.id}`, {}],
      ['post', () => '/question-imports', { file: 'V2hvP3s9QW5ufQ==' }],
      ['get', ({ questionImport }) => `/question-imports/${questionImport.id}`, {}],
      ['get', ({ questionImport }) => `/question-imports/${questionImport.id}/rows`, {}],
      ['post', () => '/members', { email: 'new@example.com', roles: ['grader'] }],
      ['patch', ({ member }) => `/members/${member.id}`, { department: 'Other' }],
    ]
  const rowsOf = async (organizationId: string) => {
    const { assessment, question, member, memberEmail, auditEntry, user } = service.db
    const where = { organizationId }
    const orderBy = { id: 'asc' as const }
    return [
      await assessment.findMany({ where, orderBy }),
      await question.findMany({ where, orderBy }),
      await member.findMany({ where, orderBy }),
      await memberEmail.findMany({ where, orderBy }),
      await user.count({ where: { memberships: { some: where } } }),
      await auditEntry.count({ where: { ...where, action: { notIn: ['generated_key', 'changed_key', 'refused'] } } }),
    ]
  }

  it('is rejected by its mode and permission for every operation, and changes nothing', async () => {
    const { own, makeKey } = here
    const without = await makeKey('live', [])
    const test = await makeKey('test', [])
    const testManager = await makeKey('test', ['manage'])
    const before = await rowsOf(own.id)
    for (const [method, path, body] of writes)
      for (const [key, code] of [
        [without, 'manage_required'],
        [test, 'live_key_required'],
        [testManager, 'live_key_required'],
      ] as const)
        for (const sent of [body, { name: 1, roles: 'x' }])
          for (const target of [path(own), path(other)])
            expect([method, target, codeOf(await service.v1(key.key)[method](target).send(sent))]).toEqual([
              method,
              target,
              [403, code],
            ])
    expect(await rowsOf(own.id)).toEqual(before)
  })

  it('finds nothing of another organization by its ids', async () => {
    const before = [await rowsOf(other.id), await rowsOf(here.own.id)]
    for (const [method, path, body] of writes.filter(([, path]) => path(other) !== path(here.own))) {
      const foreign = await here.v1[method](path(other)).send(body)
      const unknown = await here.v1[method](path(other).replaceAll(/[0-9a-f-]{36}/g, unknownId)).send(body)
      expect([path(other), foreign.status, foreign.body, codeOf(foreign)]).toEqual([
        path(other),
        404,
        unknown.body,
        codeOf(unknown),
      ])
    }
    // Another organization's question below an own assessment.
    const mixed = `/assessments/${here.own.assessment.id}/questions/${other.question.id}`
    expect(codeOf(await here.v1.patch(mixed).send({ points: 3 }))).toEqual([404, 'question_not_found'])
    const references = { clients: [other.member.email], tags: [other.tag.name] }
    for (const [field, value] of Object.entries(references))
      expect(codeOf(await here.v1.post('/assessments').send({ name: 'New', [field]: value }))).toEqual([400, 'invalid'])
    expect([await rowsOf(other.id), await rowsOf(here.own.id)]).toEqual(before)
  })

  it('is tested with exactly the operations that the document marks', async () => {
    const operations = await readInterface(service, 'v1')
    const marked = operations.filter(({ needsManage }) => needsManage).map(({ method, path }) => `${method} ${path}`)
    const tried = writes.map(([method, path]) => `${method} ${path(here.own)}`)
    // Test keys may grade and change their open link: other tests cover these operations.
    const filled = operations
      .filter(({ method, path }) => marked.includes(`${method} ${path}`) && !/\/(submission|open-link)/.test(path))
      .map(({ method, path }) => `${method} ${fillPath(path, here.own).replace('/api/v1', '')}`)
    expect(filled.sort()).toEqual(tried.sort())
  })
})

describe('the assessment operations', () => {
  it('create, change, copy, and delete an assessment, with the key as actor in the audit log', async () => {
    const { v1, audit, own } = await openManaged('Asked')
    const settings = {
      timeLimit: 1800,
      languages: ['en'],
      tags: [own.tag.name],
      clients: [own.member.email],
      categories: ['New'],
    }
    const made = await v1
      .post('/assessments')
      .set('Idempotency-Key', 'once')
      .send({ name: 'Support', ...settings })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      assessment: { name: 'Support', questionCount: 0, totalPoints: 0 },
      settings: { name: 'Support', defaultQuestionFormat: 'text', audience: 'invite_only', instruction: '', ...settings },
    })
    const again = await v1
      .post('/assessments')
      .set('Idempotency-Key', 'once')
      .send({ name: 'Support', ...settings })
    expect(again.body).toEqual(made.body)
    const path = `/assessments/${made.body.assessment.id}`
    expect(made.headers.location).toMatch(new RegExp(`/api/v1${path}$`))
    const changed = await v1.patch(path).send({ blindGrading: true, languages: [], instruction: 'Take your time.' })
    const expected = { ...made.body.settings, blindGrading: true, languages: [], instruction: 'Take your time.' }
    expect(changed.body.settings).toEqual({ ...expected, updatedAt: expect.any(String) })
    expect((await v1.get(`${path}/settings`)).body).toEqual(changed.body)
    await v1.post(`${path}/questions`).send(aQuestion)
    const copy = await v1.post(`${path}/duplicate`)
    expect(copy.body.assessment).toMatchObject({ name: 'Copy of Support', questionCount: 1, totalPoints: 10 })
    const deleted = await v1.delete(path)
    expect([deleted.status, deleted.body.assessment.name]).toEqual([200, 'Support'])
    expect((await v1.get(path)).status).toBe(404)
    const acts = ['created_assessment', 'updated_assessment', 'added_question', 'duplicated_assessment', 'deleted_assessment']
    expect(await audit()).toEqual(acts.map((action) => `apiKey ${action}`))
  })

  it('keep concurrent changes of other clients', async () => {
    const { v1, own } = here
    const path = `/assessments/${own.assessment.id}`
    const read = (await v1.get(`${path}/settings`)).body.settings
    expect((await v1.patch(path).send({ timeLimit: 60 })).status).toBe(200)
    const late = await v1.patch(path).send({ timeLimit: 90, updatedAt: read.updatedAt })
    expect([...codeOf(late), late.body.error]).toEqual([409, 'changed_meanwhile', 'timeLimit has been changed meanwhile'])
    const now = (await v1.get(`${path}/settings`)).body.settings
    expect(now.timeLimit).toBe(60)
    expect((await v1.patch(path).send({ timeLimit: 90, updatedAt: now.updatedAt })).status).toBe(200)
    const [one, two] = await Promise.all([v1.patch(path).send({ timeLimit: 30 }), v1.patch(path).send({ audience: 'public' })])
    expect([one.status, two.status]).toEqual([200, 200])
    expect((await v1.get(`${path}/settings`)).body.settings).toMatchObject({ timeLimit: 30, audience: 'public' })
  })

  it('reject the deletion of an assessment with invites', async () => {
    const { v1, own } = here
    const refused = await v1.delete(`/assessments/${own.assessment.id}`)
    expect([...codeOf(refused), refused.body.error]).toEqual([409, 'state_conflict', 'The assessment has invites'])
  })

  it.each([
    [{}, 'name is required'],
    [{ name: ' ' }, 'name must not be blank, nor contain NUL characters or unpaired surrogates'],
    [{ name: 'New', timeLimit: -1 }, 'timeLimit must be an integer between 0 and 2147483647'],
    [{ name: 'New', languages: ['xx-not'] }, 'languages must be codes of languages (BCP 47)'],
    [{ name: 'New', audience: 'all' }, 'audience must be one of invite_only, public'],
  ])('report the mistake in %j', async (body, error) => {
    const answer = await here.v1.post('/assessments').send(body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })
})

describe('the question operations', () => {
  it('add, read, change, move, and delete questions', async () => {
    const { v1 } = here
    const path = `/assessments/${(await v1.post('/assessments').send({ name: 'Asked' })).body.assessment.id}/questions`
    const add = async (script: string) => (await v1.post(path).send({ ...aQuestion, script })).body.question
    const [first, second, third] = [await add('One?'), await add('Two?'), await add('Three?')]
    expect([first.order, second.order, third.order]).toEqual([1, 2, 3])
    expect((await v1.get(`${path}/${first.id}`)).body.question).toEqual(first)
    const changed = await v1.patch(`${path}/${first.id}`).send({ points: 4, sourceLanguage: 'en' })
    expect(changed.body.question).toMatchObject({ ...first, points: 4, sourceLanguage: 'en', updatedAt: expect.any(String) })
    const late = await v1.patch(`${path}/${first.id}`).send({ points: 5, updatedAt: first.updatedAt })
    expect(codeOf(late)).toEqual([409, 'changed_meanwhile'])
    expect((await v1.post(`${path}/${third.id}/move`).send({ place: 1, order: 3 })).body.question.order).toBe(1)
    expect(codeOf(await v1.post(`${path}/${third.id}/move`).send({ place: 2, order: 3 }))).toEqual([409, 'changed_meanwhile'])
    expect((await v1.post(`${path}/${third.id}/move`).send({ place: 99 })).body.question.order).toBe(3)
    expect((await v1.delete(`${path}/${second.id}`)).body.question.script).toBe('Two?')
    const left = (await v1.get(`${path}?sort=order&order=asc`)).body.questions
    expect(left.map(({ script }: { script: string }) => script)).toEqual(['One?', 'Three?'])
  })

  it.each([
    [{}, 'The question needs a script, an audioUrl or a videoUrl'],
    [{ inputType: 'audio', script: 'Hear.' }, 'audioUrl is required'],
    [{ videoUrl: 'http://example.com/v' }, 'videoUrl must begin with https://'],
    [
      { script: 'Which?', responseType: 'single_choice' },
      expect.stringMatching(/^responseType single_choice needs a definition\. .* PUT …\/questions\/\{questionId\}/),
    ],
  ])('report the mistake in %j', async (body, error) => {
    const answer = await here.v1.post(`/assessments/${here.own.assessment.id}/questions`).send(body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  it('keep a definition if a change names a type that needs another, and report what is missing', async () => {
    const { v1, own } = here
    const path = `/assessments/${own.assessment.id}/questions`
    const { id } = (await v1.post(path).send(aQuestion)).body.question
    await v1.put(`${path}/${id}/definition`).send(aDefinition)
    const defined = (await v1.get(`${path}/${id}/definition`)).body
    const [other] = ['number', 'short_text', 'single_choice'].filter((kind) => kind !== aDefinition.responseType)
    const refused = await v1.patch(`${path}/${id}`).send({ responseType: other })
    const missing = `responseType ${other} needs a definition. Send responseType, spec and key by PUT …/questions/{questionId}/definition`
    expect([refused.status, refused.body.error]).toEqual([400, missing])
    expect((await v1.patch(`${path}/${id}`).send({ responseType: aDefinition.responseType, points: 3 })).status).toBe(200)
    expect((await v1.get(`${path}/${id}/definition`)).body).toEqual(defined)
  })
})

describe('the member operations', () => {
  it('invite a member by mail without the link in the response, and change, deactivate, and reactivate them', async () => {
    const { v1, audit, organizationId } = await openManaged('Joined')
    const made = await v1.post('/members').send({ email: 'ngozi@example.com', roles: ['grader'] })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      member: expect.objectContaining({ email: 'ngozi@example.com', roles: ['grader'], status: 'active' }),
    })
    const { id } = made.body.member
    expect(await service.db.memberEmail.count({ where: { organizationId, memberId: id } })).toBe(1)
    const change = async (body: object) => (await v1.patch(`/members/${id}`).send(body)).body.member
    expect(await change({ roles: ['client'], department: 'Talent' })).toMatchObject({ roles: ['client'], department: 'Talent' })
    expect(await change({ department: 'Sales' })).toMatchObject({ roles: ['client'], department: 'Sales' })
    expect(await change({ active: false })).toMatchObject({ status: 'inactive' })
    const refused = await v1.post('/members').send({ email: 'NGOZI@example.com', roles: ['grader'] })
    expect(codeOf(refused)).toEqual([409, 'state_conflict'])
    const again = await v1.post('/members').send({ email: 'NGOZI@example.com', roles: ['grader'], reactivate: true })
    expect(again.body.member).toMatchObject({ id, roles: ['grader'], status: 'active' })
    expect(await change({ active: false, roles: [] })).toMatchObject({ status: 'inactive', roles: [] })
    expect(await change({ active: true, roles: ['grader'] })).toMatchObject({ status: 'active', roles: ['grader'] })
    expect((await audit())[0]).toBe('apiKey invited_member')
    expect(codeOf(await v1.post('/members').send({ email: 'none@example.com', roles: [] }))).toEqual([400, 'invalid'])
  })

  it('store the names of an invitation, and keep existing ones', async () => {
    const { v1 } = here
    const email = 'names@example.com'
    const made = await v1.post('/members').send({ email, firstName: ' Ngozi ', lastName: 'Adeyemi', roles: ['grader'] })
    expect([made.status, made.body.member]).toMatchObject([201, { firstName: 'Ngozi', lastName: 'Adeyemi' }])
    const again = await v1.post('/members').send({ email, firstName: 'Other', roles: ['client'] })
    expect(again.body.member).toMatchObject({ firstName: 'Ngozi', lastName: 'Adeyemi', roles: ['grader', 'client'] })
    expect(codeOf(await v1.post('/members').send({ email, firstName: ' ', roles: ['grader'] }))).toEqual([400, 'invalid'])
  })

  it('never grant the role admin, and never change an admin', async () => {
    const { v1, own, organizationId } = here
    const member = await service.make.member(organizationId, { roles: ['grader'] })
    const former = await service.make.member(organizationId, { roles: ['admin'], status: 'inactive' })
    const rows = () => service.db.member.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
    const before = await rows()
    const mails = await service.db.memberEmail.count({ where: { organizationId } })
    const tries = [
      v1.post('/members').send({ email: 'new.admin@example.com', roles: ['admin'] }),
      v1.post('/members').send({ email: member.email, roles: ['grader', 'admin'] }),
      v1.post('/members').send({ email: own.member.email, roles: ['grader'] }),
      v1.post('/members').send({ email: former.email.toUpperCase(), roles: ['grader'], reactivate: true }),
      v1.patch(`/members/${member.id}`).send({ roles: ['admin'] }),
      v1.patch(`/members/${own.member.id}`).send({ roles: ['grader'] }),
      v1.patch(`/members/${own.member.id}`).send({ department: 'Elsewhere' }),
      v1.patch(`/members/${own.member.id}`).send({ active: false }),
      v1.patch(`/members/${own.member.id}`).send({ active: true }),
      v1.patch(`/members/${former.id}`).send({ active: true }),
      v1.patch(`/members/${former.id}`).send({ active: true, roles: ['grader'] }),
    ]
    for (const answer of await Promise.all(tries)) expect(codeOf(answer)).toEqual([403, 'admin_refused'])
    expect(await rows()).toEqual(before)
    expect(await service.db.memberEmail.count({ where: { organizationId } })).toBe(mails)
  })

  it('accept many concurrent changes', async () => {
    const { v1, organizationId } = here
    const { id } = await service.make.member(organizationId, { roles: ['grader'] })
    const changes = Array.from({ length: 12 }, (_, i) =>
      v1.patch(`/members/${id}`).send(i % 2 === 0 ? { active: i % 4 === 0, department: 'A' } : { roles: ['client'] }),
    )
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200))
  })
})
