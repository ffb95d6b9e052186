import { describe, expect, it } from 'vitest'
import { openArchivedMedia, readArchivedSubmission } from '../../../src/domain/archives/candidate-data.ts'
import { MAX_FILE_BYTES, MAX_FILE_UPLOADS, MAX_PART_BYTES, UPLOAD_GRACE_SECONDS } from '../../../src/domain/limits.ts'
import { retryFailedRecordings } from '../../../src/domain/submissions/media/retry-failed-recordings.ts'
import { settleOverdueRecordings } from '../../../src/domain/submissions/media/settle-recordings.ts'
import { completeDueSubmissions } from '../../../src/domain/submissions/taking/complete-due-submissions.ts'
import { makeTakingFiles, sha256Of } from '../../support/answer-files.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })
const DOCUMENTS = { groups: ['document'], most: 2 }
const pdf = (length: number) => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(length - 9, 'a')])

describe('files as an answer', () => {
  it('arrive in parts, are listed by name, and are downloads with the same bytes', async () => {
    const { send, join, answer, organization, invite, post } = await makeTakingFiles(service, DOCUMENTS)
    const content = pdf(MAX_PART_BYTES + 100)
    const name = `../"a'b;\u202e.pdf\r\n<b>`
    const mediaId = await send(name, content)
    const cleanName = `../"a'b;.pdf <b>`
    const stored = { id: mediaId, name: cleanName, bytes: content.length, type: 'application/pdf' }
    expect(await answer()).toMatchObject({ kind: 'text', text: `${cleanName} (900 kB)`, value: [stored] })
    const admin = await signInAs(service, organization.id, ['admin'])
    const address = `${admin.home}media/${mediaId}`
    expect((await admin.get(address)).status).toBe(404)
    expect(await join(mediaId)).toBe('ready')
    const download = await admin
      .get(address)
      .buffer(true)
      .parse((response, done) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => done(null, Buffer.concat(chunks)))
      })
    expect(sha256Of(download.body)).toBe(sha256Of(content))
    expect(download.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="answer.pdf"; filename*=UTF-8''..%2F%22a%27b%3B.pdf%20%3Cb%3E.pdf`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    await post('questions/1/files', { name: 'unfinished.txt', bytes: 5, parts: 1 })
    const page = (await admin.get(`${admin.home}invites/${invite.id}/submission`)).text
    expect(page).toContain('../&quot;a&#39;b;')
    expect(page).not.toContain('<b>')
    expect(page).not.toContain('unfinished.txt')
  })

  it('are in API v1 as files with the media of a recording, and in the candidate’s archive', async () => {
    const { send, join, organization, invite, ctx, submission } = await makeTakingFiles(service, DOCUMENTS)
    const ids = [await send('a.pdf', pdf(20)), await send('b.txt', Buffer.from('text'))]
    await join(ids[0]!)
    const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
    const [{ answer }] = body.questions
    expect(answer).toMatchObject({ kind: 'text', text: 'a.pdf (1 kB)\nb.txt (1 kB)', media: null, mediaState: null })
    expect(answer.files).toEqual([
      { name: 'a.pdf', mediaState: 'ready', media: expect.objectContaining({ contentType: 'application/pdf', bytes: 20 }) },
      { name: 'b.txt', mediaState: 'pending', media: null },
    ])
    const linked = await service.http().get(new URL(answer.files[0].media.url).pathname)
    expect(linked.headers['content-disposition']).toMatch(/^attachment;/)
    const archived = await readArchivedSubmission(ctx, (await submission()).id)
    expect(archived!.paper[0]!.attempts[0]!.files.map(({ fileName }) => fileName)).toEqual(['a.pdf', 'b.txt'])
  })

  it.each([
    ['a program', 'cv.pdf', Buffer.from('MZ\x90\0\0', 'latin1')],
    ['a picture where documents are asked for', 'cv.pdf', Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1')],
  ])('are rejected by their content: %s', async (_, name, content) => {
    const { begin, putPart, answer } = await makeTakingFiles(service, DOCUMENTS)
    const { mediaId } = (await begin(name, content.length)).body
    const refused = await putPart(mediaId, 0, content)
    expect([refused.status, refused.body.code]).toEqual([422, 'wrong_type'])
    expect(await answer()).toMatchObject({ text: '', value: [] })
  })

  it.each(['<!doctype html><script>alert(1)</script>', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'])(
    'that could run scripts are sent as plain text, and only as downloads: %s',
    async (content) => {
      const { send, join, organization } = await makeTakingFiles(service, DOCUMENTS)
      const mediaId = await send('picture.png', Buffer.from(content))
      await join(mediaId)
      const admin = await signInAs(service, organization.id, ['admin'])
      const { headers } = await admin.get(`${admin.home}media/${mediaId}`)
      expect(headers['content-type']).toBe('text/plain')
      expect(headers['content-disposition']).toMatch(/^attachment; filename="answer.txt"; filename\*=UTF-8''picture.png.txt$/)
    },
  )

  it('are limited in number and size, and need a name and content', async () => {
    const { begin, send } = await makeTakingFiles(service, { groups: ['document'], most: 1 })
    const codeOf = async (name: string, bytes: number, parts?: number) => (await begin(name, bytes, parts)).body.code
    expect(await codeOf('big.pdf', MAX_FILE_BYTES + 1, 112)).toBe('too_big')
    expect(await codeOf('empty.pdf', 0, 1)).toBe('malformed_request')
    await send('\0', Buffer.from('text'))
    expect(await codeOf('second.pdf', 10)).toBe('too_many')
  })

  it('can be sent and removed again, up to a limit', async () => {
    const { begin, post, media } = await makeTakingFiles(service, DOCUMENTS)
    const { mediaId } = (await begin('a.txt', 5)).body
    const { id, key, ...row } = await media(mediaId)
    const newRow = () => ({
      ...row,
      levels: null,
      id: service.deps.newId(),
      key: service.deps.newId(),
      state: 'deleted' as const,
    })
    await service.db.mediaFile.createMany({ data: Array.from({ length: MAX_FILE_UPLOADS - 1 }, newRow) })
    await post(`media/${mediaId}/abandon`)
    expect((await begin('b.txt', 5)).body.code).toBe('too_many')
  })

  it('are part of the answer once complete, and until they are removed', async () => {
    const { begin, putPart, post, answer, send, media, session } = await makeTakingFiles(service, DOCUMENTS)
    const { mediaId } = (await begin('half.pdf', MAX_PART_BYTES + 1)).body
    await putPart(mediaId, 0, pdf(MAX_PART_BYTES))
    const { uploads } = (await service.http().get(session)).body
    expect(uploads).toEqual([expect.objectContaining({ mediaId, fileName: 'half.pdf', questionNumber: 1 })])
    for (const incomplete of [false, true]) {
      const refused = await post(`media/${mediaId}/complete`, { segments: [1], incomplete })
      expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ code: 'parts_missing', missing: [[0, 1]] })])
    }
    expect((await answer()).text).toBe('')
    const whole = await send('whole.pdf', pdf(30))
    expect((await answer()).text).toBe('whole.pdf (1 kB)')
    for (const id of [whole, mediaId]) expect((await post(`media/${id}/abandon`)).status).toBe(204)
    expect(await answer()).toMatchObject({ text: '', value: [] })
    expect((await media(whole)).state).toBe('deleted')
  })

  it('cannot be forged by sending a text or a form', async () => {
    const { candidate, answer, session, tab } = await makeTakingFiles(service, DOCUMENTS)
    const forged = [{ id: service.deps.newId(), name: 'forged.pdf', bytes: 1, type: 'application/pdf' }]
    const form = new URLSearchParams({ answer: JSON.stringify(forged) }).toString()
    const put = service.http().put(`${session}/questions/1/text`).set('x-tab', tab)
    expect((await put.send({ text: form, revision: 1 })).status).toBe(409)
    await candidate.press('answer', { number: '1', answer: JSON.stringify(forged) })
    expect(await answer()).toBeNull()
  })

  it('count if their upload began in time and is complete within the grace period', async () => {
    const taking = await makeTakingFiles(service, DOCUMENTS, { timeLimit: 60 })
    const { begin, putPart, post, submission, answer, media } = taking
    const { mediaId } = (await begin('late.pdf', 20)).body
    const half = (await begin('half.pdf', MAX_PART_BYTES + 1)).body.mediaId
    service.clock.advance(61_000)
    expect((await begin('too-late.pdf', 20)).body.code).toBe('closed')
    expect((await putPart(mediaId, 0, pdf(20))).status).toBe(204)
    expect((await putPart(half, 0, pdf(MAX_PART_BYTES))).status).toBe(204)
    expect((await post(`media/${mediaId}/complete`, { segments: [1] })).status).toBe(202)
    service.clock.advance(UPLOAD_GRACE_SECONDS * 1_000)
    await completeDueSubmissions(service.system)
    await settleOverdueRecordings(service.system)
    expect((await submission()).state).toBe('submitted')
    expect((await answer()).text).toBe('late.pdf (1 kB)')
    expect((await media(half)).state).toBe('deleted')
    expect((await submission()).needsGrading).toBe(true)
  })
})

describe('a scanned file', () => {
  it('is withheld until the scanner responds, and available once it is clean', async () => {
    const { send, join, media } = await makeTakingFiles(service, DOCUMENTS)
    const mediaId = await send('cv.pdf', pdf(20))
    await expect(join(mediaId, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect((await media(mediaId)).state).toBe('joining')
    expect(await join(mediaId, async () => null)).toBe('ready')
  })

  it('is available to nobody if it contains malware, and its grader is informed', async () => {
    const { send, join, organization, invite, ctx, submission } = await makeTakingFiles(service, DOCUMENTS)
    const mediaId = await send('cv.pdf', pdf(20))
    expect(await join(mediaId, async () => 'Test.Signature')).toBe('failed')
    const admin = await signInAs(service, organization.id, ['admin'])
    expect((await admin.get(`${admin.home}media/${mediaId}`)).status).toBe(404)
    const page = (await admin.get(`${admin.home}invites/${invite.id}/submission`)).text
    expect(page).toContain('this file contains malware (Test.Signature)')
    expect(page).not.toContain(`media/${mediaId}`)
    const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
    expect(body.questions[0].answer.files).toEqual([{ name: 'cv.pdf', media: null, mediaState: 'failed' }])
    const archived = await readArchivedSubmission(ctx, (await submission()).id)
    expect(archived!.media[0]!.threat).toBe('Test.Signature')
    expect(await retryFailedRecordings(service.system)).toBe(0)
    expect(await retryFailedRecordings(service.system, mediaId)).toBe(1)
  })

  it('is available to nobody if it could not be assembled, because nothing has scanned it', async () => {
    const { send, organization, invite, ctx, submission } = await makeTakingFiles(service, DOCUMENTS)
    const mediaId = await send('cv.pdf', pdf(20))
    await service.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'failed' } })
    const admin = await signInAs(service, organization.id, ['admin'])
    expect((await admin.get(`${admin.home}media/${mediaId}`)).status).toBe(404)
    const page = (await admin.get(`${admin.home}invites/${invite.id}/submission`)).text
    expect(page).toContain('this file could not be processed')
    expect(page).not.toContain(`media/${mediaId}`)
    const archived = await readArchivedSubmission(ctx, (await submission()).id)
    expect(await openArchivedMedia(ctx, archived!.media[0]!)).toBeNull()
    expect(await retryFailedRecordings(service.system)).toBe(1)
  })
})
