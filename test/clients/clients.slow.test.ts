import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildClient } from '../../clients/typescript/build.ts'
import { createRowsToCall } from '../support/callable.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { waitForNumbering } from '../support/events.ts'
import { DAY_MS } from '../support/factories.ts'
import { type FieldSchema, type Operation, readInterface } from '../support/operations.ts'
import { fillBody, ownIdFor, type SampleOrganization } from '../support/sample-organization.ts'
import { type Service, startService } from '../support/service.ts'
import { PATIENT } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'
import { type Answer, type Call, generateClient, writeCall, writeOpening } from './generate-client.ts'

const interfaces = ['v1', 'alternate'] as const

let service: Service
let address: string
let folder: string
let compiled: string
beforeAll(async () => {
  service = await startService(TO_LOOPBACK)
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  // Inside node_modules, so that the generated code finds zod.
  await mkdir('node_modules/.cache', { recursive: true })
  folder = await mkdtemp(join(process.cwd(), 'node_modules/.cache/clients-'))
  for (const of of interfaces) {
    await mkdir(join(folder, of))
    await generateClient(`${address}/docs/${of}/openapi.json`, join(folder, of))
    await writeFile(join(folder, of, 'calls.ts'), await writeCalls(of))
  }
  compiled = await compile()
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await service.close()
})

/** Writes a program that calls every operation of a new organization. It exports the calls by name, in the order to run them. */
async function writeCalls(name: (typeof interfaces)[number]): Promise<string> {
  const { key, rowsFor } = await createRowsToCall(service, name)
  const calls = (await readInterface(service, name)).flatMap((operation) => {
    const rows = rowsFor(operation)
    return callsOf(operation, rows, rows.key === key ? undefined : rows.key)
  })
  const entries = calls.map(([title, one]) => `[${JSON.stringify(title)}, () => ${writeCall(one)}],`)
  return `${writeOpening(key)}\nexport const calls: [string, () => Promise<object>][] = [\n${entries.join('\n')}\n]\n`
}

/** Calls of an operation: first without optional parameters, then with each query parameter. */
function callsOf(operation: Operation, own: SampleOrganization, key?: string): [title: string, call: Call][] {
  const { id, method, path, parameters } = operation
  const pathParameters = [...path.matchAll(/([^/]+)\/\{(\w+)\}/g)].map(([, before, name]) => [name, ownIdFor(before!, own)])
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => [name, crypto.randomUUID()])
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const call: Call = {
    operationId: id,
    method: method.toUpperCase(),
    path,
    pathParameters: Object.fromEntries(pathParameters),
    query: query.length > 0 ? {} : undefined,
    headers: headers.length > 0 ? Object.fromEntries(headers) : undefined,
    body: bodyOf(operation, own),
    key,
  }
  const byParameter = query.map(({ name, schema }): [string, Call] => [
    `${id} by ${name}`,
    { ...call, query: { [name]: valueFor(name, schema, own) } },
  ])
  return [[id, call], ...byParameter]
}

/** The document's example body with existing ids, a new address, and an emoji in its texts. */
function bodyOf({ body, example }: Operation, own: SampleOrganization): object | undefined {
  if (!body || !example) return undefined
  const filled = fillBody(body, own)
  const value = (name: string, given: unknown) => {
    const { format, items, pattern, enum: words } = body[name]!
    if (format !== undefined || (items && !items.enum)) return filled[name]
    return typeof given === 'string' && !words && !pattern?.startsWith('^') ? `${given} 🎓` : given
  }
  return Object.fromEntries(Object.entries(example).map(([name, given]) => [name, value(name, given)]))
}

function valueFor(
  name: string,
  { type, format, pattern, enum: words, items, anyOf, minimum, maximum }: FieldSchema,
  own: SampleOrganization,
): unknown {
  if (anyOf) return valueFor(name, anyOf.at(-1)!, own)
  // The existing value comes first, because a server that reads only the last of repeated values would then find nothing.
  if (type === 'array') return items?.enum ?? [valueFor(name, items!, own), crypto.randomUUID()]
  if (words) return words.at(-1)
  if (type === 'integer') return maximum !== undefined && maximum <= 100 ? maximum : minimum
  if (type === 'boolean') return true
  if (format === 'uuid') return ownIdFor(name, own)
  if (format === 'email') return 'e@example.com'
  if (format === 'date-time') return new Date(0).toISOString()
  return pattern?.startsWith('^[0-9]') ? '0' : 'e'
}

/** Compiles all clients and their calls in strict mode. @returns the errors; empty if there are none. */
async function compile(): Promise<string> {
  const compilerOptions = {
    ...{ strict: true, noEmitOnError: true, skipLibCheck: true, rewriteRelativeImportExtensions: true, outDir: 'compiled' },
    ...{
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      types: ['node'],
    },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: interfaces }))
  const tsc = promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder])
  return tsc.then(
    () => '',
    ({ stdout }) => stdout,
  )
}

it("compiles in TypeScript's strict mode, with calls of every operation", () => {
  expect(compiled).toBe('')
})

/** Calls that must find rows: those without filters, and those whose filter has an existing value first. Recordings don't exist. */
const FINDS_SOMETHING = /^(?!listInvite(?:Notes|Transcripts)$)\w+$|by (depth|tags|type|answer_type)$/
const idOf = (title: string) => title.split(' ')[0]!
const listIn = (body: object | string) => Object.values(body).find(Array.isArray)

describe.each(interfaces)('the client of %s', (of) => {
  it('calls every operation with each parameter, and gets responses as documented', async () => {
    const program: { calls: [string, () => Promise<Answer>][] } = await import(join(folder, 'compiled', of, 'calls.js'))
    const operations = new Map((await readInterface(service, of)).map((operation) => [operation.id, operation]))
    const called = new Set(program.calls.map(([title]) => idOf(title)))
    expect([...called]).toEqual([...operations.keys()])
    for (const [title, call] of program.calls) {
      // Resending is limited, so the clock advances before each mail.
      if (/resend|reactivate/i.test(title)) service.clock.advance(DAY_MS)
      const { status, type, body } = await call()
      expect([title, status]).toEqual([title, expect.toBeOneOf([200, 201, 202])])
      const said = body instanceof Blob ? await body.text() : body
      expect(operations.get(idOf(title))!.findFault(status, said, type), title).toBeNull()
      if (FINDS_SOMETHING.test(title)) expect(listIn(body), title).not.toEqual([])
    }
  })
})

/** Operations of the published client that the tests call. The compilation checks their types. */
type PublishedOperation = (options?: object) => Promise<{ data: { [name: string]: never }; response: Response }>
type Published = {
  connect: (
    connection: object,
  ) => Record<'createInvite' | 'listInvites' | 'getTag' | 'deleteTag' | 'listEvents', PublishedOperation>
  everyItem: (readPage: (page: number) => ReturnType<PublishedOperation>) => AsyncIterable<{ id: string }>
  followEvents: (api: object, following: object) => AsyncIterable<{ events: { type: string }[]; cursor: string }>
  verifyWebhook: (request: object) => Promise<{ type: string }>
}

it('installs the TypeScript client from /docs without other packages, and calls the service', async () => {
  const { key } = await service.make.organization()
  const cwd = await makeDataDir()
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}')
  const file = `${address}/docs/clients/assessment-invitation-service-client.tgz`
  const registry = '--registry=http://127.0.0.1:1' // unreachable: nothing must be downloaded
  await promisify(execFile)('npm', ['install', registry, '--no-audit', '--no-fund', file], { cwd })
  const program = `import { connect } from 'assessment-invitation-service-client'
const { data } = await connect({ service: ${JSON.stringify(address)}, key: ${JSON.stringify(key)} }).listTags()
console.log(data.pagination.total)`
  await writeFile(join(cwd, 'program.js'), program)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.js'], { cwd })
  expect(stdout).toBe('0\n')
})

describe('the published client (clients/typescript)', () => {
  let client: Published
  let copy: string
  beforeAll(async () => {
    copy = join(folder, 'typescript')
    const isWritten = (file: string) => !/\/(dist|generated)$/.test(file)
    await cp('clients/typescript', copy, { recursive: true, filter: isWritten })
    await buildClient(`${address}/docs/v1/openapi.json`, copy)
    client = await import(join(copy, 'dist/index.js'))
  })

  it('runs its example in strict TypeScript: from an invite to its released result, reported by a webhook', async () => {
    const { id, key } = await service.make.organization({ mode: 'test' })
    const assessment = await service.make.assessment(id, { name: 'Working remotely', questionCount: 1 })
    await service.make.question(assessment, { points: 5 })
    await service.make.member(id, { roles: ['grader'] })
    await run('node_modules/typescript-7/bin/tsc', '-p', join(copy, 'examples'))
    service.clock.set(Date.now()) // the program uses the real time, and rejects webhooks with another time
    const lines = await run(join(copy, 'dist/examples/first-result.js'), { SERVICE: address, KEY: key })
    expect(lines).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}@example\.com is invited to Working remotely$/),
      'The webhook has received submission.released: 80 %',
      'released: 4 of 5 points',
    ])
  })

  /** Runs a program to its end. @returns the lines of its output. */
  async function run(program: string, ...given: (string | Record<string, string>)[]): Promise<string[]> {
    const args = given.filter((each) => typeof each === 'string')
    const env = Object.assign({ PATH: process.env.PATH }, ...given.filter((each) => typeof each === 'object'))
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env, timeout: PATIENT.timeout }).catch(
      (error) => {
        throw new Error(`${error.message}${error.stdout}`)
      },
    )
    return stdout.split('\n').filter((line) => line !== '')
  }

  async function makeOrganization() {
    const { id, key } = await service.make.organization()
    return { key, assessment: await service.make.assessment(id), tag: await service.make.tag(id) }
  }
  const inviteTo = (assessment: { id: string }, name = 'kim') => ({
    body: { assessmentId: assessment.id, recipientEmail: `${name}@example.com` },
  })

  it('invites, reads every page of a list, and follows each event once', async () => {
    const { key, assessment } = await makeOrganization()
    const api = client.connect({ service: address, key })
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await api.createInvite(inviteTo(assessment, name))
    const ids: string[] = []
    for await (const { id } of client.everyItem((page) => api.listInvites({ query: { page, limit: 2 } }))) ids.push(id)
    expect([ids.length, new Set(ids).size]).toEqual([5, 5])

    await waitForNumbering(service)
    const { signal, abort } = withSignal()
    const types: string[] = []
    let seen = ''
    for await (const { events, cursor } of client.followEvents(api, { limit: 2, type: ['invite.created'], signal })) {
      types.push(...events.map(({ type }) => type))
      seen = cursor
      if (types.length === names.length) break
    }
    abort()
    expect(types).toEqual(names.map(() => 'invite.created'))
    const { data } = await api.listEvents({ query: { cursor: seen, type: ['invite.created'] } })
    expect(data.events).toEqual([])
  })

  const withSignal = () => {
    const controller = new AbortController()
    return { signal: controller.signal, abort: () => controller.abort() }
  }

  it('retries safe requests, and executes a retried creation once', async () => {
    const { key, assessment } = await makeOrganization()
    const keys: unknown[] = []
    /** Loses the first response, replaces the second one with a 503, and then passes all on. */
    const lossy = async (request: Request) => {
      keys.push(request.headers.get('idempotency-key'))
      const answer = await fetch(request)
      if (keys.length === 1) throw new TypeError('fetch failed')
      if (keys.length === 2) return new Response('{}', { status: 503, headers: { 'retry-after': '0' } })
      return answer
    }
    const api = client.connect({ service: address, key, fetch: lossy })
    const { response, data } = await api.createInvite(inviteTo(assessment))
    expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect([keys.length, new Set(keys).size, keys[0]]).toEqual([3, 1, expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(data).toMatchObject({ invite: { recipientEmail: 'kim@example.com' } })
    expect(await service.db.invite.count({ where: { assessmentId: assessment.id } })).toBe(1)
  })

  it.each([
    ['with a longer Retry-After than its limit', { status: 429, headers: { 'retry-after': '3600' } }, 'getTag', 1],
    ['for which a retry makes no difference', { status: 500 }, 'getTag', 1],
    ['after the last of its retries', { status: 503, headers: { 'retry-after': '0' } }, 'getTag', 4],
    ["that doesn't say whether something was deleted", { status: 503, headers: { 'retry-after': '0' } }, 'deleteTag', 1],
  ] as const)('throws a response %s', async (_what, answer, operation, times) => {
    const { key, tag } = await makeOrganization()
    let asked = 0
    const failing = async () => {
      asked++
      return new Response('{"error":"No"}', answer)
    }
    const api = client.connect({ service: address, key, fetch: failing })
    const call = api[operation]({ path: { tagId: tag.id } })
    await expect(call).rejects.toMatchObject({ name: 'ApiError', status: answer.status, body: { error: 'No' } })
    expect(asked).toBe(times)
  })

  it('gets unknown fields rejected with `strict`, and ignored without', async () => {
    const { key, assessment } = await makeOrganization()
    const { body } = inviteTo(assessment)
    const mistyped = { body: { ...body, sendemail: false } }
    const strict = client.connect({ service: address, key, strict: true })
    const refused = { status: 400, body: { error: expect.stringContaining('Did you mean sendEmail?') } }
    await expect(strict.createInvite(mistyped)).rejects.toMatchObject(refused)
    const { response } = await client.connect({ service: address, key }).createInvite(mistyped)
    expect(response.headers.get('ignored-fields')).toBe('sendemail')
  })

  it('follows the feed to its end', async () => {
    const { key, assessment } = await makeOrganization()
    const api = client.connect({ service: address, key })
    for (const name of ['a', 'b', 'c']) await api.createInvite(inviteTo(assessment, name))
    await waitForNumbering(service)
    const types: string[] = []
    for await (const { events } of client.followEvents(api, { limit: 2, until: 'end', type: ['invite.created'] }))
      types.push(...events.map(({ type }) => type))
    expect(types).toEqual(Array(3).fill('invite.created'))
  })

  it('throws before sending a request whose path parameter is undefined', async () => {
    const sent: Request[] = []
    const record = async (request: Request) => {
      sent.push(request)
      return new Response('{}')
    }
    const api = client.connect({ service: address, key: 'ak_live_x', fetch: record })
    await expect(api.getTag({ path: { tagId: undefined } })).rejects.toThrow('The path parameter tagId is missing')
    expect(sent).toEqual([])
  })

  it('throws a service error with its code', async () => {
    const { key, assessment } = await makeOrganization()
    const api = client.connect({ service: address, key })
    const { data } = await api.createInvite(inviteTo(assessment))
    const existing = (data.invite as { id: string } | undefined)?.id
    const refused = { name: 'ApiError', status: 409, code: 'duplicate_invite', requestId: expect.stringMatching(/./) }
    const error = await api.createInvite(inviteTo(assessment)).catch((error: unknown) => error)
    expect(error).toMatchObject({ ...refused, existingId: existing })
    expect((error as { headers: Headers }).headers.get('ratelimit-limit')).toMatch(/^\d+$/)
  })

  it('accepts a webhook signed with its secret within five minutes, and no other', async () => {
    const [secret, other] = ['whsec_c2VjcmV0IG9mIGEgd2ViaG9vaw==', 'whsec_YW5vdGhlciBvbmUsIGxvbmdlcg==']
    const body = JSON.stringify({ id: 'e', type: 'webhook.test', text: 'é 🎓' })
    const at = new Date()
    const headersFor = (...secrets: string[]) => ({
      'webhook-id': 'e',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': secrets.map((each) => new Webhook(each).sign('e', at, body)).join(' '),
    })
    const [ours, both] = [headersFor(secret), headersFor(other, secret)]
    const good = [
      { body, headers: ours, secret },
      { body: new TextEncoder().encode(body), headers: new Headers(ours), secret },
      { body, headers: both, secret },
      { body, headers: Object.fromEntries(Object.entries(ours).map(([name, value]) => [name.toUpperCase(), value])), secret },
      { body, headers: { get: (name: string) => ours[name as keyof typeof ours] ?? null }, secret },
      { body, headers: ours, secret: [other, secret] },
      { body, headers: { ...ours, 'webhook-signature': `v2,x v1,%% ${ours['webhook-signature']}` }, secret },
    ]
    for (const request of good) expect(await client.verifyWebhook(request)).toEqual(JSON.parse(body))
    const bad = [
      { body: `${body} `, headers: ours, secret },
      { body, headers: ours, secret: other },
      { body, headers: { ...ours, 'webhook-id': 'f' }, secret },
      { body, headers: { ...ours, 'webhook-signature': 'v1,' }, secret },
      { body, headers: { ...ours, 'webhook-signature': undefined }, secret },
      { body, headers: { ...ours, 'webhook-timestamp': 'now' }, secret },
      { body, headers: ours, secret, now: at.getTime() + 301_000 },
      { body, headers: ours, secret, now: at.getTime() - 302_000 },
    ]
    for (const request of bad) await expect(client.verifyWebhook(request)).rejects.toMatchObject({ name: 'WebhookError' })
  })
})
