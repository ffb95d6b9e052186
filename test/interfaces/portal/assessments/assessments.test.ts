import { describe, expect, it } from 'vitest'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

const NEW = { name: 'Support', defaultQuestionFormat: 'text', defaultAnswerFormat: 'text', audience: 'invite_only' }

/** Signs in an admin who creates assessments with the portal's form. */
async function openAssessments() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}assessments`
  const create = async (fields: Record<string, string> = {}) => {
    const answer = await admin.post(path, { ...NEW, ...fields })
    if (answer.status !== 303) throw new Error(`Making it was answered ${answer.status}: ${answer.text}`)
    return answer.headers.location!.split('?')[0]!
  }
  const read = async (address: string) =>
    (await service.v1(organization.key).get(`/assessments/${address.split('/').at(-1)}`)).body
  return { ...admin, organization, path, create, read }
}

const lastEntry = (organizationId: string) =>
  service.db.auditEntry.findFirstOrThrow({ where: { organizationId }, orderBy: { id: 'desc' } })

describe('an assessment', () => {
  it('is created with all its settings, as both APIs show', async () => {
    const { create, read, get, member, organization, path } = await openAssessments()
    const tag = await service.make.tag(organization.id)
    const client = await service.make.member(organization.id, { roles: ['client'] })
    const address = await create({
      name: ' Support, spoken ',
      defaultQuestionFormat: 'audio',
      defaultAnswerFormat: 'video',
      audience: 'public',
      timeLimit: '1:30',
      instructionTitle: 'Read this',
      instruction: 'First line\r\nsecond line',
      languages: 'en\r\n\r\n de \r\nen',
      categories: 'Voice\r\nPhone',
      skillTypes: 'speaking\r\nlistening',
      tags: tag.name.toUpperCase(),
      clients: client.email.toUpperCase(),
    })
    expect(await read(address)).toMatchObject({
      name: 'Support, spoken',
      defaultQuestionFormat: 'audio',
      defaultAnswerFormat: 'video',
      languages: ['en', 'de'],
      questionCount: 0,
      totalPoints: 0,
    })
    const id = address.split('/').at(-1)!
    expect((await service.alternate(organization.key).get(`/assessments/${id}`)).body).toMatchObject({
      audience: 'public',
      time_limit_minutes: 1,
      time_limit_seconds: 30,
      skill_type: ['speaking', 'listening'],
      clients: [client.id],
      tags: [tag.id],
      created_by: member.id,
    })
    const row = await service.db.assessment.findUniqueOrThrow({
      where: { id },
      include: { instruction: true, categories: { include: { category: true }, orderBy: { position: 'asc' } } },
    })
    expect(row.instruction).toMatchObject({ title: 'Read this', body: 'First line\nsecond line' })
    expect(row.categories.map(({ category }) => category.name)).toEqual(['Voice', 'Phone'])
    const page = (await get(address)).text.replaceAll(/<wbr>|<\/?a[^>]*>/g, '')
    for (const text of ['Support, spoken', '1 minute 30 seconds', 'Voice, Phone', tag.name, client.email])
      expect(page).toContain(text)
    expect((await get(path)).text).toContain(`href="${address}">Support, spoken</a>`)
    expect(await lastEntry(organization.id)).toMatchObject({ action: 'created_assessment', actorId: member.id, targetId: id })
  })

  it('is rejected with mistakes at their fields, keeping the typed text', async () => {
    const { post, path, organization } = await openAssessments()
    const stranger = await service.make.member((await service.make.organization()).id)
    const typed = {
      ...NEW,
      name: 'x'.repeat(201),
      timeLimit: '1:75',
      tags: 'No such tag',
      clients: stranger.email,
      instruction: '</textarea><script>',
    }
    const answer = await post(path, typed)
    expect(answer.status).toBe(422)
    expect(mistakesIn(answer)).toEqual([
      'The name has more than 200 characters.',
      'Enter the time limit in minutes, or as minutes and seconds like 1:30. Leave it empty for none.',
    ])
    expect(answer.text).toContain('&lt;/textarea&gt;&lt;script&gt;')
    expect(fieldsIn(answer)).toMatchObject(typed)
    expect(mistakesIn(await post(path, { ...typed, name: ' ', timeLimit: '' }))).toEqual(['Enter the name.'])
    const unknown = await post(path, { ...typed, name: 'Named', timeLimit: '' })
    expect(mistakesIn(unknown)).toEqual([
      'There is no tag with the name “No such tag”.',
      `There is no member with the email address “${stranger.email}”.`,
    ])
    const long = { ...NEW, instruction: 'x'.repeat(5_001), languages: 'x'.repeat(36), skillTypes: 'a\n'.repeat(101) }
    expect(mistakesIn(await post(path, long))).toEqual([
      'The text of the instructions has more than 5000 characters.',
      'The list of languages has more than 35 characters.',
      'The list of skills: at most 100.',
    ])
    expect(mistakesIn(await post(path, { ...NEW, timeLimit: '99999999999' }))).toHaveLength(1)
    expect(await service.db.assessment.count({ where: { organizationId: organization.id } })).toBe(0)
    expect(await service.db.category.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('changes only its time when its form is sent unchanged', async () => {
    const { create, get, post, organization } = await openAssessments()
    const address = await create({
      languages: 'en\nde',
      categories: 'B\nA',
      skillTypes: 'x',
      instruction: '\nAn empty line first',
      timeLimit: '30',
    })
    const id = address.split('/').at(-1)!
    const read = () =>
      service.db.assessment.findUniqueOrThrow({
        where: { id },
        include: { instruction: true, languages: true, categories: true, tags: true, clients: true },
      })
    const before = await read()
    const fields = fieldsIn(await get(`${address}/edit`))
    expect((await post(`${address}/edit`, fields)).headers.location).toBe(`${address}?done=saved`)
    const { updatedAt, ...after } = await read()
    expect({ ...after, updatedAt: before.updatedAt }).toEqual(before)
    expect(updatedAt > before.updatedAt).toBe(true)
    await post(`${address}/edit`, {
      ...fieldsIn(await get(`${address}/edit`)),
      name: 'Renamed',
      languages: 'fr',
      instruction: '',
    })
    expect(await read()).toMatchObject({ name: 'Renamed', instructionId: null })
    expect(await service.db.instruction.count({ where: { organizationId: organization.id } })).toBe(0)
    expect(await lastEntry(organization.id)).toMatchObject({ action: 'updated_assessment', details: { name: 'Renamed' } })
  })

  it('warns about missing points, devices, and the reach of changes to its questions', async () => {
    const { get, organization, path } = await openAssessments()
    const assessment = await service.make.assessment(organization.id)
    const address = `${path}/${assessment.id}`
    const cautions = async (of = address) =>
      [...(await get(of)).text.matchAll(/<p class="hint">([^<]*)/g)].map(([, sentence]) => sentence)
    const question = await service.make.question(assessment, { points: 5 })
    expect(await cautions()).toEqual([])
    await service.make.question(assessment, { points: 0, responseType: 'video' })
    await service.make.invite(assessment, { status: 'accepted' })
    await service.make.invite(assessment, { status: 'started' })
    const [points, devices, reach] = await cautions()
    expect([points, devices]).toEqual(['1 question of 2 has no points.', 'Candidates need a camera and a microphone to answer.'])
    expect(reach).toMatch(/^1 candidate is invited and has not started: /)
    expect((await get(`${address}/questions/${question.id}`)).text).toContain(reach)
    expect((await get(`${address}/questions/new`)).text).toContain(reach)
    const inviting = `${path.replace('/assessments', '/invites/new')}?assessment=${assessment.id}`
    expect(await cautions(inviting)).toEqual([points, devices])
  })

  it('offers languages in a list, and keeps an imported one', async () => {
    const { post, get, path, create, read, organization } = await openAssessments()
    expect((await get(`${path}/new`)).text).toContain('name="languages" value="pt-BR" > Brazilian Portuguese (pt-BR)</label>')
    expect(mistakesIn(await post(path, { ...NEW, name: 'New', languages: ['en', 'xx-new'] }))).toEqual([
      'There is no language “xx-new”.',
    ])
    const address = await create({ name: 'Imported', languages: 'en' })
    const assessmentId = address.split('/').at(-1)!
    const language = await service.make.language('qaa-imported')
    const organizationId = organization.id
    await service.db.assessmentLanguage.create({ data: { organizationId, assessmentId, languageId: language.id, position: 1 } })
    const fields = fieldsIn(await get(`${address}/edit`))
    expect((await post(`${address}/edit`, { ...fields, languages: `${fields.languages}\nde` })).status).toBe(303)
    expect((await read(address)).languages).toEqual(['en', 'qaa-imported', 'de'])
  })

  it('keeps a shared instruction unchanged in the other assessment', async () => {
    const { get, post, organization, path } = await openAssessments()
    const instruction = await service.db.instruction.create({
      data: { id: service.deps.newId(), organizationId: organization.id, body: 'Shared' },
    })
    const [one, other] = [
      await service.make.assessment(organization.id, { instructionId: instruction.id }),
      await service.make.assessment(organization.id, { instructionId: instruction.id }),
    ]
    const edit = async (id: string, text: string) => {
      const address = `${path}/${id}/edit`
      return post(address, { ...fieldsIn(await get(address)), instruction: text })
    }
    await edit(one.id, 'My own')
    expect((await get(`${path}/${one.id}`)).text).toContain('My own')
    expect((await get(`${path}/${other.id}`)).text).toContain('Shared')
    await edit(other.id, 'Now its own')
    expect((await service.db.assessment.findUniqueOrThrow({ where: { id: other.id } })).instructionId).toBe(instruction.id)
    expect(await service.db.instruction.count({ where: { organizationId: organization.id } })).toBe(2)
  })

  it('is not overwritten from an outdated form until its sender has seen the change', async () => {
    const { create, get, post, read, organization } = await openAssessments()
    const other = await signInAs(service, organization.id, ['admin'])
    const address = await create({ timeLimit: '30' })
    const mine = fieldsIn(await get(`${address}/edit`))
    const theirs = fieldsIn(await other.get(`${address}/edit`))
    expect((await other.post(`${address}/edit`, { ...theirs, name: 'Theirs', timeLimit: '45' })).status).toBe(303)
    const refused = await post(`${address}/edit`, { ...mine, name: 'Mine' })
    expect(refused.status).toBe(422)
    expect(mistakesIn(refused)).toEqual([
      expect.stringMatching(
        `^${other.member.email} changed the name on .+ UTC, to “Theirs”. Saving again replaces that change.$`,
      ),
      expect.stringContaining('changed the time limit on'),
    ])
    expect(fieldsIn(refused)).toMatchObject({ name: 'Mine', timeLimit: '30' })
    // A form that is rejected for another mistake does not count as having seen the change.
    const blank = await post(`${address}/edit`, { ...mine, name: ' ' })
    expect((await post(`${address}/edit`, { ...fieldsIn(blank), name: 'Mine' })).status).toBe(422)
    expect((await read(address)).name).toBe('Theirs')
    expect((await post(`${address}/edit`, fieldsIn(refused))).status).toBe(303)
    expect((await read(address)).name).toBe('Mine')
    for (const seen of ['', 'x', '+275760-09-13T00:00:00.000Z', '-000001-01-01'])
      expect((await post(`${address}/edit`, { ...mine, seen })).status).toBe(422)
  })

  it('accepts one of many concurrent changes', async () => {
    const { create, get, post } = await openAssessments()
    const address = await create()
    const fields = fieldsIn(await get(`${address}/edit`))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        post(`${address}/edit`, { ...fields, name: `Number ${i}`, languages: 'fr\nes', categories: 'A\nB' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 7 }, () => 422)])
  })

  it('is copied with its questions and references, without its invites', async () => {
    const { create, post, read, organization } = await openAssessments()
    const tag = await service.make.tag(organization.id)
    const address = await create({ name: 'N'.repeat(200), languages: 'en', tags: tag.name, instruction: 'Read' })
    const id = address.split('/').at(-1)!
    await post(`${address}/questions`, {
      inputType: 'text',
      responseType: 'audio',
      script: 'One?',
      points: '3',
      sourceLanguage: 'en',
    })
    await post(`${address}/questions`, { inputType: 'text', responseType: 'text', script: 'Two?', points: '4' })
    await service.make.invite({ organizationId: organization.id, id })
    const answer = await post(`${address}/duplicate`)
    const copy = answer.headers.location!.split('?')[0]!
    expect(await read(copy)).toMatchObject({ questionCount: 2, totalPoints: 7, inviteCount: 0, languages: ['en'] })
    expect((await read(copy)).name).toBe(`Copy of ${'N'.repeat(192)}`)
    const questions = await service.db.question.findMany({
      where: { assessmentId: copy.split('/').at(-1)! },
      orderBy: { order: 'asc' },
    })
    expect(questions.map(({ script, responseType, sourceLanguage }) => [script, responseType, sourceLanguage])).toEqual([
      ['One?', 'audio', 'en'],
      ['Two?', 'text', null],
    ])
    expect(questions[0]!.createdAt).toEqual(service.clock.now())
    expect(await read(address)).toMatchObject({ questionCount: 2, totalPoints: 7, inviteCount: 1 })
    // Deleting the copy keeps the shared instruction of the original.
    await post(`${copy}/delete`)
    expect(await service.db.instruction.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('is deleted with its questions only while it has no invites', async () => {
    const { create, get, post, organization, path } = await openAssessments()
    const address = await create({ name: 'Short-lived', instruction: 'Gone with it' })
    await post(`${address}/questions`, { inputType: 'text', responseType: 'text', script: 'Why?' })
    expect((await post(`${address}/delete`)).headers.location).toBe(`${path}?done=deleted`)
    expect((await get(address)).status).toBe(404)
    expect((await post(`${address}/delete`)).status).toBe(404)
    expect(await service.db.instruction.count({ where: { organizationId: organization.id } })).toBe(0)
    expect(await lastEntry(organization.id)).toMatchObject({ action: 'deleted_assessment', details: { name: 'Short-lived' } })
    const kept = await create({ name: 'Kept' })
    expect((await get(kept)).text).toContain(`${kept}/delete`)
    await service.make.invite({ organizationId: organization.id, id: kept.split('/').at(-1)! })
    const keptPage = (await get(kept)).text
    expect(keptPage).not.toContain(`${kept}/delete`)
    expect(keptPage).toContain('Can’t be deleted because it has 1 invite.')
    const refused = await post(`${kept}/delete`)
    expect([refused.status, mistakesIn(refused)]).toEqual([
      422,
      ['Candidates are invited to this assessment, so it can’t be deleted. You can archive it.'],
    ])
    expect((await get(kept)).status).toBe(200)
  })

  it('is either deleted or invited to if both happen at once', async () => {
    const { create, post, get, organization } = await openAssessments()
    async function contest(deleteFirst: boolean) {
      const address = await create({ name: 'Contested' })
      const assessmentId = address.split('/').at(-1)!
      const invite = () => service.v1(organization.key).post('/invites').send({ assessmentId, recipientEmail: 'sam@example.com' })
      const remove = () => post(`${address}/delete`)
      const [first, second] = await Promise.all(deleteFirst ? [remove(), invite()] : [invite(), remove()])
      const statuses = deleteFirst ? [first.status, second.status] : [second.status, first.status]
      const isDeleted = (await get(address)).status === 404
      expect(statuses).toEqual(isDeleted ? [303, 404] : [422, 201])
      expect(await service.db.invite.count({ where: { assessmentId } })).toBe(isDeleted ? 0 : 1)
    }
    for (let i = 0; i < 12; i++) await contest(i % 2 === 0)
  })

  it('stays if an invite is committed while it is being deleted', async () => {
    const { create, post, organization } = await openAssessments()
    const address = await create()
    const id = address.split('/').at(-1)!
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const { promise: end, resolve: commit } = Promise.withResolvers<void>()
    const inviting = service.db.$transaction(async (db) => {
      const now = service.clock.now()
      await db.invite.create({
        data: {
          ...{ id: service.deps.newId(), organizationId: organization.id, assessmentId: id, recipientEmail: 'sam@example.com' },
          ...{ status: 'pending', questionReplayLimit: 1, answerRecordLimit: 1, screenRecording: true, webcamMonitoring: true },
          ...{ requireIdCapture: true, facePhotoRequired: true, sentAt: now, expiresAt: now, createdAt: now, updatedAt: now },
        },
      })
      open()
      await end
    })
    await opened
    const deleting = post(`${address}/delete`).then(({ status }) => status)
    await waitUntil('the deletion to wait', async () => {
      const [row] = await service.db.$queryRaw<{ waiting: bigint }[]>`
        SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return row!.waiting > 0n || undefined
    })
    commit()
    await inviting
    expect(await deleting).toBe(422)
  })
})

describe('the list of assessments', () => {
  it('filters by words of the name, in pages', async () => {
    const { create, get, path, organization } = await openAssessments()
    for (let i = 1; i <= 30; i++) await service.make.assessment(organization.id, { name: `Typing ${i}` })
    await create({ name: 'Singing "<i>loud</i>"' })
    const first = (await get(path)).text
    expect(first).toContain('31 assessments, page 1 of 2')
    expect(first).toContain(`href="${path}?page=2"`)
    expect((await get(`${path}?page=2`)).text).toContain('31 assessments, page 2 of 2')
    expect((await get(`${path}?page=9`)).text).toContain('No assessments match.')
    const found = (await get(`${path}?search=${encodeURIComponent('loud "<i>')}`)).text
    expect(found).toContain('Singing &quot;&lt;i&gt;loud&lt;/i&gt;&quot;')
    expect(found).not.toContain('Typing')
    expect((await get(`${path}?search=typing`)).text).toContain('search=typing&amp;page=2')
    expect((await get(`${path}?search=nothing`)).text).toContain('No assessments match.')
    const long = await get(`${path}?search=${'x'.repeat(256)}`)
    expect([long.status, mistakesIn(long)]).toEqual([422, ['The search has more than 255 characters.']])
    expect(mistakesIn(await get(`${path}?search=a+b+c+d+e+f+g+h+i`))).toEqual(['The search has more than 8 words.'])
    for (const query of [
      'page=0',
      'page=-1',
      'page=x',
      'page=1e400',
      'page=99999999999',
      'page=1&page=2',
      'search=%00',
      'search=%zz',
      'search=',
    ])
      expect([query, (await get(`${path}?${query}`)).status]).toEqual([query, 200])
  })
})
