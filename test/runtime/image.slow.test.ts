import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import lock from '../../package-lock.json' with { type: 'json' }
import { makeDataDir } from '../support/data-dir.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'

/** Sources copied by the image's last stage, without those from earlier stages. */
async function readCopied(): Promise<string[]> {
  const stages = (await readFile('Dockerfile', 'utf8')).split(/^FROM /m)
  return [...stages.at(-1)!.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) => files!.split(' '))
}

/** Lines of .dockerignore; a leading `!` re-includes a name. */
async function readIgnored(): Promise<(file: string) => boolean> {
  const lines = (await readFile('.dockerignore', 'utf8')).split('\n').filter(Boolean)
  const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  return (file) =>
    !kept.includes(file) &&
    lines.some((line) => file === line || file.startsWith(`${line}/`) || (line === '*.md' && /^[^/]+\.md$/.test(file)))
}

/** Creates a folder with the files of the image: copied sources, generated code, and packages for production. */
async function makeImage(): Promise<string> {
  const image = await makeDataDir()
  const [copied, isIgnored] = [await readCopied(), await readIgnored()]
  for (const file of copied)
    await cp(file, path.join(image, file), { recursive: true, filter: (source) => !isIgnored(path.normalize(source)) })
  await cp('src/generated', path.join(image, 'src/generated'), { recursive: true })
  for (const [name, entry] of Object.entries(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) || 'dev' in entry || 'devOptional' in entry) continue
    await mkdir(path.dirname(path.join(image, name)), { recursive: true })
    await symlink(path.resolve(name), path.join(image, name))
  }
  return image
}

it('runs the service with its whole documentation from the files that the Dockerfile copies', async () => {
  const cwd = await makeImage()
  const { url, db } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const settings = { DATABASE_URL: url, DATA_DIR: await makeDataDir() }
  const service = await startProcess(settings, ['-c', `cd '${cwd}' && exec sh src/start.sh`], '/bin/sh')
  const home = await (await fetch(`${service.url}/docs`)).text()
  const addresses = [...new Set([...home.matchAll(/href="(\/docs[^"#]*)"/g)].map(([, address]) => address!))]
  const answers = await Promise.all(addresses.map(async (address) => [address, (await fetch(service.url + address)).status]))
  expect(answers.filter(([, status]) => status !== 200)).toEqual([])
  expect(addresses).toEqual(expect.arrayContaining(['/docs/guides/quick-start', '/docs/changes', '/docs/v1/openapi.json']))
})
