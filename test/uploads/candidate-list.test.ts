import { describe, expect, it } from 'vitest'
import { MAX_BATCH_BYTES, MAX_LIST_CELL_LENGTH } from '../../src/domain/limits.ts'
import { parseCandidateList } from '../../src/uploads/candidate-list.ts'

const parse = (list: string) => parseCandidateList(Buffer.from(list), 10_000)

describe('parseList', () => {
  it('reads the longest list completely', () => {
    const line = (i: number) => `candidate${i}@example.com,Zoë 字 ${i},"${'Dear Zoë, 🙂 "" please\r\n'.repeat(13)}"\n`
    const list = `email,name,message\n${Array.from({ length: 9_000 }, (_, i) => line(i)).join('')}`
    expect(Buffer.byteLength(list)).toBeGreaterThan(MAX_BATCH_BYTES * 0.8)
    const { rows } = parse(list)
    expect(rows).toHaveLength(9_000)
    expect(new Set(rows.map(({ message }) => message)).size).toBe(1)
    expect(rows.at(-1)).toMatchObject({ email: 'candidate8999@example.com', name: 'Zoë 字 8999' })
    expect(rows[0]!.message).toContain('Dear Zoë, 🙂 " please\r\n')
  })

  it.each([
    ['an empty list', '', 'empty'],
    ['a header alone', 'email,name\n', 'empty'],
    ['no address', 'Sam,Lee\nsam@example.com,Sam', 'noAddresses'],
    ['an open quote', `email\n"${'x'.repeat(100_000)}`, 'unreadable'],
    ['a row too many', 'sam@example.com\n'.repeat(10_001), 'tooManyRows'],
    ['a list of 250,000 rows', 'sam@example.com\n'.repeat(250_000), 'tooManyRows'],
    ['too large a list', 'x'.repeat(MAX_BATCH_BYTES + 1), 'tooLarge'],
    ['little but quotation marks', `email\n${'""\n'.repeat((MAX_BATCH_BYTES - 100) / 3)}`, 'empty'],
  ])('rejects %s', (_what, list, problem) => {
    expect(() => parse(list)).toThrow(
      expect.objectContaining({ kind: 'invalid', issues: [expect.objectContaining({ field: 'list', problem })] }),
    )
  })

  it.each([
    ['First Name,Last Name,Email\nAda,Lovelace,a@example.com', 'Ada Lovelace'],
    ['Vorname;Nachname;E-Mail-Adresse\nAda;Lovelace;a@example.com', 'Ada Lovelace'],
    ['Name;Vorname;E-Mail\nLovelace;Ada;a@example.com', 'Ada Lovelace'],
    ['Full Name,First Name,Last Name,Email\nDr. Ada King,Ada,Lovelace,a@example.com', 'Dr. Ada King'],
    ['Prénom,Courriel\nAda,a@example.com', 'Ada'],
  ])('joins first and last names: %s', (list, name) => {
    expect(parse(list)).toEqual({ rows: [expect.objectContaining({ email: 'a@example.com', name })], unusedColumns: [] })
  })

  it('truncates a cell one character over the limit, so that the row is rejected', () => {
    const { rows } = parse(`email,tags\na@example.com,${'x;'.repeat(100_000)}`)
    expect(rows[0]!.tags).toHaveLength(MAX_LIST_CELL_LENGTH + 1)
  })
})
