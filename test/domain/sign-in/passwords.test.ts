import { scryptSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ServiceContext } from '../../../src/domain/context.ts'
import { hashPassword, matchesPassword, PASSWORD_COST } from '../../../src/domain/sign-in/passwords.ts'

const service = { deps: { passwordCost: PASSWORD_COST } } as ServiceContext
const wanted = async () => true

it('hashes a password so that only it matches, and no two hashes are equal', async () => {
  const [one, two] = await Promise.all([
    hashPassword(service, 'correct horse', 'line', wanted),
    hashPassword(service, 'correct horse', 'line', wanted),
  ])
  expect(one).toMatch(/^scrypt-16384-8-5\$[\w+/]{22}==\$[\w+/]{43}=$/)
  expect(one).not.toBe(two)
  expect(await matchesPassword('correct horse', one!)).toBe(true)
  expect(await matchesPassword('Correct horse', one!)).toBe(false)
})

it('matches a password even if another keyboard composes its characters differently', async () => {
  const stored = await hashPassword(service, 'Caf\u00e9 au lait', 'line', wanted)
  expect(await matchesPassword('Cafe\u0301 au lait', stored!)).toBe(true)
})

it('matches a hash that was made with another cost', async () => {
  const salt = Buffer.alloc(16, 7)
  const key = scryptSync('correct horse', salt, 32, { N: 1024, r: 8, p: 1 })
  const stored = ['scrypt-1024-8-1', salt.toString('base64'), key.toString('base64')].join('$')
  expect(await matchesPassword('correct horse', stored)).toBe(true)
  expect(await matchesPassword('Correct horse', stored)).toBe(false)
})

it('matches no password without a stored hash', async () => {
  for (const password of ['', 'correct horse', '\0'.repeat(32)]) expect(await matchesPassword(password)).toBe(false)
})

it('skips hashing if the password is no longer needed at its turn', async () => {
  const asked: number[] = []
  const hashes = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      hashPassword(service, 'correct horse', 'line', async () => {
        asked.push(i)
        return i < 3
      }),
    ),
  )
  expect(hashes.map((hash) => hash !== null)).toEqual(hashes.map((_, i) => i < 3))
  expect(asked).toEqual(hashes.map((_, i) => i))
})
