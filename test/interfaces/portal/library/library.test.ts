import { describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { saveAsVersion } from '../../../../src/domain/library/save-to-library.ts'
import { inTransaction } from '../../../../src/domain/transaction.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

const CHOICE = {
  responseType: 'single_choice',
  spec: {
    options: [
      { id: 'aaaaaaaa', text: 'Paris' },
      { id: 'bbbbbbbb', text: 'Rome' },
    ],
    shuffle: true,
  },
  key: { policy: 'exact', right: ['aaaaaaaa'] },
}
/** The same question with other option ids. */
const ALIKE = JSON.parse(JSON.stringify(CHOICE).replaceAll('aaaaaaaa', 'xxxxxxxx').replaceAll('bbbbbbbb', 'cccccccc'))

/** Fields of the button that applies the newest version. */
const newestVersionFields = ({ text }: { text: string }): Record<string, string> => {
  const [, seen, number] =
    /library\/take"><input type="hidden" name="seen" value="(\w+)"><input type="hidden" name="number" value="(\d+)"/.exec(text)!
  return { seen: seen!, number: number! }
}

async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const client = service.v1(await keyOf(organization.id))
  const makeQuestion = async (
    assessment: { id: string; organizationId: string },
    definition: object | null,
    more: object = {},
  ) => {
    const question = await service.make.question(assessment as never, { script: 'What is the capital of France?', ...more })
    if (definition)
      await client.put(`/assessments/${assessment.id}/questions/${question.id}/definition`).send(definition).expect(200)
    return { ...question, path: `${admin.home}assessments/${assessment.id}/questions/${question.id}` }
  }
  const assessments = [await service.make.assessment(organization.id), await service.make.assessment(organization.id)] as const
  const kept = () => service.db.libraryQuestion.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
  const stored = (id: string) => service.db.question.findUniqueOrThrow({ where: { id } })
  return { organization, admin, client, makeQuestion, assessments, kept, stored }
}

async function keyOf(organizationId: string): Promise<string> {
  const { key, apiKey } = await createApiKey(service.system, { organizationId, name: 'manager', mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  return key
}

describe('the library', () => {
  it('stores a question once, ignoring its ids and points, and lists its uses', async () => {
    const { admin, makeQuestion, assessments, kept, stored } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE, { points: 3 })
    expect((await admin.get(one.path)).text).toContain('Save to the library')
    expect((await admin.post(`${one.path}/library/save`)).status).toBe(303)
    const other = await makeQuestion(assessments[1], ALIKE, { points: 5 })
    await admin.post(`${other.path}/library/save`)
    const [item, ...more] = await kept()
    expect(more).toEqual([])
    expect(item).toMatchObject({ name: 'What is the capital of France?', responseType: 'single_choice', number: 1, uses: 2 })
    expect(await stored(other.id)).toMatchObject({ libraryQuestionId: item!.id, libraryNumber: 1 })
    const { text } = await admin.get(`${admin.home}questions/${item!.id}`)
    for (const { name } of assessments) expect(text).toContain(name)
    await admin.post(`${other.path}/delete`)
    expect((await kept())[0]).toMatchObject({ uses: 1 })
  })

  it("adds a question's newest version with its key to an assessment once", async () => {
    const { admin, makeQuestion, assessments, kept, stored } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE)
    await admin.post(`${one.path}/library/save`)
    const [item] = await kept()
    const path = `${admin.home}questions/${item!.id}`
    await service.make.question(assessments[1])
    const { headers } = await admin.post(`${path}/add`, { assessmentId: assessments[1].id })
    const added = await stored(headers.location!.split('#question-')[1]!)
    expect(added).toMatchObject({
      versionId: (await stored(one.id)).versionId,
      libraryNumber: 1,
      assessmentId: assessments[1].id,
    })
    const again = await admin.post(`${path}/add`, { assessmentId: assessments[1].id })
    expect([again.status, mistakesIn(again)]).toEqual([422, ['The assessment already has it, as question 2.']])
    await admin.post(`${path}/retire`)
    expect((await admin.get(path)).text).not.toContain('Add to an assessment')
    expect((await admin.post(`${path}/add`, { assessmentId: assessments[1].id })).status).toBe(422)
    expect((await admin.get(`${admin.home}questions`)).text).not.toContain('capital of France')
    expect((await admin.get(`${admin.home}questions?shown=retired`)).text).toContain('capital of France')
  })

  it('shows differences, and saves or applies a version without affecting other assessments', async () => {
    const { admin, client, makeQuestion, assessments, kept, stored } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE)
    await admin.post(`${one.path}/library/save`)
    const [item] = await kept()
    const { headers } = await admin.post(`${admin.home}questions/${item!.id}/add`, { assessmentId: assessments[1].id })
    const copyId = headers.location!.split('#question-')[1]!
    const copyPath = `${admin.home}assessments/${assessments[1].id}/questions/${copyId}`
    const changed = { ...CHOICE, key: { policy: 'exact', right: ['bbbbbbbb'] } }
    await client.put(`/assessments/${assessments[0].id}/questions/${one.id}/definition`).send(changed).expect(200)
    expect((await admin.get(one.path)).text).toContain('This question differs from version 1 in the library.')
    expect((await admin.get(copyPath)).text).toContain('This is version 1 in the library.')
    await admin.post(`${one.path}/library/version`)
    expect((await kept())[0]).toMatchObject({ number: 2 })
    expect((await admin.get(one.path)).text).toContain('This is version 2 in the library.')
    const before = await stored(copyId)
    expect((await admin.get(copyPath)).text).toContain('There is a newer one: version 2.')
    await admin.post(`${copyPath}/library/take`, newestVersionFields(await admin.get(copyPath)))
    const after = await stored(copyId)
    expect(after.versionId).not.toBe(before.versionId)
    expect(after).toMatchObject({ libraryNumber: 2, versionId: (await stored(one.id)).versionId, points: before.points })
  })

  it('rejects a version that does not fit the section of the question', async () => {
    const { admin, makeQuestion, assessments, kept, stored, organization } = await setUp()
    const one = await makeQuestion(assessments[0], null)
    await admin.post(`${one.path}/library/save`)
    const { headers } = await admin.post(`${admin.home}questions/${(await kept())[0]!.id}/add`, {
      assessmentId: assessments[1].id,
    })
    const id = headers.location!.split('#question-')[1]!
    const of = { organizationId: organization.id, assessmentId: assessments[1].id }
    const section = { ...of, id: service.deps.newId(), order: 1, name: 'Free', navigation: 'free' }
    await service.db.assessmentSection.create({ data: section })
    await service.db.question.update({ where: { id }, data: { sectionId: section.id } })
    await service.db.question.update({ where: { id: one.id }, data: { responseType: 'audio' } })
    await admin.post(`${one.path}/library/version`)
    const path = `${admin.home}assessments/${assessments[1].id}/questions/${id}`
    const refused = await admin.post(`${path}/library/take`, newestVersionFields(await admin.get(path)))
    expect([refused.status, mistakesIn(refused)]).toEqual([422, [expect.stringContaining('go back and forth')]])
    expect(await stored(id)).toMatchObject({ responseType: 'text', libraryNumber: 1 })
  })

  it('keeps changes of a question until its author has seen the differences', async () => {
    const { admin, makeQuestion, assessments, stored } = await setUp()
    const one = await makeQuestion(assessments[0], null)
    await admin.post(`${one.path}/library/save`)
    const write = (script: string) => service.db.question.update({ where: { id: one.id }, data: { script } })
    await write('Mine?')
    expect((await admin.get(one.path)).text).not.toContain('Use version 1')
    const difference = `${one.path}/library/difference`
    const page = await admin.get(difference)
    expect(page.text).toContain('Using version 1 discards this question’s own changes.')
    await write('Mine, and better?')
    const take = (seen: Record<string, string>) => admin.post(`${one.path}/library/take`, seen)
    const now = newestVersionFields(await admin.get(difference))
    for (const stale of [newestVersionFields(page), {}, { ...now, number: '2' }]) {
      const late = await take(stale)
      expect([late.status, mistakesIn(late)]).toEqual([422, [expect.stringContaining('has changed in the meantime.')]])
    }
    expect(await stored(one.id)).toMatchObject({ script: 'Mine, and better?' })
    expect((await take(now)).status).toBe(303)
    expect(await stored(one.id)).toMatchObject({ script: 'What is the capital of France?' })
  })

  it('stores a version once if two members save it at the same time', async () => {
    const { organization, admin, makeQuestion, assessments, kept, stored } = await setUp()
    const scripts = ['Rome?', 'Athens?'] as const
    const both = await Promise.all(scripts.map((script, i) => makeQuestion(assessments[i]!, null, { script })))
    for (const { id, path } of both) {
      await admin.post(`${path}/library/save`)
      await service.db.question.update({ where: { id }, data: { script: 'Which?' } })
    }
    const [one, other] = both as [(typeof both)[0], (typeof both)[0]]
    const ctx = asOperator(service, organization)
    const ref = { assessmentId: assessments[0].id, questionId: one.id }
    const late = await inTransaction(ctx, async (inside) => {
      await saveAsVersion(inside, ref)
      const answer = Promise.resolve(admin.post(`${other.path}/library/version`))
      await waitUntil('the other request to wait for this one', async () => {
        const waiting = await service.db.$queryRaw<unknown[]>`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return waiting.length > 0 || undefined
      })
      return { answer }
    })
    expect((await late.answer).status).toBe(303)
    const { libraryQuestionId } = await stored(one.id)
    expect(await stored(other.id)).toMatchObject({ libraryQuestionId, libraryNumber: 2 })
    expect((await kept()).map(({ number }) => number).sort()).toEqual([1, 2])
  })

  it('shows a question and its newest version side by side', async () => {
    const { admin, client, makeQuestion, assessments, kept } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE, { points: 3 })
    await admin.post(`${one.path}/library/save`)
    const page = `${one.path}/library/difference`
    const shown = async () => {
      const { text } = await admin.get(page)
      const cells = [...text.matchAll(/<th scope="row">(.*?)<\/th>(.*?)<\/tr>/gs)]
      return cells.map(([, label, more]) =>
        [label, ...more!.split('</td>').slice(0, 2)].map((cell) =>
          cell!
            .replaceAll(/<[^>]*>/g, ' ')
            .replace(/\s+/g, ' ')
            .trim(),
        ),
      )
    }
    expect((await admin.get(one.path)).text).not.toContain('Show differences')
    expect((await admin.get(page)).text).toContain('Both are the same.')
    const changed = {
      ...CHOICE,
      spec: { ...CHOICE.spec, options: [...CHOICE.spec.options, { id: 'cccccccc', text: '<i>Lyon</i>', fixed: true }] },
      key: { policy: 'weights', weights: { aaaaaaaa: 100, cccccccc: 50 } },
    }
    await client.put(`/assessments/${assessments[0].id}/questions/${one.id}/definition`).send(changed).expect(200)
    await client.patch(`/assessments/${assessments[0].id}/questions/${one.id}`).send({ points: 5 }).expect(200)
    expect((await admin.get(one.path)).text).toContain('Show differences')
    expect(await shown()).toEqual([
      ['Options', 'Paris Rome &lt;i&gt;Lyon&lt;/i&gt;, keeps its place only here', 'Paris Rome'],
      ['Scoring', 'Options give shares', 'All or nothing'],
      ['Shares of the points', 'Paris: 100 % only here &lt;i&gt;Lyon&lt;/i&gt;: 50 % only here', 'none'],
      ['Points (not replaced)', '5 points', '3 points'],
      ['Right', 'none', 'Paris'],
    ])
    const { text } = await admin.get(page)
    for (const words of ['Use version 1', 'Save as version 2', 'The same in both: answer format, text'])
      expect(text).toContain(words)
    await admin.post(`${one.path}/library/version`)
    expect((await kept())[0]).toMatchObject({ number: 2 })
    const fresh = await makeQuestion(assessments[0], null)
    expect((await admin.get(`${fresh.path}/library/difference`)).status).toBe(404)
  })

  it('is searched by word prefixes, category, type, and missing use', async () => {
    const { admin, makeQuestion, assessments, kept } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE)
    const two = await makeQuestion(assessments[0], null, { script: 'Größe und Gewicht?' })
    for (const { path } of [one, two]) await admin.post(`${path}/library/save`)
    const [first] = await kept()
    await admin.post(`${admin.home}questions/${first!.id}`, { name: first!.name, category: ' Places/ Europe ' })
    await admin.post(`${two.path}/delete`)
    const [category] = await service.db.libraryCategory.findMany({ where: { organizationId: first!.organizationId } })
    expect(category!.path).toBe('Places / Europe')
    const names = async (query: string) =>
      [...(await admin.get(`${admin.home}questions?${query}`)).text.matchAll(/<th scope="row"><a [^>]*>([^<]*)</g)].map(
        ([, name]) => name,
      )
    const [france, size] = ['What is the capital of France?', 'Größe und Gewicht?']
    expect(await names('')).toEqual([size, france])
    expect(await names('search=cap+FRA')).toEqual([france])
    expect(await names('search=gr%C3%B6')).toEqual([size])
    expect(await names('search=%27%26%7C%21%3A*%3C-%3E%00')).toEqual([size, france])
    expect(await names('search=nothing')).toEqual([])
    expect(await names(`category=${category!.id}`)).toEqual([france])
    expect(await names('category=none')).toEqual([])
    expect(await names('kind=single_choice')).toEqual([france])
    expect(await names('unused=yes')).toEqual([size])
    expect(await names(`before=${first!.id}`)).toEqual([])
    const pagesOf = async (query: string) =>
      /<nav [^>]*aria-label="Pages">(.*?)<\/nav>/s.exec((await admin.get(`${admin.home}questions?${query}`)).text)?.[1]
    expect(await pagesOf('')).toBeUndefined()
    expect(await pagesOf(`before=${first!.id}`)).toContain('Newest')
  })

  it('scores a trial answer without storing it', async () => {
    const { admin, makeQuestion, assessments, kept } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE)
    await admin.post(`${one.path}/library/save`)
    const path = `${admin.home}questions/${(await kept())[0]!.id}`
    const tried = async (answer: string) => (await admin.post(`${path}/try`, { answer })).text
    expect(await tried('aaaaaaaa')).toContain('This answer gets 100 % of the points.')
    expect(await tried('bbbbbbbb')).toContain('This answer gets 0 % of the points.')
    expect(await tried('zzzzzzzz')).not.toContain('This answer gets')
  })

  it('is readable for graders, and hidden from clients and other organizations', async () => {
    const { organization, admin, makeQuestion, assessments, kept } = await setUp()
    const one = await makeQuestion(assessments[0], CHOICE)
    await admin.post(`${one.path}/library/save`)
    const [item] = await kept()
    const grader = await signInAs(service, organization.id, ['grader'])
    const client = await signInAs(service, organization.id, ['client'])
    const page = `${admin.home}questions/${item!.id}`
    const { status, text } = await grader.get(page)
    expect(status).toBe(200)
    expect(text).not.toContain('Add to an assessment')
    expect((await grader.post(`${page}/retire`)).status).toBe(404)
    expect((await client.get(page)).status).toBe(404)
    expect((await client.get(`${admin.home}questions`)).status).toBe(404)
    const foreign = await setUp()
    expect((await foreign.admin.get(`${foreign.admin.home}questions/${item!.id}`)).status).toBe(404)
    expect(
      (await foreign.admin.post(`${foreign.admin.home}questions/${item!.id}/add`, { assessmentId: foreign.assessments[0].id }))
        .status,
    ).toBe(404)
  })
})
