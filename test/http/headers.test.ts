import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { candidateOf } from '../support/candidate.ts'
import { type Service, startService, startServiceForTest } from '../support/service.ts'

let service: Service
let origin: string
beforeAll(async () => {
  service = await startService()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service.close())

const newId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

it('sends the security headers with every response', async () => {
  const { key } = await service.make.organization()
  const answers = [
    service.v1(key).get('/tags'),
    service.v1('none').get('/tags'),
    service.http().get('/nowhere'),
    service.http().get('/healthz'),
  ]
  for (const answer of answers)
    expect((await answer).headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'x-download-options': 'noopen',
      'x-frame-options': 'SAMEORIGIN',
      'x-permitted-cross-domain-policies': 'none',
      'x-xss-protection': '0',
    })
})

describe('the X-Request-Id header', () => {
  it.each(['a', 'retry-1_of.2', 'x'.repeat(64), '-', '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71'])(
    'is taken from the client if it is harmless: %s',
    async (id) => {
      const { key } = await service.make.organization()
      expect((await service.v1(key).get('/tags').set('X-Request-Id', id)).headers['x-request-id']).toBe(id)
    },
  )

  it.each(['', 'x'.repeat(65), 'two words', 'a/b', '<script>', '"', 'é', 'a,b', '%0d%0a'])(
    "is generated if the client's is not harmless: %j",
    async (id) => {
      const { key } = await service.make.organization()
      expect((await service.v1(key).get('/tags').set('X-Request-Id', id)).headers['x-request-id']).toMatch(newId)
    },
  )

  it('differs between requests that send none', async () => {
    const ids = [await service.http().get('/healthz'), await service.http().get('/healthz')].map(
      ({ headers }) => headers['x-request-id'],
    )
    expect(ids).toEqual([expect.stringMatching(newId), expect.stringMatching(newId)])
    expect(ids[0]).not.toBe(ids[1])
  })

  it('is in every response and its log line', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const candidate = candidateOf(service, await service.make.invite(await service.make.assessment(organizationId)))
    const requests = {
      'of-v1': service.v1(key).get('/tags'),
      'of-v1-400': service.v1(key).get('/tags?page=0'),
      'of-v1-401': service.v1('none').get('/tags'),
      'of-v1-404': service.v1(key).get('/nowhere'),
      'of-v1-409': service
        .v1(key)
        .post(`/invites/${(await service.db.invite.findFirstOrThrow({ where: { organizationId } })).id}/reactivate`),
      'of-alternate': service.alternate(key).get('/tags'),
      'of-alternate-405': service.alternate(key).delete('/tags'),
      'of-candidate': candidate.open(),
      'of-candidate-404': service.http().get('/i/unknown'),
      'of-a-form': candidate.press('accept'),
      'of-a-player': service.http().post('/player/sessions/x/complete'),
      'of-a-malformed-address': service.http().get('/api/v1/%zz'),
      'of-nothing': service.http().get('/nowhere'),
    }
    for (const [id, request] of Object.entries(requests)) {
      expect((await request.set('X-Request-Id', id)).headers['x-request-id']).toBe(id)
    }
    const logged = service.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    for (const id of Object.keys(requests)) {
      expect(logged.filter(({ reqId }) => reqId === id)).toMatchObject([{ status: expect.any(Number), ms: expect.any(Number) }])
    }
    const ofV1 = logged.find(({ reqId }) => reqId === 'of-v1')
    expect(ofV1).toMatchObject({ method: 'GET', route: '/api/v1/tags', status: 200, organizationId })
  })

  it('is logged without keys, links, addresses, and search terms', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(organizationId))
    const candidate = candidateOf(service, invite)
    await candidate.open()
    await candidate.press('accept')
    await service.alternate(key).get(`/assessment_invites?search=${invite.recipientEmail}`)
    const log = service.logLines.join()
    for (const secret of [
      key,
      candidate.token,
      candidate.proof,
      invite.recipientEmail,
      encodeURIComponent(invite.recipientEmail),
    ])
      expect(log).not.toContain(secret)
  })
})

describe('the RateLimit headers', () => {
  it('count down across both interfaces in every response to a known key', async () => {
    const limited = await startServiceForTest({ RATE_LIMIT_STANDARD: '6' })
    const { key } = await limited.make.organization()
    const [v1, alternate] = [limited.v1(key), limited.alternate(key)]
    const requests = [
      () => v1.get('/tags'),
      () => alternate.get('/tags'),
      () => v1.get('/invites/none'),
      () => alternate.post('/assessment_invites').send({}),
      () => v1.get('/nowhere'),
      () => alternate.delete('/tags'),
    ]
    const statuses: number[] = []
    for (const [nth, send] of requests.entries()) {
      const { status, headers } = await send()
      statuses.push(status)
      expect([headers['ratelimit-limit'], headers['ratelimit-remaining']]).toEqual(['6', String(5 - nth)])
      expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(0)
      expect(Number(headers['ratelimit-reset'])).toBeLessThanOrEqual(60)
      expect(headers).not.toHaveProperty('retry-after')
    }
    expect(statuses).toEqual([200, 200, 404, 400, 404, 405])
    for (const client of [v1, alternate]) {
      const { status, headers } = await client.get('/tags')
      expect([status, headers['ratelimit-remaining'], headers['retry-after']]).toEqual([429, '0', headers['ratelimit-reset']])
    }
  })

  it('are not sent to unknown keys or candidates', async () => {
    for (const answer of [await service.v1('none').get('/tags'), await service.http().get('/i/unknown')]) {
      expect(Object.keys(answer.headers).filter((name) => /^ratelimit|^retry-after/.test(name))).toEqual([])
    }
  })
})

/** Maps the relations of a Link header to their URLs. */
const relationsOf = (link: string | undefined) =>
  Object.fromEntries(
    [...(link ?? '').matchAll(/<([^<>]+)>; rel="(\w+)"(?:, |$)/g)].map(([, address, relation]) => [relation, address]),
  )

describe('the Link header on the lists of v1', () => {
  const names = ['assessments', 'members', 'invites', 'tags'] as const

  it.each(names)('leads through all pages of /%s, and keeps other parameters', async (name) => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const makeOne = {
      assessments: () => service.make.assessment(id),
      members: () => service.make.member(id),
      invites: () => service.make.invite(assessment),
      tags: () => service.make.tag(id),
    }[name]
    for (let i = name === 'assessments' ? 1 : 0; i < 5; i++) await makeOne()
    const page = (number: number) => `${origin}/api/v1/${name}?limit=2&order=asc&page=${number}&x=a+%26+b`
    const expected = [
      { first: page(1), next: page(2), last: page(3) },
      { first: page(1), prev: page(1), next: page(3), last: page(3) },
      { first: page(1), prev: page(2), last: page(3) },
    ]
    let next: string | undefined = `${origin}/api/v1/${name}?x=a%20%26%20b&order=asc&limit=2`
    const seen: string[] = []
    for (const relations of expected) {
      const { headers, body } = await service.v1(key).get(next!.slice(`${origin}/api/v1`.length))
      expect(relationsOf(headers.link)).toEqual(relations)
      seen.push(...body[name].map((item: { id: string }) => item.id))
      next = relations.next
    }
    expect([seen.length, new Set(seen).size]).toEqual([5, 5])
  })

  it('leads through the questions of an assessment and the mails of an invite', async () => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const invite = await service.make.invite(assessment)
    for (let i = 0; i < 2; i++) {
      await service.make.question(assessment)
      await service.v1(key).post(`/invites/${invite.id}/resend`)
    }
    for (const path of [`/assessments/${assessment.id}/questions`, `/invites/${invite.id}/emails`]) {
      const page = (number: number) => `${origin}/api/v1${path}?limit=1&page=${number}`
      const { headers } = await service.v1(key).get(`${path}?limit=1`)
      expect(relationsOf(headers.link)).toEqual({ first: page(1), next: page(2), last: page(2) })
    }
  })

  it('leads back from beyond the last page, and has one page for an empty list', async () => {
    const { id, key } = await service.make.organization()
    const page = (number: number) => `${origin}/api/v1/tags?page=${number}`
    expect(relationsOf((await service.v1(key).get('/tags')).headers.link)).toEqual({ first: page(1), last: page(1) })
    await service.make.tag(id)
    const { headers } = await service.v1(key).get('/tags?page=9')
    expect(relationsOf(headers.link)).toEqual({ first: page(1), prev: page(1), last: page(1) })
  })

  it('keeps filters, and uses the origin of the request', async () => {
    const proxied = await startServiceForTest({ TRUST_PROXY: 'true', PUBLIC_HOSTS: 'assess.example.org' })
    const { id, key } = await proxied.make.organization()
    const assessment = await proxied.make.assessment(id)
    for (let i = 0; i < 2; i++) await proxied.make.invite(assessment)
    const query = `assessmentId=${assessment.id}&limit=1`
    const through = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'assess.example.org', 'X-Forwarded-For': '192.0.2.1' }
    const { headers } = await proxied.v1(key).get(`/invites?${query}&status=pending`).set(through)
    expect(relationsOf(headers.link).next).toBe(`https://assess.example.org/api/v1/invites?${query}&page=2&status=pending`)
  })

  it('is omitted if a long query would make it too long', async () => {
    const { key } = await service.make.organization()
    const list = async (length: number) => (await service.v1(key).get(`/tags?x=${'a'.repeat(length)}`)).headers
    expect(relationsOf((await list(1_000)).link)).toHaveProperty('last')
    expect(await list(14_000)).not.toHaveProperty('link')
  })

  it("escapes the client's input", async () => {
    const { key } = await service.make.organization()
    const { headers } = await service.v1(key).get('/tags?x=%3E%3B%20rel%3D%22evil%22%2C%20%3Chttps%3A%2F%2Fevil.example%3E&%3E=1')
    expect(Object.keys(relationsOf(headers.link))).toEqual(['first', 'last'])
    expect(headers.link!.match(/[<>]/g)).toHaveLength(4)
  })

  it('is not sent with errors or single resources', async () => {
    const { id, key } = await service.make.organization()
    const tag = await service.make.tag(id)
    for (const path of ['/tags?page=0', `/tags/${tag.id}`])
      expect((await service.v1(key).get(path)).headers.link ?? '').not.toMatch(/rel="(first|prev|next|last)"/)
  })
})

describe('the Link header to a duplicate invite', () => {
  it.each(['pending', 'expired', 'revoked', 'completed'] as const)(
    'leads to the invite in both interfaces, even if it is %s',
    async (status) => {
      const { id, key } = await service.make.organization()
      const invite = await service.make.invite(await service.make.assessment(id), { status })
      const refused = await service
        .v1(key)
        .post('/invites')
        .send({ assessmentId: invite.assessmentId, recipientEmail: invite.recipientEmail.toUpperCase() })
      expect([refused.status, refused.body]).toEqual([409, { error: 'An invite for this email and assessment already exists' }])
      expect(relationsOf(refused.headers.link)).toMatchObject({ existing: `${origin}/api/v1/invites/${invite.id}` })
      const found = await service.v1(key).get(`/invites/${invite.id}`)
      expect([found.status, found.body.status]).toEqual([200, status])

      const body = {
        ...{ email: invite.recipientEmail, assessment: invite.assessmentId, question_play_limit: 1, answer_record_limit: 1 },
        ...{ tags: [], face_photo_required: true, id_photo_required: true, assigned_grader: null },
      }
      for (const path of ['/assessment_invites', `/organizations/${id}/assessment_invites`]) {
        const answer = await service.alternate(key).post(path).send(body)
        // In the alternate interface a duplicate is a 400, see alternate-behaviour.md.
        expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['non_field_errors']])
        const { existing } = relationsOf(answer.headers.link)
        expect(existing).toBe(`${origin}/api/alternate/assessment_invites/${invite.id}`)
        const { pathname } = new URL(existing!)
        expect((await service.http().get(pathname).set('X-SERVICE-DOCS-API-KEY', key)).body).toMatchObject({
          id: invite.id,
          status,
        })
      }
    },
  )
})

describe('the Location header', () => {
  const bodies = (assessment: { id: string }) => ({
    invite: { assessmentId: assessment.id, recipientEmail: 'candidate@example.com' },
    alternateInvite: {
      ...{ email: 'other@example.com', assessment: assessment.id, question_play_limit: 1, answer_record_limit: 1 },
      ...{ tags: [], face_photo_required: true, id_photo_required: true, assigned_grader: null },
    },
  })

  it('is the URL of the created resource in its interface, even for a retry', async () => {
    const { id, key } = await service.make.organization()
    const { invite, alternateInvite } = bodies(await service.make.assessment(id))
    const requests = [
      () => service.v1(key).post('/tags').send({ name: 'A' }),
      () => service.v1(key).post('/invites').send(invite),
      () => service.alternate(key).post('/assessment_invites').send(alternateInvite),
      () =>
        service
          .alternate(key)
          .post(`/organizations/${id}/assessment_invites`)
          .send({ ...alternateInvite, email: 'a@example.com' }),
    ]
    for (const [nth, send] of requests.entries()) {
      const first = await send().set('Idempotency-Key', `k${nth}`)
      const { location } = first.headers
      expect([first.status, location]).toEqual([201, expect.stringMatching(`^${origin}/api/(v1|alternate)/`)])
      const headers = { 'x-api-key': key, 'x-service-docs-api-key': key }
      const found = (await service.http().get(new URL(location!).pathname).set(headers)).body
      const created = first.body.tag ?? first.body.invite ?? first.body
      expect([found.tag?.id ?? found.id, found.error]).toEqual([created.id, undefined])
      const retry = await send().set('Idempotency-Key', `k${nth}`)
      expect([retry.headers['idempotent-replayed'], retry.headers.location]).toEqual(['true', location])
    }
  })

  it('is sent without an Idempotency-Key, with the origin of the request', async () => {
    const proxied = await startServiceForTest({ TRUST_PROXY: 'true', PUBLIC_HOSTS: 'assess.example.org' })
    const { key } = await proxied.make.organization()
    const through = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'assess.example.org', 'X-Forwarded-For': '192.0.2.1' }
    const { headers, body } = await proxied.v1(key).post('/tags').set(through).send({ name: 'A' })
    expect(headers.location).toBe(`https://assess.example.org/api/v1/tags/${body.tag.id}`)
  })

  it('is computed before the work: an invalid Host creates nothing', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const refused = await service.v1(key).post('/tags').set('Host', 'a b').send({ name: 'A' })
    expect([refused.status, refused.headers['x-error-code']]).toEqual([400, 'malformed_request'])
    expect(await service.db.tag.count({ where: { organizationId } })).toBe(0)
  })

  it('is not sent if nothing was created', async () => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id))
    for (const path of [`/invites/${invite.id}/resend`, '/tags'])
      expect((await service.v1(key).post(path).send({})).headers).not.toHaveProperty('location')
  })
})
