import { afterAll, beforeAll, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Furnished, fillBody, fillPath, furnish, idsOf } from '../../support/furnish.ts'
import { type FieldSchema, KEY_HEADERS, type Operation, readOperations } from '../../support/operations.ts'
import { type Service, startService } from '../../support/service.ts'
import { handIn } from '../../support/submissions.ts'

const UNKNOWN_ID = unknownId
const [OWN, FOREIGN, UNUSED] = ['Ownwords', 'Foreigns', 'Unuseds!'] // of one length, so that lengths can be compared

let service: Service
let address: string
let own: Furnished
let foreign: Furnished
let operations: Operation[]
beforeAll(async () => {
  service = await startService({ ROLE: 'api' }) // a sweep in between would change what is compared
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await furnish(service, OWN!)
  foreign = await furnish(service, FOREIGN!)
  for (const { id, invite, assessment } of [own, foreign])
    await handIn(service, { organizationId: id, inviteId: invite.id, assessmentId: assessment.id }, 'words')
  operations = await readOperations(service)
})
afterAll(() => service.close())

/** A place of an operation where a client can say what it wants to see or change; `send` says it. */
type Place = { name: string; send: (value: string) => Promise<string> }

/** The whole answer but for what counts requests, tells the time or repeats what was asked for. */
async function send({ method, interface: of }: Operation, target: string, body: object | null, hidden: string): Promise<string> {
  const response = await fetch(`${address}${target}`, {
    method: method.toUpperCase(),
    headers: { [KEY_HEADERS[of]]: own.key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id|events-cursor|ratelimit-.*)$/.test(name))
  const text = JSON.stringify([response.status, headers, await response.text()])
  return [hidden, encodeURIComponent(hidden), new URLSearchParams({ '': hidden }).toString().slice(1)].reduce(
    (told, spelling) => told.replaceAll(spelling, '{asked for}'),
    text,
  )
}

function placesInPath(operation: Operation): Place[] {
  return operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => ({
      name: `${operation.method} ${operation.path}, ${name}`,
      send: (id) => {
        const target = fillPath(operation.path.replace(`{${name}}`, id), own)
        return send(operation, target, operation.body && fillBody(operation.body, own), id)
      },
    }))
}

const placesInQuery = (operation: Operation): Place[] =>
  operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => ({
      name: `${operation.method} ${operation.path}?${name}`,
      send: (value) => send(operation, `${fillPath(operation.path, own)}?${name}=${encodeURIComponent(value)}`, null, value),
    }))

const wantsId = ({ format, items }: FieldSchema) => format === 'uuid' || items?.format === 'uuid'

function placesInBody(operation: Operation): Place[] {
  const fields = Object.entries(operation.body ?? {}).filter(([, schema]) => wantsId(schema))
  return fields.map(([name, { items }]) => ({
    name: `${operation.method} ${operation.path}, ${name} of the body`,
    send: (id) =>
      send(operation, fillPath(operation.path, own), { ...fillBody(operation.body!, own), [name]: items ? [id] : id }, id),
  }))
}

/** All that the database knows of an organization. */
async function readRows(organizationId: string): Promise<unknown> {
  const tables = await service.db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'organization_id'`
  expect(tables.length).toBeGreaterThan(10)
  const read = ({ name }: { name: string }) =>
    service.db.$queryRawUnsafe(
      `SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${name} t WHERE organization_id = $1::uuid ORDER BY 1`,
      organizationId,
    )
  return Promise.all(tables.map(read))
}

it("answers another organization's id, of whatever kind and wherever it stands, to the byte as one that does not exist", async () => {
  const before = await readRows(foreign.id)
  const places = operations.flatMap((operation) => [
    ...placesInPath(operation),
    ...placesInQuery(operation),
    ...placesInBody(operation),
  ])
  expect(places.length).toBeGreaterThan(80)
  for (const place of places) {
    const toUnknown = await place.send(UNKNOWN_ID)
    for (const [kind, id] of Object.entries(idsOf(foreign)))
      expect(await place.send(id), `${place.name} with the id of another's ${kind}`).toBe(toUnknown)
  }
  expect(await readRows(foreign.id)).toEqual(before)
})

it("answers a search or filter for another organization's words to the byte as for words that nobody uses", async () => {
  const spellings = [
    '*',
    '* tag',
    '* assessment',
    '* first',
    '* last',
    '*@example.com',
    'candidate.*@example.com',
    '* organization',
  ]
  for (const place of operations.flatMap(placesInQuery)) {
    for (const spelling of spellings) {
      const toForeign = await place.send(spelling.replace('*', FOREIGN!))
      expect(toForeign, `${place.name}=${spelling}`).toBe(await place.send(spelling.replace('*', UNUSED!)))
      expect(toForeign).not.toContain(FOREIGN)
    }
  }
})

/** Every answer to reading, as deep as it goes, with the organization's own ids. */
async function readAll(): Promise<string[]> {
  const reads = operations.filter(({ method }) => method === 'get')
  return Promise.all(reads.map((operation) => send(operation, `${fillPath(operation.path, own)}?depth=2&limit=100`, null, '-')))
}

it('shows and counts the same, whatever other organizations have', async () => {
  const before = await readAll()
  expect(before.filter((answer) => answer.startsWith('[200,')).length).toBe(before.length)
  for (const word of [OWN!, FOREIGN!, UNUSED!]) await furnish(service, `${word}too`)
  for (let i = 0; i < 30; i++) await service.make.invite(foreign.assessment, { assignedGraderId: foreign.member.id })
  expect(await readAll()).toEqual(before)
  for (const secret of [FOREIGN!, ...Object.values(idsOf(foreign))]) expect(before.join('')).not.toContain(secret)
})
