import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { MAX_PROMPT_BYTES, MAX_SMALL_PARTS, SMALL_PART_BYTES } from '../../../../src/domain/limits.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../../support/candidate.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { openTab } from '../../../support/taking.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const slice = (number: number) => readFile(new URL(`../../../media/fixtures/audio.${number}`, import.meta.url))
const FILE = Buffer.concat([await slice(0), await slice(1), await slice(2)])
const OWN = { 'sec-fetch-site': 'same-origin' }

/** Creates an admin, and functions that send what a question's page script sends. */
async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const base = `${admin.home}question-media`
  const send = (path: string, content: Buffer) =>
    service
      .http()
      .post(`${base}/${path}`)
      .set({ ...OWN, cookie: admin.cookie()!, 'content-type': 'application/octet-stream' })
      .send(content)
  /** Uploads an audio file. @returns its id, once it is ready. */
  const upload = async () => {
    const { body } = await admin.post(base, { kind: 'audio' })
    const slices = [FILE.subarray(0, 1_500), FILE.subarray(1_500)]
    for (const [number, slice] of slices.entries()) expect((await send(`${body.id}/parts/0/${number}`, slice)).status).toBe(200)
    expect((await send(`${body.id}/parts/0/1`, slices[1]!)).status).toBe(200) // the same slice again
    await admin.post(`${base}/${body.id}/complete`, { segments: '2' })
    await waitUntil(
      'the audio to be ready',
      async () => (await admin.get(`${base}/${body.id}`)).body.state === 'ready' || undefined,
    )
    expect(body.address).toBe(`/api/v1/question-media/${body.id}`)
    return body.id as string
  }
  return { ...admin, organization, base, send, upload }
}

/** Opens a question that plays the file, as a candidate with their tab. */
async function begin(of: Awaited<ReturnType<typeof setUp>>, id: string, plays = 2) {
  const assessment = await service.make.assessment(of.organization.id)
  const fields = { inputType: 'audio', responseType: 'text', audioUrl: `https://service.example/api/v1/question-media/${id}` }
  const answer = await of.post(`${of.home}assessments/${assessment.id}/questions`, fields)
  expect([answer.status, mistakesIn(answer)]).toEqual([303, []])
  const invite = await service.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS, questionReplayLimit: plays })
  const candidate = candidateOf(service, invite)
  await consent(candidate)
  await candidate.press('start')
  await candidate.press('open', { number: '1' })
  const tab = await openTab(service, candidate)
  const grant = async (of = tab) => (await candidate.session('post', '/questions/1/plays', { tab: of, body: {} })).body
  const play = (link: string, kind = 'audio') => candidate.session('get', `/plays/${link}/${kind}`)
  return { assessment, candidate, tab, grant, play }
}

it('uploads a file in slices, joins it, and serves it by ranges at a permanent address', async () => {
  const of = await setUp()
  const id = await of.upload()
  const { assessment } = await begin(of, id)
  const { body } = await service.v1(of.organization.key).get(`/assessments/${assessment.id}/questions`)
  expect(body.questions[0].audioUrl).toBe(`/api/v1/question-media/${id}`)
  const part = await service.v1(of.organization.key).get(`/question-media/${id}`).set('range', 'bytes=0-3')
  expect([part.status, part.headers['content-type'], part.body.length]).toEqual([
    206,
    expect.stringMatching(/^(audio|video)\/webm$/),
    4,
  ])
  const other = await service.make.organization()
  expect((await service.v1(other.key).get(`/question-media/${id}`)).status).toBe(404)
})

it('plays a file once per granted link, within its time, and only in the tab that requested it', async () => {
  const of = await setUp()
  const { candidate, grant, play, tab } = await begin(of, await of.upload())
  expect((await candidate.open()).text).not.toContain('question-media')
  const first = await grant()
  expect(first).toMatchObject({ playsLeft: 1, link: expect.any(String) })
  expect(await grant()).toMatchObject({ playsLeft: 1 }) // nothing was played yet
  const answer = await play(first.link)
  expect([answer.status, answer.headers['cache-control'], answer.headers['x-content-type-options']]).toEqual([
    200,
    'private, no-store',
    'nosniff',
  ])
  expect(answer.body.length).toBe(Number(answer.headers['content-length']))
  expect((await play(first.link)).status).toBe(403) // the second time
  expect((await candidate.session('get', `/plays/${first.link}/audio`).set('range', 'bytes=1-')).status).toBe(403)
  const late = await grant()
  service.clock.advance(10 * 60_000)
  expect((await play(late.link)).status).toBe(403)
  const again = await grant()
  expect(again.playsLeft).toBe(0)
  const other = await openTab(service, candidate)
  expect((await play(again.link)).status).toBe(403) // the tab was replaced by another
  const last = await grant(other)
  expect((await play(last.link)).status).toBe(200)
  expect(await grant(other)).toMatchObject({ code: 'no_plays_left' })
  expect(tab).not.toBe(other)
})

/** Runs a function before the media store opens the next file. */
function beforeOpening(wait: () => Promise<void>) {
  const { media } = service.deps
  const { get } = media
  const opened: Readable[] = []
  media.get = async (...of) => {
    media.get = get
    await wait()
    const content = await get.apply(media, of)
    if (content) opened.push(content)
    return content
  }
  return opened
}

it('does not count a play that sent nothing because the store was unavailable', async () => {
  const of = await setUp()
  const { grant, play } = await begin(of, await of.upload(), 1)
  const { link } = await grant()
  beforeOpening(() => Promise.reject(new Error('The store is away')))
  expect((await play(link)).status).toBe(500)
  const answer = await play(link)
  expect([answer.status, answer.headers['x-accel-buffering']]).toEqual([200, 'no'])
  expect(await grant()).toMatchObject({ code: 'no_plays_left' })
})

it('does not count a play that the candidate canceled while it was opened, and closes its stream', async () => {
  const of = await setUp()
  const { grant, play } = await begin(of, await of.upload(), 1)
  const { link } = await grant()
  const closed = once(service.app.server, 'request').then(([, answer]) => once(answer, 'close'))
  const leaving = play(link)
  const opened = beforeOpening(async () => {
    leaving.abort()
    await closed
  })
  await expect(leaving).rejects.toThrow('Aborted')
  const given = await waitUntil('the play to be given back', async () => {
    const answer = await play(link)
    return answer.status === 200 ? answer : undefined
  })
  expect([opened.map(({ destroyed }) => destroyed), given.body.length > 0]).toEqual([[true], true])
})

it('serves no file to other candidates, nor for a closed question', async () => {
  const of = await setUp()
  const id = await of.upload()
  const [one, two] = [await begin(of, id), await begin(of, id)]
  const { link } = await one.grant()
  expect((await two.play(link)).status).toBe(403)
  expect((await one.play(`${link.slice(0, -2)}AA`)).status).toBe(403)
  expect((await service.http().get(`${one.candidate.path}/pictures/${id}`)).status).toBe(404)
  await one.candidate.press('next', { number: '1' })
  expect((await one.play(link)).status).toBe(403)
})

it('rejects a file that is invalid, incomplete, or differs from its hash', async () => {
  const { base, post, send } = await setUp()
  const { body } = await post(base, { kind: 'video' })
  const page = await send(`${body.id}/parts/0/0`, Buffer.from('<!doctype html><script>alert(1)</script>'))
  expect([page.status, page.body.mistakes]).toEqual([
    422,
    ['This is no WebM or MP4 (.webm, .mp4, .m4a). Save it as one of these first.'],
  ])
  await send(`${body.id}/parts/0/0`, FILE.subarray(0, 1_500))
  expect((await send(`${body.id}/parts/0/0`, FILE.subarray(0, 1_600))).status).toBe(422)
  expect((await post(`${base}/${body.id}/complete`, { segments: '2' })).status).toBe(422)
  expect((await send(`${body.id}/parts/0/1`, Buffer.alloc(900_001))).status).toBe(413)
  expect((await post(base, { kind: 'image' })).status).toBe(422)
})

/** Number of the organization's stored files. */
async function countFiles(organizationId: string) {
  let files = 0
  for await (const some of service.deps.media.list())
    files += some.filter(({ key }) => key.startsWith(`${organizationId}/`)).length
  return files
}

it('leaves nothing in the store when a slice is rejected', async () => {
  const { base, organization, post, send } = await setUp()
  const begin = async (): Promise<string> => (await post(base, { kind: 'audio' })).body.id
  const change = (id: string, data: { bytes: number } | { state: string }) =>
    service.db.asset.updateMany({ where: { organizationId: organization.id, id }, data })
  const [ended, full, small] = [await begin(), await begin(), await begin()]
  await change(ended, { state: 'failed' })
  for (const id of [full, small]) expect((await send(`${id}/parts/0/0`, FILE.subarray(0, 1_500))).status).toBe(200)
  await change(full, { bytes: MAX_PROMPT_BYTES - 10 })
  await service.db.$executeRaw`
    INSERT INTO asset_parts (organization_id, asset_id, segment, number, bytes, sha256, created_at)
    SELECT ${organization.id}::uuid, ${small}::uuid, 1, n, 1, '\\x00', now() FROM generate_series(1, ${MAX_SMALL_PARTS}::int) n`
  const before = await countFiles(organization.id)
  const MANY = 'These are too many parts. Begin again, with larger ones.'
  const refused: [string, Buffer, string][] = [
    [`${ended}/parts/5/1`, Buffer.alloc(9_000), 'This was ended already.'],
    [`${full}/parts/0/1`, Buffer.alloc(11), 'An audio or video can have at most 100 MB.'],
    [`${full}/parts/0/0`, FILE.subarray(0, 1_600), 'This part was sent before, with another content. Begin again.'],
    [`${small}/parts/0/1`, Buffer.from('x'), MANY],
  ]
  for (const [path, content, mistake] of refused) {
    const answer = await send(path, content)
    expect([answer.status, answer.body.mistakes]).toEqual([422, [mistake]])
  }
  expect((await send(`${full}/parts/0/1`, Buffer.alloc(0))).status).toBe(422)
  expect(await countFiles(organization.id)).toBe(before)
  expect((await send(`${full}/parts/0/0`, FILE.subarray(0, 1_500))).status).toBe(200) // the same slice again
  expect((await send(`${small}/parts/0/1`, Buffer.alloc(SMALL_PART_BYTES))).status).toBe(200)
  await change(small, { bytes: service.deps.mediaQuota })
  expect((await send(`${full}/parts/0/1`, Buffer.from('x'))).body.mistakes).toEqual([
    'There is no space for more media. Ask the operator of this service.',
  ])
  expect(await countFiles(organization.id)).toBe(before + 1)
})
