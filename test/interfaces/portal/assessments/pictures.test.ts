import { expect, it } from 'vitest'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../../support/candidate.ts'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { png } from '../../../support/pictures.ts'
import { signInAs } from '../../../support/portal.ts'
import { type Service, startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const NEW = { inputType: 'text', responseType: 'text', scriptFormat: 'markdown', script: 'What is this?' }
const MARK = /!\[([^\]]*)\]\(asset:([0-9a-f-]{36})\)/

/** Creates an admin with the address of the form for a new question. */
async function openForm(made?: Awaited<ReturnType<Service['make']['organization']>>) {
  const organization = made ?? (await service.make.organization())
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id)
  const path = `${admin.home}assessments/${assessment.id}/questions`
  const send = (fields: Record<string, string | string[]>, file?: Buffer, address = path) => {
    const sending = service.http().post(address).set({ 'sec-fetch-site': 'same-origin', cookie: admin.cookie()! })
    for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) sending.field(name, value)
    return file ? sending.attach('picture', file, 'any.png') : sending
  }
  /** Adds a question with a picture. @returns the picture's id. */
  const add = async (fields: Record<string, string | string[]> = {}, file = png()) => {
    const answer = await send({ ...NEW, pictureAlt: 'A red kite', ...fields }, file)
    expect([answer.status, mistakesIn(answer)]).toEqual([303, []])
    const { assetIds, version } = await service.db.question.findFirstOrThrow({
      where: { assessmentId: assessment.id },
      orderBy: { order: 'desc' },
      include: { version: true },
    })
    return [...assetIds, ...(version?.assetIds ?? [])][0]!
  }
  const begin = async () => {
    const invite = await service.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS })
    const candidate = candidateOf(service, invite)
    await consent(candidate)
    await candidate.press('start')
    return candidate
  }
  return { ...admin, organization, assessment, path, send, add, begin }
}

const addressesIn = ({ text }: { text: string }) => [...text.matchAll(/<img [^>]*src="([^"]+)"/g)].map(([, address]) => address!)

it('adds a picture to the text by its own button, without saving anything else', async () => {
  const { assessment, get, path, send } = await openForm()
  const shown = await send({ ...NEW, pictureAlt: 'A [red] kite', rows: 'picture' }, png())
  expect([shown.status, mistakesIn(shown)]).toEqual([200, []])
  const { script, pictureAlt } = fieldsIn(shown)
  expect(script).toMatch(/^What is this\?\n\n!\[A red kite\]\(asset:[0-9a-f-]{36}\)$/)
  expect(pictureAlt).toBe('')
  expect(await service.db.question.count({ where: { assessmentId: assessment.id } })).toBe(0)
  expect((await get(path.replace('/questions', `/../pictures/${MARK.exec(script!)![2]}`))).status).toBe(404) // no address outside the organization
})

it('shows a picture to candidates with its size, once the question is open', async () => {
  const { add, begin } = await openForm()
  const id = await add()
  const candidate = await begin()
  const address = `${candidate.path}/pictures/${id}`
  expect((await service.http().get(address)).status).toBe(404)
  await candidate.press('open', { number: '1' })
  const { text } = await candidate.open()
  expect(text).toContain(`src="${address}" alt="A red kite" width="40" height="30"`)
  const picture = await service.http().get(address)
  expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png'])
  expect(picture.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'private, max-age=3600' })
  expect(picture.body).toEqual(png())
  await candidate.press('next', { number: '1' })
  expect((await service.http().get(address)).status).toBe(200) // the question was open
})

it("serves no picture of another candidate's questions, and keeps pictures that submissions contain", async () => {
  const [one, other] = [await openForm(), await openForm()]
  const [mine, theirs] = [await one.add(), await other.add({}, png(8, 8))]
  const sibling = await openForm(one.organization)
  const siblings = await sibling.add({}, png(9, 9))
  const candidate = await one.begin()
  await candidate.press('open', { number: '1' })
  const ask = (id: string) => service.http().get(`${candidate.path}/pictures/${id}`)
  for (const id of [theirs, siblings, service.deps.newId(), 'x', `${mine}x`]) expect((await ask(id)).status).toBe(404)
  // A text that names another organization's picture shows only its description.
  const { id, updatedAt } = await service.db.question.findFirstOrThrow({ where: { assessmentId: one.assessment.id } })
  await one.send({ ...NEW, script: `![Theirs](asset:${theirs})`, seen: updatedAt.toISOString() }, undefined, `${one.path}/${id}`)
  const later = await one.begin()
  await later.press('open', { number: '1' })
  const page = await later.open()
  expect([addressesIn(page), page.text.includes('Theirs')]).toEqual([[], true])
  expect((await service.http().get(`${later.path}/pictures/${theirs}`)).status).toBe(404)
  expect((await ask(mine)).status).toBe(200)
})

it('serves pictures, also by ranges, only to members and keys of their organization', async () => {
  const [one, other] = [await openForm(), await openForm()]
  const id = await one.add()
  expect((await one.get(`${one.home}pictures/${id}`)).status).toBe(200)
  expect((await other.get(`${other.home}pictures/${id}`)).status).toBe(404)
  const client = await signInAs(service, one.organization.id, ['client'])
  expect((await client.get(`${one.home}pictures/${id}`)).status).toBe(404)
  const part = await service.v1(one.organization.key).get(`/question-media/${id}`).set('range', 'bytes=0-7')
  expect([part.status, part.headers['content-range'], part.headers['x-content-type-options']]).toEqual([
    206,
    `bytes 0-7/${png().length}`,
    'nosniff',
  ])
  expect(part.body).toEqual(png().subarray(0, 8))
  expect((await service.v1(other.organization.key).get(`/question-media/${id}`)).status).toBe(404)
  expect((await service.http().get(`/api/v1/question-media/${id}`)).status).toBe(401)
})

it('adds a picture to an option without changing other input', async () => {
  const { add, begin, get, organization, path } = await openForm()
  const [row, second] = ['abcdefgh', 'bcdefghi']
  const form = await get(`${path}/new?answer=single_choice`)
  expect(form.text).toContain('In option 1')
  const kind = { responseType: 'single_choice', points: '1', policy: 'exact', row: [row, second], right: row }
  const id = await add({ ...kind, [`text-${row}`]: '2 * 3 * 4', [`text-${second}`]: 'None', pictureIn: `text-${row}` })
  const candidate = await begin()
  await candidate.press('open', { number: '1' })
  const shown = await candidate.open()
  expect(addressesIn(shown)).toEqual([`${candidate.path}/pictures/${id}`])
  expect(shown.text).toMatch(/2 \* 3 \* 4 <img [^>]*width="40" height="30"/)
  expect((await service.http().get(`${candidate.path}/pictures/${id}`)).status).toBe(200)
  await candidate.press(
    'answer',
    Object.fromEntries([
      ['number', '1'],
      ['answer', row],
      ['then', 'next'],
    ]),
  )
  const take = await service.db.answerAttempt.findFirstOrThrow({ where: { organizationId: organization.id } })
  expect(take.text).toBe('2 * 3 * 4 [A red kite]')
})

it.each([
  [
    'without a description',
    png(),
    { pictureAlt: '' },
    'Describe the picture or mark it as decorative, and choose the file again.',
  ],
  [
    'that is an SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    {},
    'This file is not a whole picture. Choose a PNG, JPEG, WebP or GIF.',
  ],
  ['of more than 5 MB', Buffer.alloc(5_000_001), {}, 'A picture can have at most 5 MB. Make it smaller first.'],
  ['that is too wide', png(8_001, 1), {}, 'A picture can be at most 8,000 pixels wide and high. Make it smaller first.'],
  [
    'whose canvas is small, and whose frame is too wide',
    Buffer.from('4749463839610a000a000000002c00000000803e803e000202 4c0100 3b'.replaceAll(' ', ''), 'hex'),
    {},
    'A picture can be at most 8,000 pixels wide and high. Make it smaller first.',
  ],
  ['that is missing', undefined, {}, 'Choose the file of the picture.'],
])('rejects a picture %s, and keeps the typed text', async (_what, file, fields, mistake) => {
  const { organization, send } = await openForm()
  const answer = await send({ ...NEW, pictureAlt: 'A red kite', ...fields }, file)
  expect([answer.status, mistakesIn(answer)]).toEqual([422, [mistake]])
  expect(fieldsIn(answer).script).toBe('What is this?')
  expect(await service.db.asset.count({ where: { organizationId: organization.id } })).toBe(0)
})

it('omits the description of a decorative picture, and stores it once', async () => {
  const { add, begin, organization } = await openForm()
  const id = await add({ pictureAlt: '', decorative: 'yes' })
  expect(await add()).toBe(id)
  const candidate = await begin()
  await candidate.press('open', { number: '1' })
  expect((await candidate.open()).text).toContain(`pictures/${id}" alt="" width`)
  expect(await service.db.asset.count({ where: { organizationId: organization.id } })).toBe(1)
})

it('adds one question when its form is sent twice at once, and another with another picture', async () => {
  const { assessment, send } = await openForm()
  const form = { ...NEW, pictureAlt: 'A red kite', once: service.deps.newId() }
  const answers = await Promise.all([send(form, png()), send(form, png())])
  const count = () => service.db.question.count({ where: { assessmentId: assessment.id } })
  expect([answers.map(({ status }) => status), await count()]).toEqual([[303, 303], 1])
  expect((await send(form, png(8, 8))).status).toBe(303)
  expect(await count()).toBe(2)
})

it('rejects at its field a formatted text with too many marks', async () => {
  const { send } = await openForm()
  const script = '**a*'.repeat(400)
  const answer = await send({ ...NEW, script })
  expect([answer.status, mistakesIn(answer)[0]]).toEqual([422, expect.stringContaining('at most 1,000 of the characters')])
  expect((await send({ ...NEW, script, scriptFormat: 'plain' })).status).toBe(303)
})
