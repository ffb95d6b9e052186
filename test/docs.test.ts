import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { Environment } from '../src/runtime/environment.ts'

const pages = ['README.md', ...globSync('docs/**/*.md')]
const sources = globSync([
  'src/**/*.{ts,js}',
  'test/**/*.ts',
  'prisma/*.{ts,prisma}',
  '.ci/*',
  'Dockerfile',
  'docker-compose.yml',
]).filter((file) => !file.startsWith('src/generated'))

const read = (file: string) => readFile(file, 'utf8')
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found!)

describe.each(pages)('%s', (page) => {
  it('links to files and headings that exist', async () => {
    const links = matches((await read(page)).replace(/`[^`\n]*`/g, ''), /\]\((?!https?:)([^)\s]+)\)/g)
    const broken: string[] = []
    for (const link of links) {
      const [file, heading] = link.split('#') as [string, string?]
      const target = file === '' ? page : path.join(path.dirname(page), file)
      const isThere = existsSync(target) && (heading === undefined || anchors(await read(target)).includes(heading))
      if (!isThere) broken.push(link)
    }
    expect(broken).toEqual([])
  })

  it('names files and folders that exist', async () => {
    const named = matches(await read(page), /`((?:src|test|prisma|docs|\.ci)\/[^`\s]*)`/g)
    expect(named.filter((name) => globSync(name).length === 0)).toEqual([])
  })
})

it.each(globSync('docs/operating/*.md').filter((page) => !page.endsWith('README.md')))(
  '%s begins with its result, and ends with a check and a list of what was run',
  async (page) => {
    const text = await read(page)
    expect(text).toMatch(/^# .+\n\n(You get |Environment variables)/)
    const last = text.split(/^## /m).at(-1)!
    expect(last).toMatch(/^Check\n/)
    expect(last).toMatch(/\*(Not run|Run) here[*.]/)
    expect(text.includes('†')).toBe(/Not run here\*.*†|except.*†/s.test(last))
  },
)

it('keeps the README below 130 lines', async () => {
  expect((await read('README.md')).split('\n').length).toBeLessThan(130)
})

it('lists every source folder in the README', async () => {
  const map = matches(await read('README.md'), /```\n(src\/\n[\s\S]*?)```/g).join()
  const folders = globSync(['src/*/', 'src/interfaces/*/'])
    .map((folder) => path.basename(folder))
    .filter((name) => !name.includes('.') && name !== 'generated')
  expect(folders.filter((name) => !new RegExp(`(^|\\s)${name}/`, 'm').test(map))).toEqual([])
})

it('describes every setting', async () => {
  const operating = await read('docs/operating/settings.md')
  const settings = Object.keys(Environment.properties)
  expect(settings.filter((name) => !operating.includes(`| \`${name}\` |`))).toEqual([])
})

it('has a row for each table in the data protection document', async () => {
  const filed = await read('docs/data-protection.md')
  const tables = matches(await read('prisma/schema.prisma'), /^model [\s\S]*?@@map\("(\w+)"\)\n\}/gm)
  expect(tables.length).toBeGreaterThan(80)
  expect(tables.filter((table) => !filed.includes(`\`${table}\``))).toEqual([])
})

it('has the documents that comments cite', async () => {
  const known = [...pages, 'CHANGELOG.md', 'THIRD-PARTY.md'].map((page) => path.basename(page))
  const missing: string[] = []
  for (const file of sources) {
    const cited = matches(await read(file), /\b([A-Za-z0-9-]+\.md)\b/g)
    missing.push(...cited.filter((name) => !known.includes(name)).map((name) => `${file}: ${name}`))
  }
  expect(missing).toEqual([])
})

/** Returns the anchors that GitHub creates for a page's headings. */
function anchors(page: string): string[] {
  return matches(page, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
