import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS } from '../support/factories.ts'
import { type Furnished, fillBody, furnish, ownIdFor } from '../support/furnish.ts'
import { type FieldSchema, type Operation, readInterface } from '../support/operations.ts'
import { type Service, startService } from '../support/service.ts'
import { handIn, releaseRows } from '../support/submissions.ts'
import { type Answer, type Call, generateClient, writeCall, writeOpening } from './generate-client.ts'

const interfaces = ['v1', 'alternate'] as const

let service: Service
let folder: string
let compiled: string
beforeAll(async () => {
  service = await startService()
  const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  // Within node_modules, where what is generated finds zod.
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

/** The program that calls every operation, as an organization of its own; it exports the calls by name, to be made in this order. */
async function writeCalls(name: (typeof interfaces)[number]): Promise<string> {
  const own = await furnish(service, name)
  const of = { organizationId: own.id, inviteId: own.invite.id, assessmentId: own.assessment.id }
  const submissionId = await handIn(service, of, 'words')
  await releaseRows(service, { organizationId: own.id, submissionId }, own.member.id)
  const calls = (await readInterface(service, name)).flatMap((operation) => callsOf(operation, own))
  const entries = calls.map(([title, one]) => `[${JSON.stringify(title)}, () => ${writeCall(one)}],`)
  return `${writeOpening(own.key)}\nexport const calls: [string, () => Promise<object>][] = [\n${entries.join('\n')}\n]\n`
}

/** An operation with nothing that may be left out, then with each parameter of its query. */
function callsOf(operation: Operation, own: Furnished): [title: string, call: Call][] {
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
  }
  const byParameter = query.map(({ name, schema }): [string, Call] => [
    `${id} by ${name}`,
    { ...call, query: { [name]: valueFor(name, schema, own) } },
  ])
  return [[id, call], ...byParameter]
}

/** The document's own example, with ids that exist, an address that is new and text that not every pattern lets through. */
function bodyOf({ body, example }: Operation, own: Furnished): object | undefined {
  if (!body || !example) return undefined
  const filled = fillBody(body, own)
  const value = (name: string, given: unknown) => {
    const { format, items, pattern, enum: words } = body[name]!
    if (format !== undefined || items) return filled[name]
    return typeof given === 'string' && !words && !pattern?.startsWith('^') ? `${given} 🎓` : given
  }
  return Object.fromEntries(Object.entries(example).map(([name, given]) => [name, value(name, given)]))
}

function valueFor(
  name: string,
  { type, format, pattern, enum: words, items, anyOf, minimum, maximum }: FieldSchema,
  own: Furnished,
): unknown {
  if (anyOf) return valueFor(name, anyOf.at(-1)!, own)
  // What exists comes first: of a parameter that is sent twice the last counts.
  if (type === 'array') return items?.enum ?? [valueFor(name, items!, own), crypto.randomUUID()]
  if (words) return words.at(-1)
  if (type === 'integer') return maximum !== undefined && maximum <= 100 ? maximum : minimum
  if (type === 'boolean') return true
  if (format === 'uuid') return ownIdFor(name, own)
  if (format === 'email') return 'e@example.com'
  return pattern?.startsWith('^[0-9]') ? '0' : 'e'
}

/** What TypeScript, in its strict mode, has to say of all clients and the calls of them; nothing when it has emitted them. */
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

it('compiles in the strict mode of TypeScript, with calls of every operation', () => {
  expect(compiled).toBe('')
})

/** Calls that leave nothing out of what there is; of several values in a parameter the first is one that something has. */
const FINDS_SOMETHING = /^\w+$|by (depth|tags|type|answer_type)$/
const idOf = (title: string) => title.split(' ')[0]!
const listIn = (body: object | string) => Object.values(body).find(Array.isArray)

describe.each(interfaces)('the client of %s', (of) => {
  it('calls every operation, with each parameter, and finds every answer as documented', async () => {
    const program: { calls: [string, () => Promise<Answer>][] } = await import(join(folder, 'compiled', of, 'calls.js'))
    const operations = new Map((await readInterface(service, of)).map((operation) => [operation.id, operation]))
    const called = new Set(program.calls.map(([title]) => idOf(title)))
    expect([...called]).toEqual([...operations.keys()])
    for (const [title, call] of program.calls) {
      // An invite is not mailed again as often as all calls together ask for it.
      if (/resend|reactivate/i.test(title)) service.clock.advance(DAY_MS)
      const { status, type, body } = await call()
      expect([title, status]).toEqual([title, expect.toBeOneOf([200, 201])])
      const said = body instanceof Blob ? await body.text() : body
      expect(operations.get(idOf(title))!.findFault(status, said, type), title).toBeNull()
      if (FINDS_SOMETHING.test(title)) expect(listIn(body), title).not.toEqual([])
    }
  })
})
