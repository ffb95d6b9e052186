import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { requestCandidateArchive } from '../../src/domain/archives/request-archive.ts'
import { eraseDueInvites } from '../../src/domain/erasure/erase-due-invites.ts'
import { STEMMED_LANGUAGES } from '../../src/domain/submissions/grading/search-transcripts.ts'
import { readSlices } from '../media/recordings.ts'
import { readArchive, textsOf } from '../support/archives.ts'
import { makeRecorded } from '../support/grading.ts'
import { once } from '../support/once.ts'
import { asOperator, signInAs } from '../support/portal.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
const recordings = { audio: await readSlices('audio'), video: await readSlices('video-0') }
/** In the transcript alone. */
const WORD = 'Zanzibar'
const SEGMENTS = [
  [400, 1_200, `To ${WORD} & back.`, 0],
  [1_200, 2_000, 'Perhaps <slowly>.', 1],
]

type Made = Awaited<ReturnType<typeof makeTranscribed>>
async function makeTranscribed() {
  const made = await makeRecorded(service, recordings)
  const media = await service.db.mediaFile.findFirstOrThrow({
    where: { submissionId: made.submissionId, contentType: { startsWith: 'audio/' } },
  })
  const [createdAt, text] = [service.clock.now(), SEGMENTS.map(([, , words]) => words).join('\n')]
  const row = { mediaId: media.id, organizationId: media.organizationId, createdAt, completedAt: createdAt }
  await service.db.transcript.create({
    data: { ...row, state: 'ready', language: 'en', model: 'whisper-test', text, segments: SEGMENTS },
  })
  return { ...made, mediaId: media.id }
}
let made: Made
beforeAll(async () => {
  made = await makeTranscribed()
})

/** A signed-in member, with or without the right. */
async function signIn(roles: string[], canViewTranscription: boolean, organizationId = made.organization.id) {
  const member = await signInAs(service, organizationId, roles)
  await service.db.member.update({ where: { id: member.member.id }, data: { canViewTranscription } })
  return member
}
const makeKey = async (scopes: string[] = []) => {
  const of = { organizationId: made.organization.id, name: service.make.unique('key'), mode: 'live' } as const
  return (await createApiKey(service.system, { ...of, scopes: scopes as never })).key
}
/** Pages below the member's home that show the recording, and what is about it. */
const pages = () => [
  `invites/${made.invite.id}/submission`,
  `grading/${made.submissionId}`,
  `invites/${made.invite.id}`,
  'grading',
  'results',
  'invites',
  '',
]
const searchPage = (words = WORD, { assessment } = made) =>
  `grading/assessments/${assessment.id}/search?${new URLSearchParams({ words })}`
const wordPages = () => [`media/${made.mediaId}/transcript.vtt`, `media/${made.mediaId}/transcript`]

describe('A member with the right', () => {
  it('reads the words beside the recording, marked as made by a machine', async () => {
    const admin = await signIn(['admin'], true)
    for (const page of pages().slice(0, 2)) {
      const { text } = await admin.get(admin.home + page)
      expect(text).toContain(`To ${WORD} &amp; back.`)
      expect(text).toContain('Made by a machine: it may have mistakes.')
      expect(text).toContain(`<track kind="captions" src="${admin.home}media/${made.mediaId}/transcript.vtt" srclang="en"`)
      expect(text).toMatch(/data-at="0.4">0:00</)
      expect(text).toMatch(/<span class="underline[^>]*>Perhaps &lt;slowly&gt;.</)
    }
  })

  it('gets captions', async () => {
    const admin = await signIn(['admin'], true)
    const { headers, text } = await admin.get(`${admin.home}${wordPages()[0]}`)
    expect(headers).toMatchObject({ 'content-type': 'text/vtt; charset=utf-8', 'cache-control': 'private, no-store' })
    expect(text).toBe(`WEBVTT

00:00:00.400 --> 00:00:01.200
To ${WORD} &amp; back.

00:00:01.200 --> 00:00:02.000
Perhaps &lt;slowly&gt;.
`)
  })

  it('of another organization finds nothing', async () => {
    const other = await service.make.organization()
    const stranger = await signIn(['admin'], true, other.id)
    for (const page of [...wordPages(), searchPage()]) expect((await stranger.get(stranger.home + page)).status).toBe(404)
  })

  it('who may not see the submission is refused', async () => {
    const assign = (assignedGraderId: string | null) =>
      service.db.invite.update({ where: { id: made.invite.id }, data: { assignedGraderId } })
    const { member: assigned } = await signIn(['grader'], true)
    await assign(assigned.id)
    const grader = await signIn(['grader'], true)
    for (const page of wordPages()) expect((await grader.get(grader.home + page)).status).toBe(404)
    expect((await grader.get(grader.home + searchPage())).text).toContain('No answers match')
    await assign(null)
    expect((await grader.get(grader.home + searchPage())).text).toContain(`To ${WORD} &amp; back.`)
    const client = await signIn(['client'], true)
    for (const page of [...wordPages(), searchPage()]) expect((await client.get(client.home + page)).status).toBe(404)
  })

  it('searches the answers of an assessment, and is led to the moment', async () => {
    const admin = await signIn(['admin'], true)
    for (const page of [`grading?assessment=${made.assessment.id}`, `assessments/${made.assessment.id}/results`])
      expect((await admin.get(admin.home + page)).text).toContain(`grading/assessments/${made.assessment.id}/search"`)
    for (const words of [WORD, 'zanzibar PERHAPS', 'perhaps, back'])
      expect((await admin.get(admin.home + searchPage(words))).text).toContain('Mei Tanaka, question 1')
    const { text } = await admin.get(admin.home + searchPage())
    expect(text).toContain(`href="${admin.home}grading/${made.submissionId}?at=0.4#question-1">0:00<`)
    expect(text).not.toContain('Perhaps') // another line
    // A manager has no grading view.
    const manager = await signIn([], true)
    await service.db.member.update({ where: { id: manager.member.id }, data: { portalRoles: ['manager'] } })
    const managed = (await manager.get(manager.home + searchPage())).text
    expect(managed).toContain(`href="${manager.home}invites/${made.invite.id}/submission?at=0.4#question-1-heading"`)
  })

  it.each([['Zanzi'], [`${WORD} Xylophone`], ['the'], ['&'], ['<'], ["'; --"]])('finds nothing by %s', async (words) => {
    const admin = await signIn(['admin'], true)
    const { status, text } = await admin.get(admin.home + searchPage(words))
    expect([status, text.includes('No answers match')]).toEqual([200, true])
  })

  it('is refused the search where candidates are graded blind, except as an admin', async () => {
    const blind = await makeTranscribed()
    await service.db.assessment.update({ where: { id: blind.assessment.id }, data: { blindGrading: true } })
    const [grader, admin] = [
      await signIn(['grader'], true, blind.organization.id),
      await signIn(['admin', 'grader'], true, blind.organization.id),
    ]
    expect((await grader.get(`${grader.home}grading/${blind.submissionId}`)).text).toContain(WORD)
    expect((await grader.get(grader.home + searchPage(WORD, blind))).status).toBe(404)
    expect((await grader.get(`${grader.home}grading?assessment=${blind.assessment.id}`)).text).not.toContain('/search"')
    expect((await admin.get(admin.home + searchPage(WORD, blind))).text).toContain(WORD)
  })
})

describe.each([['admin'], ['grader'], ['client']])('A member with the role %s and without the right', (role) => {
  it('finds no word, no line, and no length anywhere', async () => {
    const member = await signIn([role], false)
    for (const page of pages()) {
      const { text } = await member.get(member.home + page)
      expect(text).not.toContain(WORD)
      expect(text).not.toMatch(/data-transcript|<track|whisper-test/)
    }
    for (const page of wordPages()) expect((await member.get(member.home + page)).status).toBe(404)
    for (const words of [WORD, 'Xylophone', '']) {
      const searched = await member.get(member.home + searchPage(words))
      expect([searched.status, searched.text.match(/\d+ answers?|No answers match/)]).toEqual([404, null])
    }
    for (const page of [`grading?assessment=${made.assessment.id}`, `assessments/${made.assessment.id}/results`])
      expect((await member.get(member.home + page)).text).not.toContain('/search"')
    const tried = await member.post(`${member.home}media/${made.mediaId}/transcript`, { 'segment-0': 'Changed', seen: '' })
    expect([403, 404]).toContain(tried.status)
  })
})

it('keeps the words out of exports', async () => {
  const admin = await signIn(['admin'], true)
  for (const address of ['invites/export', `results/assessments/${made.assessment.id}/export`, 'results/export']) {
    const { status, text } = await admin.post(admin.home + address)
    expect(status).toBe(200)
    expect(text).not.toContain(WORD)
  }
})

describe('A search', () => {
  it('finds words without their endings in each language that has rules, and exact words in others', async () => {
    const source = await service.db.$queryRaw<{ prosrc: string }[]>`SELECT prosrc FROM pg_proc WHERE proname = 'transcript_words'`
    const codes = [...source[0]!.prosrc.matchAll(/WHEN '(\w\w)'/g)].map(([, code]) => code!)
    expect(codes).toEqual(STEMMED_LANGUAGES)
    const own = await makeTranscribed()
    const admin = await signIn(['admin'], true, own.organization.id)
    const isFound = async (words: string) =>
      (await admin.get(admin.home + searchPage(words, own))).text.includes('Mei Tanaka, question 1')
    for (const [language, said, asked, isExpected] of [
      ['en', 'They were listening.', 'listens', true],
      ['de', 'Sie hörten die Häuser.', 'haus', true],
      ['fr', 'Ils parlaient', 'parler', true],
      ['eu', 'Etxeak ikusi', 'etxeak', true],
      ['eu', 'Etxeak ikusi', 'etxea', false],
      ['', 'Unknown words', 'unknown', true],
      ['en', 'To Zanzibar <perhaps>.', 'perhaps', true],
      ['', 'Say <b>aloud</b>', '<b>aloud', true],
    ] as const) {
      await service.db.transcript.updateMany({
        where: { mediaId: own.mediaId },
        data: { language, text: said, segments: [[0, 1_000, said, 0]] },
      })
      expect([language, asked, await isFound(asked)]).toEqual([language, asked, isExpected])
    }
  })

  it.runIf(LONG)('takes less than 200 ms by its index among 10,000 recordings', async () => {
    const { own, admin } = await makeMany()
    for (const [words, count] of [
      ['Zanzibar', '1 answer'],
      ['rare12', '10 answers'],
      ['word3', '2,000 answers'],
    ] as const) {
      const page = () => admin.get(admin.home + searchPage(words, own))
      expect((await page()).text).toContain(count)
      const took = await measureMedian(page)
      process.stdout.write(`search for ${count}: ${took.toFixed(0)} ms\n`)
      expect(took).toBeLessThan(200)
    }
  })
})

const makeMany = once(async () => {
  const own = await makeTranscribed()
  await fillTranscripts(own)
  return { own, admin: await signIn(['admin'], true, own.organization.id) }
})

/** Milliseconds, of ten. */
async function measureMedian(request: () => PromiseLike<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 10; i++) {
    const began = performance.now()
    await request()
    times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)[5]!
}

describe.runIf(LONG)('Among 10,000 recordings with transcripts', () => {
  it.each([
    ['the grading queue', () => 'grading?queue=all'],
    ['the grading view', (submissionId: string) => `grading/${submissionId}`],
  ])('%s keeps its goal', async (name, path) => {
    const { own, admin } = await makeMany()
    const few = await signIn(['admin'], true)
    const amongMany = await measureMedian(() => admin.get(admin.home + path(own.submissionId)).expect(200))
    const amongFew = await measureMedian(() => few.get(few.home + path(made.submissionId)).expect(200))
    process.stdout.write(`${name}: ${amongMany.toFixed(0)} ms, among few ${amongFew.toFixed(0)} ms\n`)
    expect(amongMany).toBeLessThan(100) // docs/performance.md
    expect(amongMany).toBeLessThan(2 * amongFew)
  })
})

/** 10,000 candidates with a recording of 300 words each: `every` in all, `word0` to `word4` in 2,000 each, and `rare0` to `rare999` in 10 each. */
async function fillTranscripts({ invite, submissionId, mediaId }: Made): Promise<void> {
  const { db } = service
  /** Copies a row of a table for each candidate, with other values in some columns. */
  const copy = (table: string, where: string, changes: string) =>
    db.$executeRawUnsafe(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(whole, jsonb_build_object(${changes}))).* FROM ${table} AS whole, generate_series(1, 10000) AS n WHERE ${where}`,
    )
  const idOf = (kind: string) => `md5('${kind} ${submissionId} ' || n)::uuid`
  await copy('invites', `id = '${invite.id}'`, `'id', ${idOf('invite')}, 'recipient_email', n || '@example.com'`)
  const ofSubmission = `'submission_id', ${idOf('submission')}`
  await copy('submissions', `id = '${submissionId}'`, `'id', ${idOf('submission')}, 'invite_id', ${idOf('invite')}`)
  await copy('submission_questions', `submission_id = '${submissionId}' AND number = 1`, ofSubmission)
  await copy('media_files', `id = '${mediaId}'`, `'id', ${idOf('media')}, 'key', 'copy ' || ${idOf('media')}, ${ofSubmission}`)
  const ofAttempt = `'id', ${idOf('attempt')}, 'media_id', ${idOf('media')}, ${ofSubmission}`
  await copy('answer_attempts', `media_id = '${mediaId}'`, ofAttempt)
  const words = `concat_ws(' ', 'every', 'word' || n % 5, 'rare' || n % 1000)`
  const others = Array.from({ length: 36 }, (_, i) => [
    (i + 1) * 5_000,
    (i + 1) * 5_000 + 4_000,
    `The speaker says line ${i}.`,
    0,
  ])
  const text = `concat(${words}, '\n${others.map(([, , line]) => line).join('\n')}')`
  const lines = `jsonb_build_array(jsonb_build_array(0, 4000, ${words}, 0)) || '${JSON.stringify(others)}'::jsonb`
  await copy('transcripts', `media_id = '${mediaId}'`, `'media_id', ${idOf('media')}, 'text', ${text}, 'segments', ${lines}`)
  await db.$executeRaw`ANALYZE transcripts, media_files, submissions, invites, answer_attempts`
}

describe('An API key', () => {
  const path = () => `/invites/${made.invite.id}/submission/transcripts`

  it('with the scope reads the words', async () => {
    const { status, body } = await service.v1(await makeKey(['transcripts:read'])).get(path())
    expect([status, body]).toEqual([
      200,
      {
        transcripts: [
          {
            questionNumber: 1,
            state: 'ready',
            language: 'en',
            model: 'whisper-test',
            madeBy: 'machine',
            segments: [
              { startMs: 400, endMs: 1_200, text: `To ${WORD} & back.`, uncertain: false },
              { startMs: 1_200, endMs: 2_000, text: 'Perhaps <slowly>.', uncertain: true },
            ],
            correctedAt: null,
            completedAt: service.clock.now().toISOString(),
          },
        ],
      },
    ])
  })

  it('without it is refused, with any other scope and with none', async () => {
    for (const scopes of [[], ['results:read', 'results:write', 'invites:read', 'events:read', 'audit:read']]) {
      const key = await makeKey(scopes)
      const refused = await service.v1(key).get(path())
      expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'insufficient_scope'])
    }
  })

  it('gets the documented submission without the words, whatever its scopes', async () => {
    for (const scopes of [[], ['results:read', 'transcripts:read', 'events:read']]) {
      const client = service.v1(await makeKey(scopes))
      for (const documented of [`/invites/${made.invite.id}/submission`, '/submissions', '/events']) {
        const { status, text } = await client.get(documented)
        expect(status).toBe(200)
        expect(text).not.toMatch(/Zanzibar|transcript/i)
      }
    }
  })

  it('of an admin without the right can’t be given the scope', async () => {
    const [without, allowed] = [await signIn(['admin'], false), await signIn(['admin'], true)]
    expect((await without.get(`${without.home}settings/integrations`)).text).not.toContain('value="transcripts:read"')
    expect((await allowed.get(`${allowed.home}settings/integrations`)).text).toContain('value="transcripts:read"')
  })
})

it('shows candidates no words on their own pages', async () => {
  const { text } = await made.candidate.open()
  expect(text).not.toContain(WORD)
})

it('is in the archive of the candidate’s own data, whoever asks for it', async () => {
  const ctx = asOperator(service, made.organization)
  const { recipientEmail } = await made.stored()
  const { id } = await requestCandidateArchive(ctx, { address: recipientEmail })
  const texts = textsOf(await readArchive(ctx, id)).filter(([, text]) => text.includes(WORD))
  expect(texts.map(([name]) => name.split('.').at(-1)).sort()).toEqual(['html', 'json'])
  expect(texts.find(([name]) => name.endsWith('.html'))![1]).toContain('made by a machine')
})

it('is corrected by a grader: the original stays, and the audit log names who did it', async () => {
  const own = await makeTranscribed()
  const grader = await signIn(['grader'], true, own.organization.id)
  const address = `${grader.home}media/${own.mediaId}/transcript`
  expect((await grader.get(address)).text).toContain(`To ${WORD} &amp; back.`)
  const saved = await grader.post(address, { 'segment-0': 'To Zagreb & back.', 'segment-1': '', seen: '' })
  expect(saved.status).toBe(303)
  const row = await service.db.transcript.findFirstOrThrow({ where: { mediaId: own.mediaId } })
  expect(row).toMatchObject({ text: 'To Zagreb & back.', segments: [[400, 1_200, 'To Zagreb & back.', 0]], original: SEGMENTS })
  const [entry] = await service.db.auditEntry.findMany({
    where: { organizationId: own.organization.id, action: 'corrected_transcript' },
  })
  expect(entry).toMatchObject({ actorId: grader.member.id, targetId: own.invite.id, details: { count: 2 } })
  const late = await grader.post(address, { 'segment-0': 'Unseen', seen: '' })
  expect([late.status, late.text.includes('To Zagreb')]).toEqual([422, true])
  const page = (await grader.get(`${grader.home}grading/${own.submissionId}`)).text
  expect(page).toContain('Corrected by a grader')
})

it('is deleted with its recording by everything that deletes recordings', async () => {
  const own = await makeTranscribed()
  const admin = await signIn(['admin'], true, own.organization.id)
  await admin.post(`${admin.home}invites/${own.invite.id}/submission/delete`, { media: 'answers' })
  expect(await service.db.transcript.count({ where: { mediaId: own.mediaId } })).toBe(0)
  const other = await makeTranscribed()
  await service.db.organizationRetention.create({
    data: {
      ...{ organizationId: other.organization.id, completedDays: 1, beginsAt: new Date(0), nextAt: new Date(0) },
      updatedAt: new Date(0),
    },
  })
  service.clock.advance(40 * 86_400_000)
  await eraseDueInvites(service.system)
  expect(await service.db.transcript.count({ where: { mediaId: other.mediaId } })).toBe(0)
})

describe('The settings page', () => {
  it('says that no service is connected', async () => {
    const admin = await signIn(['admin'], false)
    expect((await admin.get(`${admin.home}settings/transcripts`)).text).toContain('no recording is sent anywhere')
    expect((await admin.post(`${admin.home}settings/transcripts`, { host: 'api.example.com' })).status).toBe(422)
  })
})
