import { afterAll, beforeAll, expect, it } from 'vitest'
import { searchKey } from '../../../src/domain/text/fold-text.ts'
import { toStoredAddress } from '../../../src/domain/validation/email-address.ts'
import { signInAs } from '../../support/portal.ts'
import { recordQueries } from '../../support/queries.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

const MANY = 3_000
const SEARCHES = scaled(80, 400)
/** Parts of addresses and names. Many addresses share a part, and few are similar otherwise. */
const PIECES = [
  'ann',
  'Bob',
  'smith',
  'ſmith',
  'Straße',
  'ÉCOLE',
  'école',
  'İstanbul',
  'ΟΔΟΣ',
  'x',
  '7',
  '42',
  '100%',
  'a_b',
  'a-b',
  "o'neil",
]
const NAMES = [
  'Java',
  'java smith',
  'Sales 42 ann',
  'ÉCOLE',
  '100% x',
  'Bob',
  'ΟΔΟΣ 7',
  'smith ann bob',
  'o’neil',
  'a_b',
  'Senior Sales',
]

/** Names of recipients; some have none. */
const PEOPLE = ['Ann Smith', 'ΟΔΥΣΣΕΎΣ', "Bob O'Neil", null, 'Éva 42', 'smith', 'x']

let service: Service
let key: string
let organizationId: string
beforeAll(async () => {
  service = await startService()
  ;({ id: organizationId, key } = await service.make.organization())
  const assessments = []
  for (const name of NAMES) assessments.push(await service.make.assessment(organizationId, { name }))
  const { id } = await service.make.invite(assessments[0]!)
  const addresses = Array.from({ length: MANY }, (_, n) =>
    toStoredAddress(`${pick(n, 1)}.${pick(n, 2)}${n}@${pick(n, 3)}.example${n % 3}.com`),
  )
  await service.db.$executeRaw`
    INSERT INTO invites
    SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', address,
      'assessment_id', (${assessments.map((row) => row.id)}::text[])[n % ${NAMES.length}::int + 1],
      'recipient_name', (${PEOPLE}::text[])[n % ${PEOPLE.length}::int + 1],
      'recipient_name_search', (${PEOPLE.map((name) => name && searchKey(name))}::text[])[n % ${PEOPLE.length}::int + 1], 'status', (enum_range(NULL::invite_status))[n % 6 + 1], 'created_at', i.created_at - (n / 7) * interval '1 minute'))).*
    FROM invites i, unnest(${addresses}::text[]) WITH ORDINALITY AS made (address, n) WHERE i.id = ${id}::uuid`
  await service.db.$executeRaw`ANALYZE invites`
})
afterAll(() => service.close())

/** A pseudorandom number from 0 to 1. The same seed gives the same number. */
const random = (seed: number): number => {
  const value = Math.sin(seed * 12.9898) * 43_758.5453
  return value - Math.floor(value)
}
const pick = (n: number, nth: number): string => PIECES[Math.floor(random(n * 10 + nth) * PIECES.length)]!

/** A substring of an address, of a name, or of a word that occurs nowhere. Some are in upper case. */
function word(seed: number): string {
  const from = [
    pick(seed, 1),
    `${pick(seed, 2)}.${pick(seed, 3)}`,
    NAMES[seed % NAMES.length]!.split(' ')[0]!,
    `${seed}@`,
    '.example1.com',
    'nobody',
  ]
  const whole = from[Math.floor(random(seed + 0.5) * from.length)]!
  const letters = [...whole]
  const start = Math.floor(random(seed + 0.3) * (letters.length / 2))
  const part = letters.slice(start, start + 1 + Math.floor(random(seed + 0.7) * letters.length)).join('')
  return random(seed + 0.1) < 0.3 ? part.toUpperCase() : part
}

const literally = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Searches as the contract says: each word is in the address or the name, in any case. */
async function expectedIds(words: string[]): Promise<string[]> {
  const rows = await service.db.$queryRaw<{ id: string }[]>`
    SELECT i.id FROM invites i JOIN assessments a ON a.id = i.assessment_id
    WHERE i.organization_id = ${organizationId}::uuid
      AND (SELECT bool_and(lower(recipient_email) LIKE pattern OR name_search LIKE key)
        FROM unnest(${words.map((word) => literally(word.toLowerCase()))}::text[], ${words.map((word) => literally(searchKey(word)))}::text[]) AS word (pattern, key))
    ORDER BY i.created_at, i.id`
  return rows.map(({ id }) => id)
}

it('finds the invites with each word in the address or name, for any words, on every page', async () => {
  let indexed = 0
  const faults: object[] = []
  for (let n = 1; n <= SEARCHES; n++) {
    const words = Array.from({ length: 1 + (n % 3) }, (_, i) => word(n * 7 + i))
    const expected = await expectedIds(words)
    const size = [20, 100][n % 2]!
    const last = Math.max(1, Math.ceil(expected.length / size))
    const page = [1, last, 1 + Math.floor(random(n) * last)][n % 3]!
    const path = `/assessment_invites?page_size=${size}&page=${page}&search=${encodeURIComponent(words.join(' '))}`
    const { result, queries } = await recordQueries(async () => await service.alternate(key).get(path))
    if (queries.some(({ text }) => text.includes('address_grams'))) indexed++
    const ids = (result.body.results ?? []).map(({ id }: { id: string }) => id)
    const wanted = expected.slice((page - 1) * size, page * size)
    if (result.body.count !== expected.length || ids.join() !== wanted.join())
      faults.push({ words, page, status: result.status, count: result.body.count, expected: expected.length })
  }
  expect(faults).toEqual([])
  // Searches with the index and without it were compared.
  expect(indexed).toBeGreaterThan(SEARCHES / 4)
  expect(indexed).toBeLessThan(SEARCHES)
})

it('finds recipients whose name or address has each word, in v1 and in the portal', async () => {
  const admin = await signInAs(service, organizationId, ['admin'])
  const faults: object[] = []
  for (let n = 1; n <= SEARCHES / 4; n++) {
    const words = Array.from({ length: 1 + (n % 2) }, (_, i) => (n % 3 === 0 ? word(n * 7 + i) : nameWord(n + i)))
    const [{ expected } = { expected: 0 }] = await service.db.$queryRaw<{ expected: number }[]>`
      SELECT count(*)::int AS expected FROM invites WHERE organization_id = ${organizationId}::uuid
        AND (SELECT bool_and(lower(recipient_email) LIKE pattern OR coalesce(recipient_name_search LIKE key, false))
          FROM unnest(${words.map((word) => literally(word.toLowerCase()))}::text[], ${words.map((word) => literally(searchKey(word)))}::text[]) AS word (pattern, key))`
    const asked = encodeURIComponent(words.join(' '))
    const { total } = (await service.v1(key).get(`/invites?recipient=${asked}`)).body.pagination
    if (total !== expected) faults.push({ words, total, expected })
  }
  expect(faults).toEqual([])
  const { text } = await admin.get(`${admin.home}invites?search=${encodeURIComponent("neil 'NE b")}&state=pending`)
  const { body } = await service.v1(key).get(`/invites?recipient=${encodeURIComponent("neil 'NE b")}&status=pending`)
  expect(body.pagination.total).toBeGreaterThan(0)
  expect(text).toContain(`${body.pagination.total} invites`)
  expect((await service.v1(key).get(`/invites?recipient=${'a+'.repeat(3)}b+c+d+e+f+g+h+i+j`)).status).toBe(400)
})

/** A substring of a recipient's name. */
function nameWord(seed: number): string {
  const letters = [...(PEOPLE[seed % PEOPLE.length] ?? 'nobody').split(' ')[0]!]
  return letters.slice(0, 2 + Math.floor(random(seed) * letters.length)).join('')
}

it("rejects an organization's searches beyond its capacity, and none of another organization's", async () => {
  const other = await service.make.organization()
  // Searching for a single character reads every invite.
  const searches = Array.from({ length: 80 }, async () => service.alternate(key).get('/assessment_invites?search=x'))
  const others = Array.from({ length: 10 }, async () => service.alternate(other.key).get('/assessment_invites'))
  const refused = (await Promise.all(searches)).filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers, body } of refused) {
    expect({ status, ...headers }).toMatchObject({ status: 429, 'x-error-code': 'too_many_searches', 'retry-after': '5' })
    expect(body).toEqual({ detail: 'Request was throttled. Expected available in 5 seconds.' })
  }
  for (const { status } of await Promise.all(others)) expect(status).toBe(200)
  expect((await service.alternate(key).get('/assessment_invites?search=x')).status).toBe(200)
})
