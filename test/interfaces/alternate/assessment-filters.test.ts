import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { links } from '../../support/links.ts'
import { type Service, startService } from '../../support/service.ts'

const formats = ['text', 'audio', 'video', 'mixed'] as const

let service: Service
let list: (query: string) => Promise<string[]>
let get: (query: string) => Promise<{ status: number; body: { count: number; results: { name: string }[] } }>
let creatorId: string
let tagId: string
beforeAll(async () => {
  service = await startService()
  const { id, key } = await service.make.organization()
  creatorId = (await service.make.member(id)).id
  const tag = await service.make.tag(id)
  tagId = tag.id
  // Each name lists the filtered values: audience, number of questions, type, answer type.
  for (const [nth, type] of formats.entries()) {
    const audience = nth % 2 === 0 ? ('invite_only' as const) : ('public' as const)
    const answers = formats[3 - nth]!
    const assessment = await service.make.assessment(id, {
      name: `${audience} ${nth} ${type} ${answers}`,
      audience,
      defaultQuestionFormat: type,
      defaultAnswerFormat: answers,
      createdById: nth < 2 ? creatorId : null,
    })
    for (let i = 0; i < nth; i++) await service.make.question(assessment)
    if (nth > 0) await links(service.db).tagAssessment(assessment, tag)
  }
  get = async (query) => service.alternate(key).get(`/assessments?${query}`)
  list = async (query) => {
    const { status, body } = await get(query)
    expect([status, body.count]).toEqual([200, body.results.length])
    return body.results.map(({ name }) => name)
  }
})
afterAll(() => service.close())

const all = ['invite_only 0 text mixed', 'public 1 audio video', 'invite_only 2 video audio', 'public 3 mixed text']
const [text, audio, video, mixed] = all as [string, string, string, string]

describe('the audience filter', () => {
  it.each([
    ['invite_only', [text, video]],
    ['public', [audio, mixed]],
  ])('shows only the matching assessments for %s', async (audience, names) => {
    expect(await list(`audience=${audience}`)).toEqual(names)
  })

  it.each(['xyz', 'Public', 'invite_only,public', ' public', '<b>'])('answers 400 to %j', async (audience) => {
    const { status, body } = await get(`audience=${encodeURIComponent(audience)}`)
    expect([status, body]).toEqual([
      400,
      { audience: [`Select a valid choice. ${audience} is not one of the available choices.`] },
    ])
  })
})

describe('the question_count filter', () => {
  it.each([
    ['0', [text]],
    ['1', [audio]],
    ['2', [video]],
    ['3', [mixed]],
    ['4', []],
    ['2.0', [video]],
    ['2.5', []],
    ['-1', []],
    ['2147483648', []],
    ['9'.repeat(400), []],
  ])('matches %s exactly', async (count, names) => {
    expect(await list(`question_count=${count}`)).toEqual(names)
  })

  it.each(['abc', '1,2', 'NaN', 'Infinity', '0x1', '１', 'null', 'true'])('answers 400 to %s', async (count) => {
    const { status, body } = await get(`question_count=${encodeURIComponent(count)}`)
    expect([status, body]).toEqual([400, { question_count: ['Enter a number.'] }])
  })
})

describe('the type and answer_type filters', () => {
  it.each([
    ['type=audio', [audio]],
    ['type=audio,video', [audio, video]],
    ['type=video,audio,video', [audio, video]],
    ['type=audio,%20mixed%20,', [audio, mixed]],
    ['type=text,hologram', [text]],
    ['type=hologram', []],
    ['type=Audio', []],
    ['answer_type=audio', [video]],
    ['answer_type=text,mixed', [text, mixed]],
    ['answer_type=hologram', []],
    ['type=text,audio&answer_type=video,audio', [audio]],
  ])('match any of the values in %s', async (query, names) => {
    expect(await list(query)).toEqual(names)
  })
})

it('combines all filters', async () => {
  expect(
    await list(`created_by=${creatorId}&audience=public&question_count=1&tags=${tagId}&type=audio&answer_type=video`),
  ).toEqual([audio])
  expect(
    await list(
      `created_by=${creatorId}&audience=public&question_count=1&tags=${tagId}&type=audio&answer_type=video&search=AUDIO`,
    ),
  ).toEqual([audio])
  expect(await list(`created_by=${creatorId}&tags=${tagId}&audience=invite_only`)).toEqual([])
  expect(await list('')).toEqual(all)
})
