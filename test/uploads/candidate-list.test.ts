import { describe, expect, it } from 'vitest'
import { MAX_BATCH_BYTES, MAX_LIST_CELL_LENGTH } from '../../src/domain/limits.ts'
import { parseCandidateList } from '../../src/uploads/candidate-list.ts'

const parse = (list: string) => parseCandidateList(Buffer.from(list), 10_000)

describe('parseList', () => {
  it('reads the longest list completely', () => {
    const line = (i: number) => `candidate${i}@example.com,Zoë 字 ${i},"${'Dear Zoë, 🙂 "" please\r\n'.repeat(55)}"\n`
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
    ['a row too many', 'sam@example.com\n'.repeat(10_001), 'tooManyRows'],
    ['a list of 250,000 rows', 'sam@example.com\n'.repeat(250_000), 'tooManyRows'],
    ['too large a list', 'x'.repeat(MAX_BATCH_BYTES + 1), 'tooLarge'],
    ['a sheet of empty rows', `email\n${',,\n'.repeat(1_048_576)}`, 'empty'],
    ['little but quotation marks', `email\n${'""\n'.repeat((MAX_BATCH_BYTES - 100) / 3)}`, 'tooHeavy'],
    ['little but line breaks', `email${'\n'.repeat(MAX_BATCH_BYTES - 100)}`, 'tooHeavy'],
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
    expect(parse(list)).toMatchObject({ rows: [expect.objectContaining({ email: 'a@example.com', name })], unusedColumns: [] })
  })

  it.each([
    ['an address that is none', 'Name,Address,Email\nAnn,1 High St,a@example.com', ['name', '', 'email']],
    ['an address that is one', 'Name,Address\nAnn,a@example.com', ['name', 'email']],
    ['Primary Email', 'Primary Email,Full Name\na@example.com,Ann', ['email', 'name']],
    ['Email (Work)', 'Name,Email (Work)\nAnn,a@example.com', ['name', 'email']],
    ['two addresses', 'Name,Email (Home),Email (Work)\nAnn,,a@example.com\nBen,,b@example.com', ['name', '', 'email']],
    [
      'Greenhouse',
      'Candidate ID,First Name,Last Name,Company,Title,Email,Phone,Tags,Recruiter Email\n1,Ann,Lee,X,Dev,a@example.com,1,,r@example.com',
      ['', 'firstName', 'lastName', '', '', 'email', '', 'tags', ''],
    ],
    [
      'Lever',
      'Candidate Name,Email,Headline,Stage,Owner Email,Created At\nAnn Lee,a@example.com,Dev,New,o@example.com,2024-01-01',
      ['name', 'email', '', '', '', ''],
    ],
    [
      'Workable',
      'Name,Firstname,Lastname,Headline,Email,Phone,Job,Stage\nAnn Lee,Ann,Lee,Dev,a@example.com,1,Dev,Applied',
      ['name', 'firstName', 'lastName', '', 'email', '', '', ''],
    ],
    [
      'LinkedIn',
      'Notes:\n"When exporting your connection data, you may notice that some addresses are missing."\n\nFirst Name,Last Name,URL,Email Address,Company,Position,Connected On\nAnn,Lee,https://example.com,a@example.com,X,Dev,1 Jan 2024',
      ['firstName', 'lastName', '', 'email', '', '', ''],
    ],
    ['no headings', 'a@example.com,Ann Lee,7\nb@example.com,Ben,8', ['email', 'name', '']],
    ['sep=', 'sep=;\nname;email\nAnn;a@example.com', ['name', 'email']],
  ])('recognizes the columns of %s', (_, list, meanings) => {
    const found = parseCandidateList(Buffer.from(list), 100, { isInspection: true })
    expect(found.table.plan.meanings).toEqual(meanings)
    expect(found.rows[0]).toMatchObject({ email: 'a@example.com' })
  })

  it('rejects an address column that only its values identify, unless somebody confirms it', () => {
    const list = Buffer.from('Name,Contact\nAnn,a@example.com')
    expect(() => parseCandidateList(list, 10)).toThrow()
    expect(parseCandidateList(list, 10, { columns: ['name', 'email'], headingLine: 1 }).rows).toMatchObject([
      { email: 'a@example.com', name: 'Ann' },
    ])
  })

  it('names the line of a stray quotation mark', () => {
    const { rows } = parse('email,name\n"a"x@example.com,Ann\nb@example.com,Ben')
    expect(rows).toMatchObject([{ fault: { problem: 'strayQuote', line: 2 } }, { email: 'b@example.com' }])
  })

  it('truncates a cell one character over the limit, so that the row is rejected', () => {
    const { rows } = parse(`email,tags\na@example.com,${'x;'.repeat(100_000)}`)
    expect(rows[0]!.tags).toHaveLength(MAX_LIST_CELL_LENGTH + 1)
  })
})
