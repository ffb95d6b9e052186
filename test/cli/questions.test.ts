import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { startServiceForFile } from '../support/service.ts'
import { runCli } from './run-cli.ts'

const service = await startServiceForFile()
const organization = await service.make.organization()
const member = await service.make.member(organization.id, { roles: ['admin'], email: 'author@example.com' })
const folder = await mkdtemp(path.join(tmpdir(), 'questions-'))

async function importFile(content: string | Uint8Array, ...options: string[]) {
  const file = path.join(folder, 'questions.txt')
  await writeFile(file, content)
  const args = ['questions', 'import', organization.id, file, '--member', member.email, ...options]
  return runCli(args, { DATABASE_URL: service.databaseUrl, DATABASE_POOL_SIZE: '2' })
}

test('prints the outcome of each question, and starts the import unless it only checks', async () => {
  const sheet = 'Question,A,B,Key,Level\nPeru?,Lima,Rome,A,easy\nChile?,x,y,Z,easy'
  const checked = await importFile(sheet, '--check')
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  expect(checked.stdout).toMatch(/3 +refused +Chile\? +The right answer “Z” is not an option\./)
  expect(checked.stdout).toContain('Unused columns: Level.\n1 can be imported, 0 there already, 1 refused.\n')
  const own = { organizationId: organization.id }
  expect(await service.db.libraryImport.findFirstOrThrow({ where: own })).toMatchObject({
    createdById: member.id,
    startedAt: null,
  })
  const { importId } = JSON.parse((await importFile(sheet, '--json')).stdout)
  expect((await service.db.libraryImport.findFirstOrThrow({ where: { ...own, id: importId } })).startedAt).not.toBeNull()
})

test('accepts the meanings of columns and the encoding as options, and rejects ambiguous files without them', async () => {
  const twice = 'Question,A,B,C,Correct\n1+1?,1,2,3,2\n2+1?,2,3,4,3'
  const ambiguous = await importFile('Question,Option 1,Option 2,Option 3,Correct\n1+1?,2,3,4,2')
  expect(ambiguous).toMatchObject({ code: 1, stdout: '' })
  expect(ambiguous.stderr).toBe(
    'The right answers of 1 questions can be read in two ways. Use rightByLabel or rightByText: --columns.\nNothing was imported.\n',
  )
  const byText = await importFile(twice, '--check', '--json', '--columns', 'text,option:1,option:2,option:3,rightByText')
  expect(JSON.parse(byText.stdout).counts).toMatchObject({ ready: 2, refused: 0 })
  const letters = iconv.encode('Question,Answer\nGyõr?,x', 'windows-1252')
  expect((await importFile(letters)).stderr).toContain('The letters fit more than one encoding. Choose one: --encoding.')
  expect(JSON.parse((await importFile(letters, '--json', '--encoding', 'windows-1250')).stdout).counts).toMatchObject({
    ready: 1,
  })
})

test('rejects unknown meanings, members, and formats with a sentence', async () => {
  expect((await importFile('Question\nWho?', '--columns', 'question')).stderr).toContain('“question” is no meaning')
  expect((await importFile('%PDF-1.7')).stderr).toContain('This is a PDF.')
  const file = path.join(folder, 'questions.txt')
  const args = ['questions', 'import', organization.id, file, '--member', 'nobody@example.com']
  const { stderr } = await runCli(args, { DATABASE_URL: service.databaseUrl, DATABASE_POOL_SIZE: '2' })
  expect(stderr).toContain('Nobody is a member there with nobody@example.com.')
})
