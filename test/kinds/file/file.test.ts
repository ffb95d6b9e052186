import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { fileTypeOf } from '../../../src/domain/files/type-of-content.ts'
import { readDefinition } from '../../../src/kinds/authors.ts'
import { fileAuthor } from '../../../src/kinds/file/author.ts'
import { fileRules } from '../../../src/kinds/file/rules.ts'

const zip = (...names: string[]) => Buffer.from(zipSync(Object.fromEntries(names.map((name) => [name, strToU8('content')]))))
const openDocument = (type: string) =>
  Buffer.from(zipSync({ mimetype: [strToU8(`application/vnd.oasis.opendocument.${type}`), { level: 0 }] }))

describe('the type of a file', () => {
  it.each([
    ['pdf', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3', 'latin1')],
    ['rtf', Buffer.from('{\\rtf1\\ansi text}')],
    ['png', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1')],
    ['jpg', Buffer.from('\xff\xd8\xff\xe0\0', 'latin1')],
    ['webp', Buffer.from('RIFF\0\n\0\0WEBPVP8 ', 'latin1')],
    ['gif', Buffer.from('GIF89a\0', 'latin1')],
    ['docx', zip('[Content_Types].xml', '_rels/.rels', 'word/document.xml')],
    ['xlsx', zip('[Content_Types].xml', 'xl/workbook.xml')],
    ['pptx', zip('[Content_Types].xml', 'ppt/presentation.xml')],
    ['odt', openDocument('text')],
    ['ods', openDocument('spreadsheet')],
    ['odp', openDocument('presentation')],
    ['zip', zip('words.txt', 'a/word/other.txt')],
    ['txt', Buffer.from('Grüße; 1,5\r\n\tمرحبا')],
    ['txt', Buffer.from('Gr\xfc\xdfe', 'latin1')],
    ['txt', Buffer.from('\ufeffGrüße\n', 'utf16le')],
    ['txt', Buffer.from('<html><script>alert(1)</script>')],
    ['txt', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ] as const)('is %s by its content', (type, content) => expect(fileTypeOf(content)).toBe(type))

  it.each([
    ['a Windows program', Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1')],
    ['a Linux program', Buffer.from('\x7fELF\x02\x01\x01\0', 'latin1')],
    ['a sound', Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1')],
    ['an old Office file', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['text with a NUL', Buffer.from('text\0')],
    ['a gzip archive', Buffer.from('1f8b0800', 'hex')],
  ])('is none for %s', (_, content) => expect(fileTypeOf(content)).toBeNull())
})

describe('a file question', () => {
  const read = (fields: Record<string, string>) => readDefinition('file', new URLSearchParams(fields))

  it('accepts the types of its groups, each once', () =>
    expect(fileRules.files!({ groups: ['document', 'spreadsheet'], most: 2 })).toEqual({
      maxFiles: 2,
      types: ['pdf', 'docx', 'odt', 'rtf', 'txt', 'xlsx', 'ods'],
    }))

  it('is read from the form that it prints', () => {
    const { definition, faults } = read({ most: '5', 'group-picture': 'yes', 'group-archive': 'yes' })
    expect(faults).toEqual([])
    expect(definition).toEqual({ responseType: 'file', spec: { groups: ['picture', 'archive'], most: 5 }, key: {} })
    const printed = fileAuthor.print(definition.spec, definition.key, () => 0)
    expect(readDefinition('file', printed).definition).toEqual(definition)
  })

  it('needs a group, and accepts one to five files', () => {
    expect(read({ most: '1' }).faults).toEqual([{ field: 'groups', text: 'Choose at least one type of file.' }])
    expect(read({ most: '9', 'group-picture': 'yes' }).definition.spec).toMatchObject({ most: 5 })
    for (const spec of [
      { groups: [], most: 1 },
      { groups: ['program'], most: 1 },
      { groups: ['picture'], most: 6 },
    ])
      expect(fileRules.faults('file', spec, {})).not.toEqual([])
  })

  it('describes the files by name and size', () => {
    const files = [
      { id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75', name: '../"CV".pdf', bytes: 1_234_567, type: 'application/pdf' },
      { id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e76', name: 'note.txt', bytes: 12, type: 'text/plain' },
    ]
    expect(fileRules.describe({ groups: ['document'], most: 2 }, files)).toBe('../"CV".pdf (1.2 MB)\nnote.txt (1 kB)')
  })
})
