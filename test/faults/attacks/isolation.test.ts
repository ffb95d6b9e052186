import { afterAll, beforeAll, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Operation, readOperations } from '../../support/operations.ts'
import { createSampleOrganization, fillPath, idsOf, type SampleOrganization } from '../../support/sample-organization.ts'
import { type Service, startService } from '../../support/service.ts'
import { releaseRows, submitRows } from '../../support/submissions.ts'
import { createRequestInputs, type RequestInputs } from './request-inputs.ts'

const UNKNOWN_ID = unknownId
const [OWN, FOREIGN, UNUSED] = ['Ownwords', 'Foreigns', 'Unuseds!'] // equal lengths, so that content lengths can be compared

let service: Service
let address: string
let own: SampleOrganization
let foreign: SampleOrganization
let operations: Operation[]
let inputs: RequestInputs
beforeAll(async () => {
  service = await startService({ ROLE: 'api' }) // a sweep would change the compared rows
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await createSampleOrganization(service, OWN!)
  foreign = await createSampleOrganization(service, FOREIGN!)
  for (const { id: organizationId, invite, assessment, member } of [own, foreign]) {
    const submissionId = await submitRows(service, { organizationId, inviteId: invite.id, assessmentId: assessment.id }, 'words')
    await releaseRows(service, { organizationId, submissionId }, member.id)
  }
  operations = await readOperations(service)
  inputs = createRequestInputs(address, own)
})
afterAll(() => service.close())

/** Returns all rows of an organization. */
async function readRows(organizationId: string): Promise<unknown> {
  const tables = await service.db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'organization_id'`
  expect(tables.length).toBeGreaterThan(10)
  const read = ({ name }: { name: string }) =>
    service.db.$queryRawUnsafe(
      `SELECT to_jsonb(t) - 'last_used_at' - 'last_used_from' AS row FROM ${name} t WHERE organization_id = $1::uuid ORDER BY 1`,
      organizationId,
    )
  return Promise.all(tables.map(read))
}

it("gives the same response, byte for byte, to another organization's ID as to an unknown one, anywhere in a request", async () => {
  const before = await readRows(foreign.id)
  const all = operations.flatMap(inputs.of)
  expect(all.length).toBeGreaterThan(80)
  for (const input of all) {
    const toUnknown = await input.send(UNKNOWN_ID)
    for (const [kind, id] of Object.entries(idsOf(foreign)))
      expect(await input.send(id), `${input.name} with the id of another's ${kind}`).toBe(toUnknown)
  }
  expect(await readRows(foreign.id)).toEqual(before)
})

it("gives the same response, byte for byte, to a search for another organization's words as for unused words", async () => {
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
  for (const input of operations.flatMap(inputs.inQuery)) {
    for (const spelling of spellings) {
      const toForeign = await input.send(spelling.replace('*', FOREIGN!))
      expect(toForeign, `${input.name}=${spelling}`).toBe(await input.send(spelling.replace('*', UNUSED!)))
      expect(toForeign).not.toContain(FOREIGN)
    }
  }
})

/** Returns the responses of all GET operations at the greatest depth, with the organization's own ids. */
async function readAll(): Promise<string[]> {
  const reads = operations.filter(({ method }) => method === 'get')
  return Promise.all(
    reads.map((operation) => inputs.send(operation, `${fillPath(operation.path, own)}?depth=2&limit=100`, null, '-')),
  )
}

it('returns the same rows and counts, whatever data other organizations have', async () => {
  const before = await readAll()
  expect(before.filter((answer) => answer.startsWith('[200,')).length).toBe(before.length)
  for (const word of [OWN!, FOREIGN!, UNUSED!]) await createSampleOrganization(service, `${word}too`)
  for (let i = 0; i < 30; i++) await service.make.invite(foreign.assessment, { assignedGraderId: foreign.member.id })
  expect(await readAll()).toEqual(before)
  for (const secret of [FOREIGN!, ...Object.values(idsOf(foreign))]) expect(before.join('')).not.toContain(secret)
})
