import { Agent, request as openRequest } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GeneratedRequest, requestsTo } from '../../support/generated-requests.ts'
import { KEY_HEADERS, type Operation, readOperations } from '../../support/operations.ts'
import {
  createSampleOrganization,
  createSampleTestData,
  idsOf,
  ownIdFor,
  type SampleOrganization,
} from '../../support/sample-organization.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

const REQUESTS = scaled(2_000, 50_000)
const AT_ONCE = 8

let service: Service
let address: string
let own: SampleOrganization
/** Rows of the same organization for test keys. */
let tests: SampleOrganization
let spare: string[]
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await createSampleOrganization(service, 'Generated')
  tests = await createSampleTestData(service, own, 'Tested')
  spare = (await Promise.all(Array.from({ length: 40 }, () => service.make.tag(own.id)))).map(({ id }) => id)
})
afterAll(async () => {
  agent.destroy()
  await service.close()
})

/** Returns ids to choose from: mostly the matching one, some spare tags that may be deleted, and ids of other kinds. */
const knownIds = (of: SampleOrganization) => (name: string) => {
  const fitting = ownIdFor(name, of)
  return [...Array(20).fill(fitting), ...(/tag/i.test(name) ? spare : []), ...Object.values(idsOf(of))]
}
const actorOf = ({ isForTests }: Operation) => (isForTests ? tests : own)

/** Sends the request byte for byte: `fetch` would normalize the path. */
function send(
  operation: Operation,
  { target, headers, body }: GeneratedRequest,
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      method: operation.method.toUpperCase(),
      path: target,
      headers: { ...headers, [KEY_HEADERS[operation.interface]]: actorOf(operation).key },
    }
    const sent = openRequest(address, options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode!, type: answer.headers['content-type'] ?? '', text })
      })
    })
    sent.on('error', reject).end(body)
  })
}

async function findFault(operation: Operation, request: GeneratedRequest, counts: Map<number, number>): Promise<string | null> {
  const { status, type, text } = await send(operation, request)
  counts.set(status, (counts.get(status) ?? 0) + 1)
  if (status >= 500) return `answered ${status}: ${text}`
  // Files have the content type that the OpenAPI document names; all other responses are JSON.
  return type === 'application/json; charset=utf-8'
    ? operation.findFault(status, JSON.parse(text))
    : operation.findFault(status, text, type)
}

it(`answers ${REQUESTS} generated requests to all operations with a documented status and shape`, async ({ annotate }) => {
  const operations = await readOperations(service)
  const cases = operations.flatMap((operation, i) => {
    const requests = fc.sample(requestsTo(operation, knownIds(actorOf(operation))), {
      numRuns: Math.ceil(REQUESTS / operations.length),
      seed: i,
    })
    return requests.map((request, n) => ({ operation, request, n }))
  })
  cases.sort((a, b) => a.n - b.n) // all operations in turn
  const counts = new Map<number, number>()
  const faults: unknown[] = []
  const work = async () => {
    for (let next = cases.shift(); next && faults.length < 10; next = cases.shift()) {
      const { operation, request } = next
      const fault = await findFault(operation, request, counts)
      if (fault) faults.push({ operation: `${operation.method} ${operation.path}`, request, fault })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await annotate(`answers by status: ${JSON.stringify(Object.fromEntries([...counts].sort(([a], [b]) => a - b)))}`)
  expect(faults).toEqual([])
  // Enough requests passed validation and had an effect.
  const accepted = (counts.get(200) ?? 0) + (counts.get(201) ?? 0)
  expect(accepted).toBeGreaterThan(REQUESTS / 10)
  expect(counts.get(201)).toBeGreaterThan(REQUESTS / 200)
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})
